"""Which operations of a run each compiled graph had, and which graph breaks keep graphs that follow one another apart.

A break in a function that others call keeps these from being one graph as well: Dynamo compiles what comes before the
call, then the function, part by part, then what comes after it. So a border is told by the functions that are running
on its two sides: within one function it is the break that ended the graph; where a function was entered or left, all
breaks in that. Breaks that keep a function from being compiled at all keep apart whatever it calls. Where this is not
certain more breaks are named, not fewer: a border is taken to go only when all of them do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from inductor_debug_schema import Finding, Location
from torch.fx import GraphModule

from inductor_debug.capture.expressions.instruction_expressions import RESUMED
from inductor_debug.rules.recording.ops import Op, PartBorder

Function = tuple[str, str, int]
"""A function by its file, name and first line, which all that Dynamo makes of its code keeps."""
NO_FUNCTION: Function = ("", "", 0)


def running(frame: FrameType | None, outermost: CodeType | None = None) -> list[Function]:
    """The functions that run, the innermost first, up to the code that all of the user's is called from.

    The rest of a function after a graph break is called by its beginning, and no function of its own.
    """
    found: list[Function] = []
    while frame is not None and frame.f_code is not outermost:
        code = frame.f_code
        if RESUMED.match(code.co_name) is None:
            found.append((code.co_filename, code.co_name, code.co_firstlineno))
        frame = frame.f_back
    return found


def function_of(code: CodeType, frame: FrameType | None) -> Function:
    """The function that code is, or is the rest of: one of those that run where `frame` does."""
    rest = RESUMED.match(code.co_name)
    if rest is None:
        return code.co_filename, code.co_name, code.co_firstlineno
    same = (code.co_filename, rest["name"] or "")
    return next((function for function in running(frame) if function[:2] == same), NO_FUNCTION)


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A graph: the function that it is of, and the numbers of the breaks that ended it."""

    function: Function
    ended_by: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Entered:
    """A call of a graph: the functions that are running, the outermost first, and the number of ops before it."""

    compiled: _Compiled
    running: tuple[Function, ...]
    begin: int


@dataclass
class GraphBorders:
    """Watches one run. Breaks are known by the numbers of the findings that tell of them.

    `ops` are those of the recording that grows meanwhile, `nodes` has for each the node of the graph that ran it, None
    for ops that ran by themselves. `outermost` is the code that all user code is called from.
    """

    ops: Sequence[Op]
    nodes: Sequence[Any]
    outermost: CodeType
    _breaks: dict[Function, set[int]] = field(default_factory=dict)
    _given_up: set[Function] = field(default_factory=set)
    _ending: tuple[int, int | None] = (0, None)
    """The number of a compilation, and of the break that was met in it last."""
    _graphs: dict[int, _Compiled] = field(default_factory=dict)
    _calls: list[_Entered] = field(default_factory=list)
    _first_calls: dict[int, int] = field(default_factory=dict)
    _stretches: list[tuple[int, int]] = field(default_factory=list)
    """Where ops of a call begin, and its number."""
    _forward: int | None = None
    """How many ops there were when backward passes began."""

    def breaks(self, function: Function, finding: int | None, compilation: int, *, gives_up: bool) -> None:
        """The function that is compiled breaks, as a finding tells; `gives_up` says that it will run as it is."""
        if finding is not None:
            self._breaks.setdefault(function, set()).add(finding)
            self._ending = compilation, finding
        if gives_up:
            self._given_up.add(function)

    def compiled(self, graph_module: GraphModule, function: Function, compilation: int) -> None:
        """A graph of the function that is compiled is whole."""
        met, finding = self._ending
        ended_by = frozenset({finding}) if met == compilation and finding is not None else frozenset()
        self._graphs[id(graph_module)] = _Compiled(function, ended_by)

    def enter(self, graph_module: GraphModule, frame: FrameType | None) -> None:
        """The graph is called, from the function that `frame` is of or stands under."""
        compiled = self._graphs[id(graph_module)]
        self._first_calls.setdefault(id(graph_module), len(self._calls))
        self._stretches.append((len(self.ops), len(self._calls)))
        self._calls.append(_Entered(compiled, self._running(frame, compiled.function), len(self.ops)))

    def enter_backward(self, graph_module: GraphModule) -> None:
        """What comes now is the backward pass of a graph."""
        if self._forward is None:
            self._forward = len(self.ops)
        if id(graph_module) in self._first_calls:
            self._stretches.append((len(self.ops), self._first_calls[id(graph_module)]))

    def _running(self, frame: FrameType | None, function: Function) -> tuple[Function, ...]:
        found = running(frame, self.outermost)
        inner = found.index(function) if function in found else 0
        return tuple(reversed(found[inner:]))

    def parts(self, findings: Sequence[Finding]) -> tuple[tuple[int, ...], tuple[PartBorder, ...]]:
        """The part of the run that each op is in, and what lies between the parts; nothing where one graph has all.

        Args:
            findings: those that the numbers of breaks are about.
        """
        numbers = self._numbers()
        if len(set(numbers)) < 2 or not self._calls:
            return (), ()
        places = [_place(finding) for finding in findings]
        forward = numbers[: self._forward]
        borders: dict[tuple[int, int], PartBorder] = {}
        for index in range(1, len(forward)):
            pair = forward[index - 1], forward[index]
            if pair[0] != pair[1] and pair not in borders:
                causes = [places[number] for number in self._causes(index)]
                known = frozenset(place for place in causes if place is not None)
                # What is about no place cannot be taken away there.
                borders[pair] = PartBorder(*pair, known if len(known) == len(set(causes)) else frozenset())
        return tuple(numbers), tuple(borders.values())

    def _numbers(self) -> list[int]:
        """The part of each op: its call of a graph, or one of its own."""
        found: list[int] = []
        stretches = iter([*self._stretches, (len(self.nodes), -1)])
        call, following = -1, next(stretches)
        for index, node in enumerate(self.nodes):
            while following[0] <= index:
                call, following = following[1], next(stretches)
            found.append(call if node is not None and call >= 0 else len(self._calls) + index)
        return found

    def _causes(self, index: int) -> Iterable[int]:
        """The breaks that keep the op number `index` of the forward pass apart from the one before it."""
        before = next((call for call in reversed(self._calls) if call.begin < index), None)
        after = next((call for call in self._calls if call.begin >= index), None)
        if before is None or after is None:
            alone = before or after
            return self._of(alone.running if alone is not None else (), self._given_up)
        return self._between(before, after)

    def _between(self, before: _Entered, after: _Entered) -> set[int]:
        one, other = before.running, after.running
        common = next(
            (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
            min(len(one), len(other)),
        )
        goes_on = common == len(one) and bool(before.compiled.ended_by)
        if common == len(one) and not goes_on:
            common -= 1  # the function has come to its end, and is called again
        found = self._of((*one[common:], *other[common:]))
        if goes_on:
            return found | before.compiled.ended_by
        owner = [function for function in one[:common] if function in self._breaks][-1:]
        return found | self._of(owner) if not found else found | self._of(owner, self._given_up)

    def _of(self, functions: Iterable[Function], among: set[Function] | None = None) -> set[int]:
        wanted = (function for function in functions if among is None or function in among)
        return {number for function in wanted for number in self._breaks.get(function, ())}


def _place(finding: Finding) -> Location | None:
    return Location(finding.path, finding.range) if finding.rule == "graph-break" else None
