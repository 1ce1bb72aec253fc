"""Which calls of a trace count, and what each is tied to: the one place that walks through the trees of a trace.

Where a device computed, what ran there counts, and the host's calls only tie it to the source; else the outermost
operators count that are known to be one thing. No time counts twice. Ties come from what the target is expected to
call, else from stacks; a backward pass gets those of the forward call with its sequence number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from inductor_debug_schema import Location, TimedKind

from inductor_debug.traces.call_trees import CallTrees, HostCall
from inductor_debug.traces.chrome_trace import MODULE, EventKind, TraceEvent, own_function
from inductor_debug.traces.expected_calls import CallFollower, ExpectedCall, ExpectedRun

_GRAPH_NUMBER = re.compile(r"^graph_\d+_(?=\w)")
_GENERATED = re.compile(r"^(?:cpp|triton|halide|pallas)_\w+$")
_COMPILED = "## Call CompiledFxGraph"
_AUTOGRAD = "autograd::engine::evaluate_function"
_NO_OPERATORS = ("autograd::", "torch::autograd::", "torch::jit::", "nccl:")
_NOT_THE_MODEL = ("Optimizer.", "enumerate(DataLoader)")


@dataclass(frozen=True, slots=True)
class SourceTie:
    """What a call is tied to: expressions, or else functions that a stack names, and modules."""

    places: tuple[Location, ...] = ()
    functions: tuple[str, ...] = ()
    module: str = ""
    bound_seconds: float | None = None


UNTIED = SourceTie()


@dataclass(frozen=True, slots=True)
class TimedCall:
    """What counts: from `start` to `end` in microseconds. `at` is when the host called it."""

    name: str
    kind: TimedKind
    start: float
    end: float
    at: float
    backward: bool
    tie: SourceTie


@dataclass(slots=True)
class _Backward:
    """An operator of a backward pass, and the sequence number of the forward call."""

    call: HostCall
    sequence: int | None


@dataclass
class TimedCalls:
    """Everything that counts in a trace."""

    trees: CallTrees
    expected: ExpectedRun
    found: list[TimedCall] = field(default_factory=list)
    _forward: dict[int, SourceTie] = field(default_factory=dict)
    _backwards: list[_Backward] = field(default_factory=list)
    _graphs: dict[str, Sequence[ExpectedCall]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._follower = CallFollower(self.expected.operators)
        for call in self.trees.outermost:
            self._walk(call)
        for waiting in self._backwards:
            forward = self._forward.get(waiting.sequence) if waiting.sequence is not None else None
            tie = replace(forward, bound_seconds=None) if forward is not None else _stack_tie(waiting.call)
            self._count(waiting.call, waiting.call.event.name, tie, backward=True)
        for event in self.trees.stray:
            self._add(event, event.start, self._of_kernel(event.name), backward=False)

    def _walk(self, outermost: HostCall) -> None:
        """Goes through the calls of one thread in their order, without recursion: stacks of Python are deep."""
        pending: list[tuple[HostCall, int | None, bool, bool]] = [(outermost, None, False, True)]
        while pending:
            call, sequence, backward, follows = pending.pop()
            event = call.event
            if event.name.startswith(_COMPILED):
                self._graph(call, backward)
                continue
            if event.name.startswith(_AUTOGRAD):
                backward, sequence = True, event.sequence
            elif event.name.startswith(_NOT_THE_MODEL):
                follows = False
            if (_computes(event) or _launches_alone(call)) and self._takes(call, sequence, backward, follows):
                continue
            pending += [(inner, sequence, backward, follows) for inner in reversed(call.children)]

    def _takes(self, call: HostCall, sequence: int | None, backward: bool, follows: bool) -> bool:
        """Counts a call that computes; False where those within it count."""
        name = _plain(call.event.name)
        if _GENERATED.match(name):
            self._count(call, name, self._of_kernel(name), backward=backward)
        elif backward:
            self._backwards.append(_Backward(call, sequence))
        elif follows and self._follower.waits_for(call):
            return False
        else:
            known = self._follower.found(name) if follows else None
            tie = _tie(known) if known is not None else _stack_tie(call)
            for inner in call.everything():
                if inner.event.sequence is not None:
                    self._forward[inner.event.sequence] = tie
            self._count(call, name, tie, backward=False)
        return True

    def _graph(self, region: HostCall, backward: bool) -> None:
        """The calls of one compiled graph; which of the expected graphs it is shows in their names."""
        calls = list(_outermost_computing(region))
        names = [name for call in calls for name in _names(call)]
        if region.event.name not in self._graphs:
            self._graphs[region.event.name] = self.expected.graph_with(names)
        follower = CallFollower(self._graphs[region.event.name])
        for call in calls:
            known = next(filter(None, map(follower.found, _names(call))), None)
            tie = _tie(known) if known is not None else _stack_tie(call)
            self._count(call, _plain(call.event.name), tie, backward=backward)

    def _count(self, call: HostCall, name: str, tie: SourceTie, *, backward: bool) -> None:
        event = call.event
        if not self.trees.on_device:
            kind = TimedKind.GENERATED if _GENERATED.match(name) else TimedKind.OPERATOR
            self.found.append(TimedCall(name, kind, event.start, event.end, event.start, backward, tie))
            return
        launched = [(inner, each) for inner in call.everything() for each in inner.launched]
        for inner, each in launched:
            known = self._of_kernel(each.name)
            bound = tie.bound_seconds if len(launched) == 1 else None  # no kernel's own, where there are several
            own = known if known.places and not tie.places else replace(tie, bound_seconds=bound)
            self._add(each, inner.event.start, own, backward)

    def _add(self, event: TraceEvent, at: float, tie: SourceTie, backward: bool) -> None:
        kind = (
            TimedKind.COPY
            if event.kind is EventKind.COPY
            else TimedKind.GENERATED
            if _GENERATED.match(event.name)
            else TimedKind.DEVICE
        )
        self.found.append(TimedCall(event.name, kind, event.start, event.end, at, backward, tie))

    def _of_kernel(self, name: str) -> SourceTie:
        known = self.expected.kernel(name)
        return _tie(known) if known is not None else UNTIED


def _tie(known: ExpectedCall) -> SourceTie:
    return SourceTie(known.places, (), known.module, known.bound_seconds)


def _plain(name: str) -> str:
    """C++ kernels carry the number of their graph."""
    return _GRAPH_NUMBER.sub("", name)


def _computes(event: TraceEvent) -> bool:
    if event.kind is not EventKind.OPERATOR:
        return False
    named = "::" in event.name and not event.name.startswith(_NO_OPERATORS)
    return named or _GENERATED.match(_plain(event.name)) is not None


def _launches_alone(call: HostCall) -> bool:
    """Whether something was launched there that no operator is known of, as Triton's kernels are in older traces."""
    return bool(call.launched) and call.event.kind is EventKind.RUNTIME


def _outermost_computing(region: HostCall) -> Iterator[HostCall]:
    pending = list(reversed(region.children))
    while pending:
        call = pending.pop()
        if _computes(call.event) or _launches_alone(call):
            yield call
        else:
            pending += reversed(call.children)


def _names(call: HostCall) -> Iterator[str]:
    """What a call may be expected as."""
    yield _plain(call.event.name)
    yield from (each.name for each in call.launched)


def _stack_tie(call: HostCall) -> SourceTie:
    """What the stack in the trace says of a call."""
    around = [above.event for above in call.above() if above.event.kind is EventKind.PYTHON]
    functions = [*call.event.stack, *filter(None, (own_function(event.name) for event in around))]
    modules = [event.name.removeprefix(MODULE) for event in around if event.name.startswith(MODULE)]
    module = " › ".join(reversed(modules)) or call.event.modules
    if not functions and not module:
        return UNTIED
    return SourceTie((), (str(functions[0]),) if functions else (), module)
