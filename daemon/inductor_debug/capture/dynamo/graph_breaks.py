"""Graph breaks as findings: one for each kind of break and place, however often Dynamo traces it.

What happened are facts (`breaks`), their words are a rule's (`rules.words.break_words`); a break that Dynamo itself
blames on an earlier one is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from inductor_debug_schema import (
    BreakCause,
    Finding,
    GraphBreak,
    Location,
    Recompilation,
    Related,
    Severity,
    SizeCondition,
    Stage,
)

from inductor_debug.capture.dynamo.breaks.break_facts import as_told_at, facts_of
from inductor_debug.capture.dynamo.breaks.module_hooks import backward_hooks, breaks_around_a_call, is_scripted
from inductor_debug.capture.dynamo.breaks.size_branches import Branch, branches_of, is_called_from, is_in
from inductor_debug.capture.dynamo.breaks.torch_kinds import RECOMPILE_LIMIT
from inductor_debug.capture.dynamo.dynamo_breaks import RawBreak, RawLimit
from inductor_debug.capture.dynamo.dynamo_positions import TracedStack
from inductor_debug.capture.expressions.spans import SourceMap, name_of
from inductor_debug.capture.failures.failures import place
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime import foreign
from inductor_debug.rules.recording.ops import Frame
from inductor_debug.rules.words.break_kinds import page_of
from inductor_debug.rules.words.break_words import sentence_of

_OF_THE_FUNCTION = frozenset(
    {
        BreakCause.CLOCK,
        BreakCause.COMPILED_CODE,
        BreakCause.DISABLED,
        BreakCause.FILE,
        BreakCause.INSPECTION,
        BreakCause.RANDOM,
        BreakCause.SKIPPED,
    }
)
"""Causes that lie in the function alone: wherever it is called is one thing to learn."""
_FOR_ITSELF = frozenset(
    {BreakCause.PRINT, BreakCause.LOGGING, BreakCause.WARNING, BreakCause.DEBUGGER, BreakCause.VALUE}
)
"""Causes that an edit at the place mends, which what is told with another one would lose."""
_SAYING_LITTLE = frozenset({BreakCause.CONTROL_FLOW, BreakCause.OTHER})
"""Causes that are told by torch's name for the kind."""
_HOOKS = "torch.utils.hooks."
"""Where torch registers hooks."""
_COMPREHENSIONS = ("<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>")
"""What Python 3.11 and before call the functions that they make of expressions."""


@dataclass
class BreakCollector:
    """Collects the breaks of one stage of one target; `count` is how many places break.

    `given_up` are the functions, by file and bare name, of which a finding says that Dynamo gave them up, `_broken`
    those in which a graph broke, with the first finding that says so. What was called from `_called_from` broke: a
    break of that expression itself is about what became of the call. `_limited` are the files and lines of functions
    that were compiled too often, with the finding: whatever they call is compiled no more either.

    `stack` reads the visible Python frames from one outwards, as far as they belong to the target.
    """

    target: BuiltTarget
    sources: SourceMap
    stack: Callable[[Any], tuple[Frame, ...]]
    stage: Stage = Stage.MOCK
    findings: list[Finding] = field(default_factory=list)
    count: int = 0
    given_up: set[tuple[str, str]] = field(default_factory=set)
    _seen: dict[tuple[object, ...], int] = field(default_factory=dict)
    _broken: dict[tuple[str, str], int] = field(default_factory=dict)
    _called_from: set[Location] = field(default_factory=set)
    _limited: list[tuple[str, range, int]] = field(default_factory=list)
    _branches: list[Branch] = field(default_factory=list)

    def add(self, raw: RawBreak, *, toggled: bool = False) -> int | None:
        """Takes one break in; the number of the finding that tells of it, None where none does.

        Args:
            raw: the break.
            toggled: the code around it takes none, and it ended the run.
        """
        traced = frames_of(raw.stack, self.sources)
        callers = self.stack(raw.caller)
        # The rest of a function, after an earlier break, is called from its beginning.
        frames = (*traced, *(callers[1:] if raw.resumed else callers))
        eager = _function((*reversed(traced), *callers), raw) if raw.gives_up else ""
        around_a_call = breaks_around_a_call(raw.stack, raw.modules)
        scripted = around_a_call and is_scripted(self.target.module)
        facts, broken = facts_of(
            raw.words, raw.callee, raw.stack, self.sources, modules=raw.modules, eager=eager, scripted=scripted
        )
        location, related = place(frames, self.target.location, "inside {}")
        refused = self.target.fullgraph or toggled
        facts = replace(
            facts, refused=refused, toggled=toggled, only_where=self._only_where(raw, frames[len(traced) :])
        )
        if facts.breaks_by is BreakCause.RECURRENT:
            facts = replace(facts, expression=self._as_called(facts.expression))
        if broken is not None and not facts.inside:
            location = broken
        site = self._construction_site(raw, frames, len(traced))
        if site is not None:
            location, related = place(frames[site:], self.target.location, "inside {}")
            facts, location = as_told_at(facts, BreakCause.MODULE, location, self.sources)
        elif facts.inside.startswith(_HOOKS):
            facts, location = as_told_at(facts, BreakCause.HOOK, location, self.sources)
        if facts.breaks_by is BreakCause.HOOK and around_a_call and (hook := self._only_hook()):
            related = [Related(location.path, location.range, "the graph breaks here"), *related]
            name, location = hook
            facts = replace(facts, expression="", inside="", function=name)
        # Torch may stop several times on its way through one expression, by several names for one reason.
        unnamed = facts.breaks_by in _SAYING_LITTLE
        key = (facts.breaks_by, facts.torch_kind if unnamed else "", location)
        if raw.gives_up and raw.stack:
            self._give_up(raw, location, eager, frames)
        known = self._seen.get(key)
        if known is None and facts.breaks_by is BreakCause.CONTEXT_MANAGER:
            known = next(
                self._told_at(location), None
            )  # what a call gives that broke the graph is then entered: `with open(…)`
        called_from = any(self.sources.may_be_one(location, call) for call in self._called_from)
        consequence = (raw.words.caused_earlier and self.count) or called_from
        self._called_from.update(frame.location for frame in frames[1:])
        if known is None and consequence:
            return len(self.findings) - 1 if self.findings else None
        if known is None:
            cause = _cause(facts, frames, asserted=self._is_asserted(location))
            finding = self._finding(facts, raw, location, related, cause)
            known = self._seen[key] = len(self.findings)
            self.count += 1
            self.findings.append(finding)
        else:
            self.findings[known] = _met_again(self.findings[known], facts)
        for frame in traced or frames[:1]:
            # What is traced in one go breaks in one go: also who called what breaks.
            if self.sources.in_project(frame.location.path):
                self._broken.setdefault((frame.location.path, bare_name(frame.function)), known)
        return known

    def _only_where(self, raw: RawBreak, callers: tuple[Frame, ...]) -> SizeCondition | None:
        """The condition on sizes of ours without which the break would not be met; None where there is none.

        Args:
            raw: the break.
            callers: what called the function that is compiled, from Python.
        """
        found = list(branches_of(raw.stack, raw.asked, self.sources))
        if raw.resumed and not found:
            found = [branch for branch in self._branches if is_in(branch, raw.stack)]
        found = found or [branch for branch in self._branches if is_called_from(branch, callers)]
        self._branches += found
        return found[0][2] if found else None

    def _told_at(self, location: Location) -> Iterator[int]:
        """The findings of breaks that are about an expression, by number."""
        for at, found in enumerate(self.findings):
            if found.rule == "graph-break" and self.sources.may_be_one(Location(found.path, found.range), location):
                yield at

    def _finding(
        self, facts: GraphBreak, raw: RawBreak, location: Location, related: list[Related], cause: str
    ) -> Finding:
        return Finding(
            rule="graph-break",
            severity=Severity.ERROR if facts.refused else _severity(facts, raw),
            message=sentence_of(facts),
            path=location.path,
            range=location.range,
            stage=self.stage,
            target=self.target.name,
            related=related,
            link=page_of(facts.registry_id),
            facts=facts,
            cause=cause,
        )

    def _construction_site(self, raw: RawBreak, frames: tuple[Frame, ...], traced: int) -> int | None:
        """Which frame builds the module in whose constructor a graph breaks; None where it does not break in one.

        The first `traced` frames are those of the traced stack.
        """
        below = [at for at, frame in enumerate(raw.stack) if frame.function in raw.constructors]
        above = [at for at in range(traced, len(frames)) if frames[at].function in raw.constructors]
        if not (below or above):
            return None
        site = above[-1] + 1 if above else len(frames_of(raw.stack[: below[-1] + 1], self.sources))
        return site if site < len(frames) and self.sources.in_project(frames[site].location.path) else None

    def _only_hook(self) -> tuple[str, Location] | None:
        """The one backward hook of the project's that the model has, and where it is; None where there are others."""
        codes = [code for code in backward_hooks(self.target.module) if self.sources.in_project(code.co_filename)]
        if len(codes) != 1:
            return None
        [code] = codes
        text = self.sources.text(code.co_filename)
        for number, line in enumerate(text.lines if text is not None else [], 1):
            named = re.search(rf"\bdef ({code.co_name})\b", line) if number >= code.co_firstlineno else None
            if named is not None:
                start, end = (len(line[:at].encode()) for at in named.span(1))
                return name_of(code), self.sources.location(code.co_filename, number, number, start, end)
        return name_of(code), self.sources.location(code.co_filename, code.co_firstlineno)

    def _is_asserted(self, location: Location) -> bool:
        """Whether an expression stands in an `assert`."""
        text = self.sources.text(location.path)
        lines = text.lines if text is not None else []
        line = location.range.start.line
        return line < len(lines) and lines[line].lstrip().startswith("assert ")

    def explains(self, function: str, place: Location, called_from: Sequence[Location] = ()) -> bool:
        """Whether a function is known to run eagerly for a break; one that breaks in or around it says so from now on.

        Args:
            function: its name.
            place: the first operation of it that is in no graph.
            called_from: the calls that led there.
        """
        key = (place.path, bare_name(function))
        around, _, comprehension = function.rpartition(".<locals>.")
        index = self._broken.get((place.path, bare_name(around)) if comprehension in _COMPREHENSIONS else key)
        if key not in self.given_up and index is None:
            told = (at for call in called_from for at in (*self._told_at(call), *self._limited_around(call)))
            index = next(told, None)
        if key not in self.given_up and index is not None:
            words = Related(place.path, place.range, f"for the same reason `{function}` runs eagerly")
            found = self.findings[index]
            self.findings[index] = replace(found, related=[*found.related, words])
        return key in self.given_up or index is not None

    def _give_up(self, raw: RawBreak, location: Location, function: str, frames: tuple[Frame, ...]) -> None:
        """Takes in that a function is not compiled for a break, which another function may have told of before."""
        called = next((frame.location for frame in frames if frame.function == function), None)
        if called is not None and not _is_within(location, called):
            words = Related(called.path, called.range, f"for the same reason `{function}` runs eagerly")
            for index in self._told_at(location):
                found = self.findings[index]
                told = isinstance(found.facts, GraphBreak) and found.facts.eager == function
                if not told and words not in found.related:
                    self.findings[index] = replace(found, related=[*found.related, words])
        self.given_up.add((raw.stack[-1].filename, bare_name(raw.stack[-1].function)))

    def _as_called(self, expression: str) -> str:
        """What is called with recurrent layers in it, with its parentheses where it is none: `self.parameters()`."""
        name = expression.rpartition(".")[2]
        parts = foreign.parts_of(self.target.module) if self.target.module is not None else ()
        is_method = expression != name and name.isidentifier() and all(name not in part._modules for part in parts)
        return f"{expression}()" if is_method else expression

    def _limited_around(self, call: Location) -> Iterator[int]:
        """The findings that tell of a function, around a call, that was compiled too often."""
        line = call.range.start.line + 1
        return (index for path, lines, index in self._limited if path == call.path and line in lines)

    def add_limit(self, raw: RawLimit, *, in_one_call: bool) -> int:
        """Takes in that Dynamo gave up on a function it had to compile too often; the number of the finding.

        Args:
            raw: the function.
            in_one_call: the first call of the target goes on.
        """
        frames = self.stack(raw.caller)
        if len(frames) > 1 and raw.resumed:
            # The rest of a function, after a graph break, is called from its beginning.
            frames = frames[1:]
        location, related = place(frames, self.target.location, "inside {}")
        key = ("recompile", location)
        if key in self._seen:
            return self._seen[key]
        self._seen[key] = len(self.findings)
        self.given_up.add((raw.path or location.path, bare_name(raw.function)))
        self._limited.append((raw.path, raw.lines, len(self.findings)))
        self.findings.append(
            Finding(
                rule="recompile",
                severity=Severity.WARNING,
                message=(
                    f"`{raw.function}` was recompiled too often, so torch.compile gives up on it and it runs eagerly "
                    "from here on."
                ),
                path=location.path,
                range=location.range,
                stage=self.stage,
                target=self.target.name,
                related=related,
                link=page_of(RECOMPILE_LIMIT),
                facts=Recompilation(raw.function, given_up=True, in_one_call=in_one_call),
            )
        )
        return self._seen[key]


def _is_within(place: Location, outer: Location) -> bool:
    """Whether an expression is part of a larger one: of the `with` that enters what it gives."""
    return place != outer and place.path == outer.path and outer.range.encloses(place.range)


def _cause(facts: GraphBreak, frames: tuple[Frame, ...], *, asserted: bool) -> str:
    """What other breaks of the file have in common with this one that are told with it; empty where it stands alone.

    Most are one thing to mend where they follow each other in one function: three tensors under one mask.
    """
    names = (bare_name(frame.function) for frame in frames)
    function = next((name for name in names if name not in _COMPREHENSIONS), "")
    cause, within = facts.breaks_by, f" in {function}" if function else ""
    if cause is BreakCause.RECURRENT:
        return str(cause.value)
    if cause is BreakCause.HOOK:
        return str(BreakCause.HOOK.value)  # what has got a hook while it ran breaks next
    if cause is BreakCause.BRANCH and frames:
        # The parts of one condition: `if a.min() < 0 or b.max() > 1`.
        return f"assert{within}" if asserted else f"branch in line {frames[0].location.range.start.line + 1}"
    if cause is BreakCause.COMPILED_CODE and facts.function.startswith("math."):
        return "math"  # which of its functions does not matter
    if cause in _OF_THE_FUNCTION and facts.function:
        return facts.function
    if facts.inside and not facts.inside.startswith(_HOOKS) and cause is not BreakCause.BRANCH:
        # The same in a library, whichever of the file's functions calls it.
        return f"{cause.value} {facts.registry_id} inside {facts.inside}"
    if cause in _FOR_ITSELF or cause is BreakCause.BRANCH or not within:
        return ""
    if cause in (BreakCause.NUMPY, BreakCause.MODULE, BreakCause.SIZE):
        return f"{cause.value}{within}"  # by which call does not matter
    return f"{cause.value} {facts.registry_id} {facts.function or facts.inside}{within}"


def _met_again(finding: Finding, again: GraphBreak) -> Finding:
    """The finding of a break at whose place torch gave the function up, or came for other reasons than a size."""
    told = finding.facts
    if not isinstance(told, GraphBreak):
        return finding
    only_where = told.only_where if again.only_where is not None else None
    facts = replace(told, eager=told.eager or again.eager, only_where=only_where)
    severity = finding.severity
    if told.only_where is not None and only_where is None:
        severity = Severity.WARNING
    return replace(finding, facts=facts, severity=severity, message=sentence_of(facts)) if facts != told else finding


def _severity(facts: GraphBreak, raw: RawBreak) -> Severity:
    """How bad torch says a break is; what other sizes than ours may not meet is none to warn of.

    Where the code raises only for being traced, it runs all the same.

    Where it raises when it runs, too, that is told in place of the break.
    """
    if facts.only_where is not None:
        return Severity.INFORMATION
    return Severity.WARNING if facts.breaks_by is BreakCause.EXCEPTION else raw.words.severity


def _function(frames: tuple[Frame, ...], raw: RawBreak) -> str:
    """The function that was to be compiled, as the user calls it: by the first of the frames that has its name.

    The rest of a function, after a break, is known by its bare name; its beginning by its class's, too.
    """
    if not raw.stack:
        return ""
    name = raw.stack[-1].function
    alike = [frame.function for frame in frames if bare_name(frame.function) == bare_name(name)]
    return next((found for found in alike if "." in found), next(iter(alike), name))


def frames_of(stack: TracedStack, sources: SourceMap) -> tuple[Frame, ...]:
    """The visible frames of a traced stack, innermost first."""
    found = [sources.frame_from_positions(frame.filename, frame.function, frame.positions) for frame in stack]
    return sources.intern([frame for frame in found if frame is not None])


def bare_name(function: str) -> str:
    """`forward` for `Model.forward`: Dynamo knows functions by their bare names."""
    return function.rpartition(".")[2]
