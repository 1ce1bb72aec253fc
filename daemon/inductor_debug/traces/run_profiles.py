"""The `run_profile` document of a trace: the times of its steps, added up by kernel and by expression.

Each row has the times of all steps, so that it is known how far they lie apart. Nothing is guessed: what is tied to
nothing has a row of its own that says so.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Generic, TypeVar

from inductor_debug_schema import (
    CostBound,
    ExpressionTime,
    IdleGap,
    KernelTime,
    Location,
    ProfileTie,
    RunProfileDocument,
    StepTime,
    TimedKind,
)

from inductor_debug.traces.call_trees import Steps, steps_of, trees_of
from inductor_debug.traces.chrome_trace import Trace
from inductor_debug.traces.expected_calls import ExpectedRun
from inductor_debug.traces.timed_calls import SourceTie, TimedCall, TimedCalls

SCHEMA = 1
_MICRO = 1e-6
_MOST_GAPS = 20
_MOST_MODULES = 8
Key = TypeVar("Key", bound=Hashable)
Costs = Mapping[tuple[Location, bool], CostBound]
"""What each expression costs at least, by its place and whether it is the backward pass."""
TextOf = Callable[[Location], str]

NO_STEPS = "The trace marks no steps (torch.profiler.schedule, and step() after each), so all of it counts as one."
NO_SOURCE = (
    "The trace says nothing of the source. Record it with torch.profiler.profile(with_stack=True), or name the model "
    "as FILE::TARGET."
)
FUNCTIONS_ONLY = "Stacks in the trace name functions alone: name the model as FILE::TARGET for the expressions in them."
NOTHING_RAN = "Nothing that computes ran in the steps of the trace."


def empty_profile(target: str = "", path: str = "", problem: str = "") -> RunProfileDocument:
    """A document of which nothing is known."""
    return RunProfileDocument(
        schema=SCHEMA, target=target, path=path, side="", trace="", training=False, device="", device_title="",
        threads=0, accelerator="", title="", bound_seconds=None, comparable=False, steps=0, step=None, idle=None,
        tied=ProfileTie.NOTHING, tied_share=0.0, kernels=[], expressions=[], gaps=[], notes=[], problem=problem,
    )  # fmt: skip


def with_times(
    document: RunProfileDocument,
    trace: Trace,
    expected: ExpectedRun,
    costs: Costs,
    text_of: TextOf,
    *,
    fused: bool,
) -> RunProfileDocument:
    """The document with what the trace says; bounds are those of `fused` kernels, or of each operation by itself."""
    trees = trees_of(trace)
    timed = TimedCalls(trees, expected).found
    steps = steps_of(trace)
    notes = [*document.notes, *([] if steps is not None else [NO_STEPS])]
    steps = steps or _one_step(timed)
    run = [call for call in timed if steps.at(call.at) is not None]
    if not run:
        return dataclasses.replace(document, problem=NOTHING_RAN)
    sums = _Sums(steps, run, on_device=trees.on_device)
    tied, share = _tied(run)
    if tied in (ProfileTie.NOTHING, ProfileTie.MODULES):
        notes.append(NO_SOURCE)
    elif tied is ProfileTie.FUNCTIONS:
        notes.append(FUNCTIONS_ONLY)
    return dataclasses.replace(
        document,
        device=document.device or ("gpu" if trees.on_device else "cpu"),
        device_title=document.device_title or ", ".join(dict.fromkeys(trace.devices)),
        steps=len(steps.starts),
        step=sums.step,
        idle=sums.idle,
        tied=tied,
        tied_share=share,
        kernels=sums.kernels(),
        expressions=sums.expressions(costs, text_of, fused=fused),
        gaps=sums.gaps(),
        notes=notes,
    )


def _one_step(timed: Sequence[TimedCall]) -> Steps:
    if not timed:
        return Steps([], [])
    first = min(min(call.start, call.at) for call in timed)
    last = max(max(call.end, call.at) for call in timed)
    return Steps([first], [last - first + 1e-3])


def _tied(run: Sequence[TimedCall]) -> tuple[ProfileTie, float]:
    """What most of the time is tied by, and how much of it."""
    spent: dict[ProfileTie, float] = dict.fromkeys(ProfileTie, 0.0)
    for call in run:
        spent[_tie_of(call.tie)] += call.end - call.start
    total = sum(spent.values())
    for tie in (ProfileTie.EXPRESSIONS, ProfileTie.FUNCTIONS, ProfileTie.MODULES):
        if spent[tie]:
            return tie, spent[tie] / total
    return ProfileTie.NOTHING, 0.0


def _tie_of(tie: SourceTie) -> ProfileTie:
    if tie.places:
        return ProfileTie.EXPRESSIONS
    if tie.functions:
        return ProfileTie.FUNCTIONS
    return ProfileTie.MODULES if tie.module else ProfileTie.NOTHING


@dataclass(slots=True)
class _Row:
    """What is added up of one row: seconds and calls of each step, and the bounds of its calls."""

    seconds: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    calls: Counter[int] = field(default_factory=Counter)
    bounds: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    unbounded: bool = False
    weights: dict[Location, float] = field(default_factory=dict)
    functions: dict[str, None] = field(default_factory=dict)
    modules: dict[str, None] = field(default_factory=dict)
    kernels: Counter[str] = field(default_factory=Counter)

    def add(self, step: int, call: TimedCall, seconds: float) -> None:
        tie = call.tie
        self.seconds[step] += seconds
        self.calls[step] += 1
        self.kernels[call.name] += 1
        self.functions.update(dict.fromkeys(tie.functions))
        if tie.module:
            self.modules[tie.module] = None
        if tie.bound_seconds is None:
            self.unbounded = True
        else:
            self.bounds[step] += tie.bound_seconds
        for place in tie.places:
            self.weights[place] = self.weights.get(place, 0.0) + seconds


class _Rows(Generic[Key]):
    def __init__(self) -> None:
        self.by_key: dict[Key, _Row] = {}

    def at(self, key: Key) -> _Row:
        return self.by_key.setdefault(key, _Row())


class _Sums:
    """The times of some calls in some steps."""

    def __init__(self, steps: Steps, run: Sequence[TimedCall], *, on_device: bool) -> None:
        self._count = len(steps.starts)
        self._lengths = [length * _MICRO for length in steps.lengths]
        self._length = sum(self._lengths)
        self._kernels: _Rows[tuple[str, TimedKind, bool]] = _Rows()
        self._expressions: _Rows[tuple[Location | str, bool]] = _Rows()
        self._gaps: _Rows[tuple[str, str, Location | None, Location | None]] = _Rows()
        calls: list[list[TimedCall]] = [[] for _ in steps.starts]
        for call in run:
            number = steps.at(call.at)
            assert number is not None
            calls[number].append(call)
        idle = []
        for number, some in enumerate(calls):
            some.sort(key=lambda call: call.start)
            for call in some:
                self._add(number, call)
            start = None if on_device else steps.starts[number]
            end = None if on_device else _end(steps, number)
            busy = self._idle(number, some, start, end)
            idle.append(max(self._lengths[number] - busy, 0.0))
        self.step = self._time(self._lengths, [len(some) for some in calls])
        self.idle = self._time(idle, [1] * len(idle))

    def kernels(self) -> list[KernelTime]:
        """A row for each kernel and operator, the longest first."""
        found = [
            KernelTime(
                name=name,
                kind=kind,
                backward=backward,
                places=sorted(row.weights, key=lambda place: -row.weights[place]),
                functions=list(row.functions),
                modules=list(row.modules)[:_MOST_MODULES],
                time=self._time_of(row),
                bound_seconds=self._bound(row),
            )
            for (name, kind, backward), row in self._kernels.by_key.items()
        ]
        return sorted(found, key=lambda row: -row.time.share)

    def expressions(self, costs: Costs, text_of: TextOf, *, fused: bool) -> list[ExpressionTime]:
        """A row for each expression, or what stands in its stead, the longest first."""
        found = []
        for (home, backward), row in self._expressions.by_key.items():
            place = home if isinstance(home, Location) else None
            cost = costs.get((place, backward)) if place is not None else None
            bound = (cost.seconds if fused else cost.unfused_seconds) if cost is not None else None
            found.append(
                ExpressionTime(
                    path=place.path if place is not None else None,
                    range=place.range if place is not None else None,
                    text=text_of(place) if place is not None else "",
                    function=home if isinstance(home, str) else "",
                    backward=backward,
                    kernels={name: max(round(count / self._count), 1) for name, count in row.kernels.most_common()},
                    modules=list(row.modules)[:_MOST_MODULES],
                    time=self._time_of(row),
                    cost=cost,
                    bound_seconds=bound,
                )
            )
        return sorted(found, key=lambda row: -row.time.share)

    def gaps(self) -> list[IdleGap]:
        """The longest times between two kernels."""
        found = [
            IdleGap(after=after, before=before, after_place=left, before_place=right, time=self._time_of(row))
            for (after, before, left, right), row in self._gaps.by_key.items()
        ]
        return sorted(found, key=lambda gap: -gap.time.share)[:_MOST_GAPS]

    def _add(self, number: int, call: TimedCall) -> None:
        seconds = (call.end - call.start) * _MICRO
        self._kernels.at((call.name, call.kind, call.backward)).add(number, call, seconds)
        homes = list(_homes(call.tie))
        for home in homes:
            self._expressions.at((home, call.backward)).add(number, call, seconds / len(homes))

    def _idle(self, number: int, calls: Sequence[TimedCall], start: float | None, end: float | None) -> float:
        """Adds the gaps of a step between `start` and `end`, where these bound it; returns how long something ran."""
        busy, reached, last = 0.0, start, None
        for call in calls:
            if reached is not None and call.start > reached:
                self._gap(number, last, call, call.start - reached)
            from_here = call.start if reached is None else max(call.start, reached)
            busy += max(call.end - from_here, 0.0)
            if reached is None or call.end > reached:
                reached, last = call.end, call
        if end is not None and reached is not None and end > reached:
            self._gap(number, last, None, end - reached)
        return busy * _MICRO

    def _gap(self, number: int, after: TimedCall | None, before: TimedCall | None, length: float) -> None:
        key = (_name(after), _name(before), _place(after), _place(before))
        row = self._gaps.at(key)
        row.seconds[number] += length * _MICRO
        row.calls[number] += 1

    def _time_of(self, row: _Row) -> StepTime:
        numbers = range(self._count)
        return self._time(
            [row.seconds.get(number, 0.0) for number in numbers], [row.calls[number] for number in numbers]
        )

    def _time(self, seconds: Sequence[float], calls: Sequence[int]) -> StepTime:
        low, middle, high = quartiles(seconds)
        share = sum(seconds) / self._length if self._length else 0.0
        return StepTime(middle, low, high, round(median(calls)), share)

    def _bound(self, row: _Row) -> float | None:
        if row.unbounded or not row.bounds:
            return None
        return median(row.bounds.get(number, 0.0) for number in range(self._count))


def _end(steps: Steps, number: int) -> float:
    """When a step ends."""
    return steps.starts[number] + steps.lengths[number]


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The quartile below, the median and the quartile above."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return low, middle, high


def _homes(tie: SourceTie) -> Iterator[Location | str]:
    if tie.places:
        yield from tie.places
    else:
        yield next(iter(tie.functions), tie.module)


def _name(call: TimedCall | None) -> str:
    return call.name if call is not None else ""


def _place(call: TimedCall | None) -> Location | None:
    return next(iter(call.tie.places), None) if call is not None else None
