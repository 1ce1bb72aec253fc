"""Graph breaks as findings: what happened, why, what to do, at the expression that did it.

It only words what `dynamo_breaks` hears. One finding per kind of break and place, however often Dynamo traces it; a
break that Dynamo itself blames on an earlier one is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from inductor_debug_schema import Finding, Severity, Stage
from torch._dynamo import graph_break_hints

from inductor_debug.capture.dynamo_breaks import RawBreak, RawLimit
from inductor_debug.capture.dynamo_positions import TracedStack
from inductor_debug.capture.failures import place
from inductor_debug.capture.spans import SourceMap
from inductor_debug.capture.target import BuiltTarget
from inductor_debug.rules.ops import Frame

_ANOTHER = "*** While handling this graph break, another graph break occurred: ***"
_FIELDS = re.compile(
    r"^(?P<kind>[^\n]+)\n(?:  Higher Order Operator: [^\n]*\n)?  Explanation: (?P<explanation>.*?)"
    r"(?P<hints>(?:\n  Hint: .*?)*)(?:\n\n  Developer debug context:(?P<context>[^\n]*)|\Z)",
    re.DOTALL | re.MULTILINE,
)
_HINT = re.compile(r"\n  Hint: (.*?)(?=\n  Hint: |\Z)", re.DOTALL)
_LINK = re.compile(r"please visit:? (https?://\S+)")
OBSERVED_EXCEPTION = "Graph break: Observed exception."
"""How the finding of a break begins that only says that the traced code raises."""
_CALLEE = re.compile(r"<function [^>]*>|module: \S+, qualname: [^\s,]+")
"""How Dynamo's context names the function whose call broke the graph."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_COMPUTED_AS = "The branch condition involves a tensor computed as follows"
_REPORT_IT = "Please report an issue to PyTorch."
_MOST_HINTS = 2
_WHOLE_FUNCTION = ("Skipping the function", "then skipping the rest of the function", "Skipping the frame")


def _texts(name: str) -> tuple[str, ...]:
    return tuple(text.strip() for text in getattr(graph_break_hints, name, ()))


_SEVERITIES: tuple[tuple[tuple[str, ...], Severity], ...] = (
    (_texts("USER_ERROR"), Severity.ERROR),
    (_texts("FUNDAMENTAL"), Severity.WARNING),
    (_texts("SUPPORTABLE"), Severity.INFORMATION),
    (_texts("DYNAMO_BUG"), Severity.INFORMATION),
)
_CAUSED_EARLIER = _texts("CAUSED_BY_EARLIER_GRAPH_BREAK")
_GENERIC_HINTS = frozenset(text for texts, _ in _SEVERITIES for text in texts) | frozenset(_CAUSED_EARLIER)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A graph break in words: `skipped` says that Dynamo gave up on the whole function and runs it eagerly.

    `callee` is the function that cannot be traced wherever it is called, "" where something else is to blame.
    """

    kind: str
    text: str
    hints: tuple[str, ...]
    link: str | None
    skipped: bool
    caused_earlier: bool
    callee: str = ""


@dataclass
class BreakCollector:
    """Collects the breaks of one stage of one target; `count` is how many places break.

    `given_up` are the functions, by file and bare name, of which a finding says that Dynamo gave them up.

    `stack` reads the visible Python frames from one outwards, as far as they belong to the target.
    """

    target: BuiltTarget
    sources: SourceMap
    stack: Callable[[Any], tuple[Frame, ...]]
    stage: Stage = Stage.MOCK
    findings: list[Finding] = field(default_factory=list)
    count: int = 0
    given_up: set[tuple[str, str]] = field(default_factory=set)
    _seen: set[tuple[object, ...]] = field(default_factory=set)

    def add(self, raw: RawBreak) -> None:
        """Takes one break in."""
        explanation = explain(raw)
        frames = self._with_callers(frames_of(raw.stack, self.sources), raw.caller)
        location, related = place(frames, self.target.location, "inside {}")
        key = (explanation.kind, location)
        if key in self._seen or (explanation.caused_earlier and self.count):
            return
        self._seen.add(key)
        self.count += 1
        if explanation.skipped and raw.stack:
            self.given_up.add((raw.stack[-1].filename, bare_name(raw.stack[-1].function)))
        severity = Severity.ERROR if self.target.fullgraph else _severity(explanation)
        self.findings.append(
            Finding(
                rule="graph-break",
                severity=severity,
                message=_message(explanation, raw.stack),
                path=location.path,
                range=location.range,
                stage=self.stage,
                target=self.target.name,
                related=related,
                link=explanation.link,
                cause=explanation.callee,
            )
        )

    def add_limit(self, raw: RawLimit) -> None:
        """Takes in that Dynamo gave up on a function it had to compile too often."""
        frames = self.stack(raw.caller)
        if len(frames) > 1 and frames[0].function == raw.function:
            # Its second half, after a graph break, is called from its first.
            frames = frames[1:]
        location, related = place(frames, self.target.location, "inside {}")
        key = ("recompile", location)
        if key in self._seen:
            return
        self._seen.add(key)
        self.given_up.add((location.path, bare_name(raw.function)))
        explanation = explain(RawBreak("", raw.message, ()))
        self.findings.append(
            Finding(
                rule="recompile",
                severity=Severity.WARNING,
                message=f"`{raw.function}` was recompiled too often and runs eagerly from here on. {explanation.text}",
                path=location.path,
                range=location.range,
                stage=self.stage,
                target=self.target.name,
                related=related,
                link=explanation.link,
            )
        )

    def _with_callers(self, traced: tuple[Frame, ...], caller: FrameType | None) -> tuple[Frame, ...]:
        callers = self.stack(caller)
        if traced and callers and callers[0].function == traced[-1].function:
            # The traced function is the second half of this one, after an earlier break.
            callers = callers[1:]
        return (*traced, *callers)


def frames_of(stack: TracedStack, sources: SourceMap) -> tuple[Frame, ...]:
    """The visible frames of a traced stack, innermost first."""
    found = [sources.frame_from_positions(frame.filename, frame.function, frame.positions) for frame in stack]
    return sources.intern([frame for frame in found if frame is not None])


def explain(raw: RawBreak) -> Explanation:
    """Takes Dynamo's message apart."""
    skipped = any(words in raw.message for words in _WHOLE_FUNCTION)
    first = raw.message.split(_ANOTHER, 1)[0].strip()
    match = _FIELDS.search(first)
    link = _LINK.search(first)
    if match is None:
        lines = [line.strip() for line in first.splitlines() if line.strip()]
        return Explanation(raw.kind, lines[-1] if lines else raw.kind, (), link and link[1], skipped, False)
    callee = _CALLEE.search(match["context"] or "")
    hints = tuple(_one_line(hint) for hint in _HINT.findall(match["hints"]))
    return Explanation(
        kind=match["kind"].strip(),
        text=_one_line(match["explanation"].split(_COMPUTED_AS, 1)[0]),
        hints=hints,
        link=link and link[1].rstrip("."),
        skipped=skipped,
        caused_earlier=any(hint in _CAUSED_EARLIER for hint in hints),
        callee=_ADDRESS.sub("", callee[0]) if callee is not None else "",
    )


def _severity(explanation: Explanation) -> Severity:
    for texts, severity in _SEVERITIES:
        if any(hint in texts for hint in explanation.hints):
            return severity
    return Severity.WARNING


def _message(explanation: Explanation, stack: TracedStack) -> str:
    parts = [f"Graph break: {explanation.kind.rstrip('.')}.", _sentence(explanation.text)]
    hints = [_sentence(hint) for hint in explanation.hints if hint not in _GENERIC_HINTS and hint != _REPORT_IT]
    parts += hints[:_MOST_HINTS]
    if explanation.skipped:
        # Dynamo gives up on the function that it was asked to compile, not on those that it inlined.
        name = f"`{stack[-1].function}`" if stack else "The function"
        parts.append(f"{name} cannot be resumed after it, so it runs eagerly.")
    return " ".join(part for part in parts if part)


def bare_name(function: str) -> str:
    """`forward` for `Model.forward`: Dynamo knows functions by their bare names."""
    return function.rpartition(".")[2]


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text.endswith((".", "!", "?", "`")) else text + "."


def _one_line(text: str) -> str:
    return _ADDRESS.sub("", " ".join(text.split()))
