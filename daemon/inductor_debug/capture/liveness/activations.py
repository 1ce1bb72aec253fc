"""Cuts a recording into calls of the user's functions and runs of their statements.

Calls of modules are known from the recording. Where functions loop without calling any, the order of the ops and the
source have to tell one run of a statement from the next, as they do for expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from inductor_debug.capture.liveness.code import Function, FunctionCode, Statement
from inductor_debug.rules.expressions.expression_runs import MOST_FRAMES, period
from inductor_debug.rules.recording.ops import Frame, ModuleCall, Recording

_COMPREHENSIONS = (".<listcomp>", ".<setcomp>", ".<dictcomp>", ".<genexpr>")
"""Functions of their own for Python up to 3.11, and part of the function around them for people."""


@dataclass(slots=True)
class FunctionRun:
    """One call of a function: ops number `first` up to but not including `last`.

    `caller` is the index of the run that made it, -1 for none; `frame` stands for it in a caller's place. `module` is
    the call of the module that it runs in, and `own` says that it is that module's `forward`.
    """

    caller: int
    depth: int
    frame: Frame
    function: Function | None
    module: ModuleCall | None
    own: bool
    first: int
    last: int


@dataclass(slots=True)
class StatementRun:
    """One run of a statement of the call of that index; `calls` are those that it made."""

    call: int
    statement: Statement | None
    frame: Frame
    first: int
    last: int
    calls: list[int] = field(default_factory=list)


class Activations:
    """The calls and runs of a recording, in the order in which they began.

    Args:
        recording: what ran.
        code_of: what stands in the file at a path.
    """

    def __init__(self, recording: Recording, code_of: Callable[[str], FunctionCode | None]) -> None:
        self.calls: list[FunctionRun] = []
        self.runs: list[StatementRun] = []
        self.code_of = code_of
        self._stacks: dict[int, tuple[Frame, ...]] = {}
        self.paths = [self._outside_in(op.frames) for op in recording.ops]
        self._overloads = [op.overload for op in recording.ops]
        self._chains = self._module_calls(recording)
        self._segment(0, len(self.paths), 0, -1)

    def _outside_in(self, frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
        """The project's frames of a stack, outermost first. Stacks are interned, so each is looked at once."""
        known = self._stacks.get(id(frames))
        if known is None:
            path: list[Frame] = []
            for frame in reversed([frame for frame in frames if frame.in_project]):
                if frame.function.endswith(_COMPREHENSIONS) and path:
                    path.pop()
                path.append(frame)
            known = self._stacks[id(frames)] = tuple(path[:MOST_FRAMES])
        return known

    def _module_calls(self, recording: Recording) -> list[tuple[tuple[int, ModuleCall], ...]]:
        """The calls of modules around each op, outermost first, each with how many project frames are outside of it."""
        chains: list[tuple[tuple[int, ModuleCall], ...]] = []
        pending = list(reversed(recording.calls))
        chain: tuple[tuple[int, ModuleCall], ...] = ()
        for index in range(len(recording.ops)):
            while chain and chain[-1][1].last <= index:
                chain = chain[:-1]
            while pending and pending[-1].first <= index:
                call = pending.pop()
                if call.last > index:
                    chain = (*chain, (len(self._outside_in(call.outside)), call))
            chains.append(chain)
        return chains

    def _segment(self, first: int, last: int, depth: int, caller: int) -> list[int]:
        """The calls of functions at `depth` in a range of ops; neighbouring ops in one function are one call."""
        made: list[int] = []
        for start, end in self._stretches(first, last, lambda op: self._function_at(op, depth)):
            if self._function_at(start, depth) is not None:
                made.append(self._call(start, end, depth, caller))
        return made

    def _function_at(self, op: int, depth: int) -> tuple[object, ...] | None:
        """What tells the function calls at a depth apart; None for ops that ran in none."""
        path = self.paths[op]
        if len(path) <= depth:
            return None
        frame = path[depth]
        return frame.location.path, _own_name(frame.function), id(self._module_around(op, depth))

    def _module_around(self, op: int, depth: int) -> ModuleCall | None:
        """The innermost call of a module around the function at a depth."""
        around = [call for outside, call in self._chains[op] if outside <= depth]
        return around[-1] if around else None

    def _module_called(self, op: int, depth: int) -> ModuleCall | None:
        """The outermost call of a module that the function at a depth made itself."""
        return next((call for outside, call in self._chains[op] if outside == depth + 1), None)

    def _call(self, first: int, last: int, depth: int, caller: int) -> int:
        frame = self.paths[first][depth]
        code = self.code_of(frame.location.path)
        module = self._module_around(first, depth)
        own = module is not None and len(self._outside_in(module.outside)) == depth
        name = _own_name(frame.function).rpartition(".")[2]
        function = None if code is None else code.function(frame.location.range.start.line)
        self.calls.append(FunctionRun(caller, depth, frame, function, module, own and name == "forward", first, last))
        number = len(self.calls) - 1
        for start, end in self._stretches(first, last, lambda op: self._statement_key(op, depth)):
            line = self.paths[start][depth].location.range.start.line
            statement = None if code is None else code.statement(line)
            looped = code is not None and statement is not None and code.flow.loops_around(code.range(statement.node))
            for begin, stop in self._rounds(start, end, depth) if looped else [(start, end)]:
                self._run(number, code, begin, stop, depth)
        return number

    def _statement_key(self, op: int, depth: int) -> object:
        location = self.paths[op][depth].location
        code = self.code_of(location.path)
        line = location.range.start.line
        statement = None if code is None else code.statement(line)
        return line if statement is None else id(statement)

    def _run(self, call: int, code: FunctionCode | None, first: int, last: int, depth: int) -> None:
        frame = self.paths[first][depth]
        statement = None if code is None else code.statement(frame.location.range.start.line)
        run = StatementRun(call, statement, frame, first, last)
        self.runs.append(run)
        number = len(self.runs) - 1
        for start, end in self._stretches(first, last, lambda op: id(self.paths[op][depth])):
            run.calls += self._segment(start, end, depth + 1, number)

    def _rounds(self, first: int, last: int, depth: int) -> list[tuple[int, int]]:
        """Cuts neighbouring runs of one statement in a loop apart: a round ends where something begins again.

        What a comprehension repeats is part of the statement's round.
        """
        starts: list[int] = [first]
        met: set[int] = set()
        for start, end in self._stretches(first, last, lambda op: self._unit(op, depth)):
            frame = self.paths[start][depth]
            if frame.function.endswith(_COMPREHENSIONS):
                continue
            if id(frame) in met:
                starts.append(start)
                met.clear()
            met.add(id(frame))
            if self._module_called(start, depth) is None:
                length = period([self._sign(op, depth) for op in range(start, end)])
                starts += range(start + length, end, length)
        return list(zip(starts, [*starts[1:], last], strict=True))

    def _unit(self, op: int, depth: int) -> object:
        return id(self.paths[op][depth]), id(self._module_called(op, depth))

    def _sign(self, op: int, depth: int) -> object:
        return self._overloads[op], *map(id, self.paths[op][depth + 1 :])

    @staticmethod
    def _stretches(first: int, last: int, key: Callable[[int], object]) -> list[tuple[int, int]]:
        """Neighbouring ops with the same key."""
        found: list[tuple[int, int]] = []
        start = first
        while start < last:
            wanted, end = key(start), start + 1
            while end < last and key(end) == wanted:
                end += 1
            found.append((start, end))
            start = end
        return found


def innermost_runs(runs: Sequence[StatementRun], ops: int) -> list[int]:
    """The run in which each op ran, in the innermost function of the user's; -1 where in none."""
    found = [-1] * ops
    for number, run in enumerate(runs):  # callers come before what they call
        found[run.first : run.last] = [number] * (run.last - run.first)
    return found


def _own_name(function: str) -> str:
    """The name without what Python calls comprehensions in it."""
    for mark in _COMPREHENSIONS:
        function = function.removesuffix(".<locals>" + mark)
    return function
