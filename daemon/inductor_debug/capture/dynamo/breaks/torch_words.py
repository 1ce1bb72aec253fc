"""What torch says of a graph break, for people to read, and what its own kinds of hints mean.

Nothing is decided by these words but how severe a break is, which torch says by hints that are constants of its own
(`torch._dynamo.graph_break_hints`, torch 2.11 to 2.13).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from inductor_debug_schema import Severity
from torch._dynamo import graph_break_hints

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_TENSOR_HISTORY = "The branch condition involves a tensor computed as follows"
_ISSUE_LINK = re.compile(r"https?://github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)")
_BARE_ISSUE = re.compile(r"(?<![\w/#])#(\d{3,})\b")


@dataclass(frozen=True, slots=True)
class TorchWords:
    """A graph break as torch words it: its name in the registry, an explanation, and hints, each in one line."""

    kind: str
    explanation: str = ""
    hints: tuple[str, ...] = ()
    severity: Severity = Severity.WARNING
    caused_earlier: bool = False


def torch_words(kind: str, explanation: str, hints: list[str]) -> TorchWords:
    """Cleans what torch says up: one line each, without addresses in memory, with whole names of issues.

    Hints that torch gives to hundreds of kinds alike become the severity.
    """
    given = [hint.strip() for hint in hints]
    severity = next((level for texts, level in _SEVERITIES if any(hint in texts for hint in given)), Severity.WARNING)
    return TorchWords(
        kind=kind,
        explanation=_one_line(explanation.split(_TENSOR_HISTORY, 1)[0]),
        hints=tuple(_one_line(hint) for hint in given if hint not in _GENERAL),
        severity=severity,
        caused_earlier=any(hint in _CAUSED_EARLIER for hint in given),
    )


def _texts(name: str) -> tuple[str, ...]:
    return tuple(text.strip() for text in getattr(graph_break_hints, name, ()))


_SEVERITIES: tuple[tuple[tuple[str, ...], Severity], ...] = (
    (_texts("USER_ERROR"), Severity.WARNING),  # that the code may raise: where it does, that is told in place of it
    (_texts("FUNDAMENTAL"), Severity.WARNING),
    (_texts("SUPPORTABLE"), Severity.INFORMATION),
    (_texts("DYNAMO_BUG"), Severity.INFORMATION),
)
_CAUSED_EARLIER = _texts("CAUSED_BY_EARLIER_GRAPH_BREAK")
_GENERAL = frozenset([text for texts, _ in _SEVERITIES for text in texts] + [*_CAUSED_EARLIER, *_texts("DIFFICULT")])


def _one_line(text: str) -> str:
    """The text in one line; issues as `owner/repository#number`, which torch's own are where it names none."""
    line = _ISSUE_LINK.sub(r"\1#\2", _ADDRESS.sub("", " ".join(text.split())))
    return _BARE_ISSUE.sub(r"pytorch/pytorch#\1", line)
