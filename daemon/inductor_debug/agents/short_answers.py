"""What the tools answer: plain data with a limit. What an answer has no room for is counted, never silently gone."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from inductor_debug.report.cells import shortened
from inductor_debug.report.formats.brief import BriefFinding

MOST_CHARACTERS = 16_000
"""Characters of an answer as JSON."""
_LONGEST_TEXT = 4_000


@dataclass(frozen=True)
class ShortCheck:
    """What a check found; `unchecked` says what nobody knows about, and why. Read it before "no findings"."""

    summary: str
    findings: list[BriefFinding]
    unchecked: list[str]
    accelerator: str
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelRow:
    """A target: how it ended, how much of it was checked, findings by rule, and what it needs at least."""

    name: str
    status: str
    checked: str
    findings: dict[str, int]
    graph_breaks: int
    recompilations: int
    parameters: int | None
    peak_bytes: int | None
    why: str


@dataclass(frozen=True)
class RuleTotal:
    """A rule with its findings, and the targets that have any."""

    rule: str
    findings: int
    targets: int


@dataclass(frozen=True)
class ShortSurvey:
    """Many models in one table. `unchecked` is not known to be good; `not_run` counts files beyond the limit.

    The rows with most to mend come first; `text` is the address of the whole table.
    """

    summary: str
    rows: list[ModelRow]
    rules: list[RuleTotal]
    unchecked: list[str]
    not_run: int
    text: str
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class OperatorCount:
    """An operator, and how often it was captured."""

    operator: str
    count: int


@dataclass(frozen=True)
class ShortGraph:
    """What `torch.compile` captured of a target; `text` is the address of the resource with all nodes."""

    target: str
    graphs: int
    graph_breaks: list[str]
    recompilations: list[str]
    eager: list[str]
    operators: list[OperatorCount]
    flops: int
    peak_bytes: int
    text: str
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ShortRule:
    """A rule's page: what it means, why, an example, how to fix and how to silence it."""

    rule: str
    page: str
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class DiffRow:
    """An output or gradient: its verdict, and its error as a multiple of the error to expect."""

    name: str
    verdict: str
    times_expected: str
    max_abs: float | None
    why: str


@dataclass(frozen=True)
class ShortDiff:
    """Whether a backend computes what the model means: `pass`, `suspicious`, `wrong` or `failed`; and the blame."""

    target: str
    backend: str
    reference: str
    verdict: str
    why: str
    results: list[DiffRow]
    blame: list[str]
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ShortBisect:
    """Which layer of the compiler goes wrong first, the rungs that were climbed, and what is to blame."""

    target: str
    verdict: str
    ladder: list[str]
    guilty: str
    commands: list[str]
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ShortRepro:
    """The smallest script that shows a failure, `verified` where it ran in a clean process. `text` is its address."""

    verified: bool
    why: str
    script: str
    text: str
    left_out: dict[str, int] = field(default_factory=dict)


Answer = TypeVar("Answer", ShortCheck, ShortSurvey, ShortGraph, ShortRule, ShortDiff, ShortBisect, ShortRepro)


def fitted(answer: Answer, most: int = MOST_CHARACTERS) -> Answer:
    """The answer without what it has no room for: the ends of its longest lists, and of long texts."""
    left_out = dict(answer.left_out)
    texts = {name: value for name, value in vars(answer).items() if isinstance(value, str)}
    less: dict[str, Any] = {name: shortened(value, _LONGEST_TEXT) for name, value in texts.items()}
    left_out.update({name: len(text) - _LONGEST_TEXT for name, text in texts.items() if len(text) > _LONGEST_TEXT})
    answer = replace(answer, **less)
    while _size(asdict(answer)) > most:
        lists: dict[str, list[Any]] = {name: value for name, value in vars(answer).items() if isinstance(value, list)}
        longest = max(lists, key=lambda name: _size([*map(_plain, lists[name])]), default="")
        if not lists.get(longest):
            break
        kept = lists[longest][: len(lists[longest]) // 2]
        left_out[longest] = left_out.get(longest, 0) + len(lists[longest]) - len(kept)
        less = {longest: kept}
        answer = replace(answer, **less)
    return replace(answer, left_out=left_out)


def _size(value: Any) -> int:
    return len(json.dumps(value))


def _plain(value: Any) -> Any:
    return vars(value) if hasattr(value, "__dict__") else value
