"""The bounds of ops added up: for each expression, line and module, and for the whole run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from inductor_debug_schema import ClassCost, CostBound, Location, Roof, RunCost

from inductor_debug.rules.costing.bounds import OpBound, RunBounds, limits_of
from inductor_debug.rules.recording.ops import Frame, Op, Recording

Home = TypeVar("Home")
Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True)
class _Sum:
    """Some ops: `seconds` of all, those of `products` by the roof of each, and how long their bytes are `moving`."""

    ops: int = 0
    read: int = 0
    written: int = 0
    crossing: int = 0
    operations: int = 0
    uncounted: int = 0
    unfused: float = 0.0
    seconds: float = 0.0
    moving: float = 0.0
    products: dict[Roof, float] = field(default_factory=dict)

    def add(self, bound: OpBound) -> None:
        cost, crossing = bound.cost, bound.crossing
        self.ops += bool(cost.read or cost.written)
        self.read += cost.bytes_read
        self.written += cost.bytes_written
        self.crossing += crossing.read + crossing.written
        self.operations += cost.operations
        self.uncounted += not cost.exact
        self.unfused += bound.unfused_seconds or 0.0
        self.seconds += bound.seconds or 0.0
        self.moving += bound.moving
        if bound.product and bound.roof is not None:
            self._take(bound.roof, bound.seconds or 0.0)

    def join(self, other: _Sum) -> None:
        self.ops += other.ops
        self.read += other.read
        self.written += other.written
        self.crossing += other.crossing
        self.operations += other.operations
        self.uncounted += other.uncounted
        self.unfused += other.unfused
        self.seconds += other.seconds
        self.moving += other.moving
        for roof, seconds in other.products.items():
            self._take(roof, seconds)

    def _take(self, roof: Roof, seconds: float) -> None:
        self.products[roof] = self.products.get(roof, 0.0) + seconds

    def told(self, run: RunBounds, of_run: dict[Roof, float] | None = None) -> CostBound:
        """The sum as it is sent; it takes the seconds of its ops, the whole run those `of_run`."""
        known = run.seconds is not None
        limits = limits_of(self.products, self.moving) if of_run is None else of_run
        total = self.seconds if of_run is None else sum(of_run.values())
        return CostBound(
            ops=self.ops,
            bytes_read=self.read,
            bytes_written=self.written,
            crossing_bytes=self.crossing,
            operations=self.operations,
            seconds=total if known else None,
            unfused_seconds=self.unfused if known else None,
            limited_by=max(limits, key=lambda roof: limits[roof]) if total else None,
            share=self.seconds / run.parts if run.parts else None,
            uncounted=self.uncounted,
        )


def whole_run(recording: Recording, run: RunBounds, accelerator: str, peak_bytes: int) -> RunCost:
    """The cost of all ops, in the seconds of the run."""
    total = _Sum()
    for bound in run.ops:
        total.add(bound)
    by_roof = {roof.value: seconds for roof, seconds in run.by_roof.items() if seconds}
    told = replace(total.told(run, run.by_roof), unfused_seconds=run.unfused)
    classes = _told(run, _spread(recording, run, lambda op: op.frames, _classes))
    costs = [ClassCost(*key, cost) for key, cost in classes.items()]
    return RunCost(accelerator, told, by_roof, peak_bytes, costs, _has_backward(recording))


def _has_backward(recording: Recording) -> bool | None:
    if any(op.autograd_node for op in recording.ops):
        return True
    return False if any(meta.requires_grad for op in recording.ops for meta in op.outputs) else None


def by_expression(recording: Recording, run: RunBounds) -> dict[Location, CostBound]:
    """By each expression of the user's under which ops ran, with all that it called."""
    return _told(run, _spread(recording, run, lambda op: op.frames, _places))


def own_expression(op: Op) -> tuple[Location | None, bool]:
    """The innermost expression of the user's that made an op, and whether it belongs to a backward pass."""
    return next(iter(_places(op.frames)), None), bool(op.autograd_node)


def by_own_expression(recording: Recording, run: RunBounds) -> dict[tuple[Location | None, bool], CostBound]:
    """By `own_expression`: each op counts once."""
    return _told(run, _spread(recording, run, own_expression, _itself))


def by_operator(recording: Recording, run: RunBounds) -> dict[str, CostBound]:
    """By overload."""
    return _told(run, _spread(recording, run, lambda op: op.overload, _itself))


def by_line(recording: Recording, run: RunBounds) -> dict[tuple[str, int], CostBound]:
    """By path and zero-based line of the innermost expression of the user's; ops of no expression are left out."""
    return _told(run, _spread(recording, run, lambda op: op.frames, _line))


def by_module(recording: Recording, run: RunBounds) -> dict[str, CostBound]:
    """By the dotted path of each module, with all modules in it; "" is the target."""
    return _told(run, _spread(recording, run, lambda op: op.module, _around))


def _told(run: RunBounds, sums: dict[Key, _Sum]) -> dict[Key, CostBound]:
    return {key: found.told(run) for key, found in sums.items()}


def _spread(
    recording: Recording,
    run: RunBounds,
    home_of: Callable[[Op], Home],
    keys_of: Callable[[Home], Iterable[Key]],
) -> dict[Key, _Sum]:
    """Sums for each key that the home of an op has. Homes that are one object are looked at once: stacks are shared."""
    homes: dict[int, tuple[Home, _Sum]] = {}
    for op, bound in zip(recording.ops, run.ops, strict=True):
        home = home_of(op)
        homes.setdefault(id(home), (home, _Sum()))[1].add(bound)
    found: dict[Key, _Sum] = {}
    for home, part in homes.values():
        for key in dict.fromkeys(keys_of(home)):
            found.setdefault(key, _Sum()).join(part)
    return found


def _itself(home: Key) -> Iterable[Key]:
    return (home,)


def _places(frames: tuple[Frame, ...]) -> Iterable[Location]:
    return (frame.location for frame in frames if frame.in_project)


def _classes(frames: tuple[Frame, ...]) -> Iterable[tuple[str, str]]:
    """Path and name of the classes whose methods are on a stack."""
    for frame in frames:
        name, _, method = frame.function.rpartition(".")
        if frame.in_project and name and "<" not in name and method != "__init__":
            yield frame.location.path, name


def _line(frames: tuple[Frame, ...]) -> Iterable[tuple[str, int]]:
    inner = next(iter(_places(frames)), None)
    return [(inner.path, inner.range.start.line)] if inner is not None else []


def _around(module: str) -> Iterable[str]:
    parts = module.split(".") if module else []
    return (".".join(parts[:length]) for length in range(len(parts) + 1))
