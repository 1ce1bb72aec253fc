"""Finds the operation at fault of a backend that takes whole graphs: cuts the graph, compiles the pieces, bisects.

A piece is given the reference's values, so that what came before is no excuse, and is judged like a model: against the
exact result and what rounding does to it. What goes wrong only as long as two operations are compiled together is
narrowed down to the fewest that still do. No node is ever made an output that was none: that would change what a
compiler fuses. Compilations are remembered, and there is a limit on time.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from inductor_debug.capture.failures.failures import describe
from inductor_debug.kerneldiff.execution.node_graphs import NodeGraph
from inductor_debug.kerneldiff.execution.operation_arithmetic import at_least, unit_of
from inductor_debug.kerneldiff.execution.precise import Precise, drawn_dtype, to_precise
from inductor_debug.kerneldiff.execution.random_numbers import random_state_kept
from inductor_debug.kerneldiff.execution.run_state import seed_everything
from inductor_debug.kerneldiff.execution.segments import Cuttable, Piece
from inductor_debug.kerneldiff.execution.side_runs import cotangent
from inductor_debug.kerneldiff.execution.structure import cloned
from inductor_debug.kerneldiff.judging.anchoring import anchor, error_from, larger, rounding_error
from inductor_debug.kerneldiff.judging.diff_report import NodeError
from inductor_debug.kerneldiff.judging.differences import difference
from inductor_debug.kerneldiff.judging.perturbation import Perturbation
from inductor_debug.kerneldiff.judging.verdict import SUSPICIOUS, WRONG

Compiler = Callable[[Any, list[torch.Tensor]], Callable[..., Any]]
_MOVED = 2


@dataclass(frozen=True)
class Localised:
    """Where it goes wrong: the fewest operations that were found to, and how far off they are.

    `together` says that each half of them is right when it is compiled alone. `complete` is False where the time ran
    out before.
    """

    graph: NodeGraph
    nodes: list[Node]
    ratio: float
    together: bool
    complete: bool


@dataclass(frozen=True)
class Compared:
    """A piece that was compiled by itself and compared: the operations `start` to `end` (exclusive) of a graph.

    `error` is None where it could not be compiled or run; `why` says what was raised.
    """

    graph: NodeGraph
    start: int
    nodes: list[Node]
    error: NodeError | None
    wrong: bool
    why: str = ""

    @property
    def ratio(self) -> float:
        """How far off it is; 0 where nobody knows."""
        return 0.0 if self.error is None else self.error.ratio or 0.0


class Localiser:
    """A visitor for graphs that bisects each one that goes wrong, and returns the reference's results.

    Args:
        compiler: `(GraphModule, example inputs) -> callable`.
        seed: where random numbers start in every piece.
        deadline: `time.perf_counter()` after which nothing more is compiled.
        threshold: the ratio above which a piece is wrong.
        constants: tensors (by identity) that no gradient is asked of: buffers.
        gradients: run backward through every piece as well: for faults that show in gradients only.
        progress: told what is being done.
        compared: told of every piece that was compared.
    """

    def __init__(
        self,
        compiler: Compiler,
        *,
        seed: int,
        deadline: float,
        threshold: float = WRONG,
        gradients: bool = False,
        constants: frozenset[int] = frozenset(),
        progress: Callable[[str], None] = lambda message: None,
        compared: Callable[[Compared], None] = lambda compared: None,
    ) -> None:
        self._constants = constants
        self.compared = compared
        self._compiler, self._seed, self._deadline = compiler, seed, deadline
        self._threshold, self._gradients, self._progress = threshold, gradients, progress
        self.found: list[Localised] = []
        self.failures: list[str] = []
        self.compilations = 0

    def __call__(self, graph: NodeGraph, args: list[Any]) -> Any:
        """Runs one graph as eager does, after having looked for its fault."""
        if graph.operations():
            with random_state_kept(), torch.set_grad_enabled(self._gradients):
                localised = _Bisection(self, Cuttable(graph, args, self._constants)).run()
            if localised is not None:
                self.found.append(localised)
        return graph.module(*args)

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return time.perf_counter() > self._deadline

    def measure(self, cuttable: Cuttable, piece: Piece) -> Compared:
        """How far off the compiled piece is. Where it cannot be compiled or run alone, nobody knows."""
        nodes = cuttable.operations[piece.start : piece.end]
        self._progress(f"compiling operations {piece.start + 1} to {piece.end}")
        self.compilations += 1
        try:
            # A backend may write to the graph that it is given.
            given = GraphModule(piece.module, copy.deepcopy(piece.module.graph))
            # As it will be called: what is written to must not be a leaf of autograd.
            compiled = self._compiler(given, self._passed(self._leaves(piece)))
            actual = self._results(compiled, piece)
        except Exception as error:
            why = describe(error)
            self.failures.append(f"operations {piece.start + 1} to {piece.end}: {why}")
            found = Compared(cuttable.graph, piece.start, nodes, None, False, why)
        else:
            judged = _judged(piece, actual, self._results)
            wrong = (judged.ratio or 0.0) > self._threshold
            found = Compared(cuttable.graph, piece.start, nodes, judged, wrong)
        self.compared(found)
        return found

    def _leaves(self, piece: Piece) -> list[torch.Tensor]:
        tensors = cloned(piece.inputs)
        return [
            _leaf(tensor, self._gradients and not fixed) for tensor, fixed in zip(tensors, piece.fixed, strict=True)
        ]

    def _passed(self, leaves: list[torch.Tensor]) -> list[torch.Tensor]:
        return [leaf.clone() for leaf in leaves] if self._gradients else leaves

    def _results(self, function: Callable[..., Any], piece: Piece) -> list[torch.Tensor]:
        """What a piece returns, what it leaves in its inputs, and the gradients of these."""
        leaves = self._leaves(piece)
        passed = self._passed(leaves)
        seed_everything(self._seed)
        made = [leaf for leaf in pytree.tree_leaves([function(*passed), passed]) if isinstance(leaf, torch.Tensor)]
        found = [tensor.detach() for tensor in made]
        return found + _gradients(made, leaves) if self._gradients else found


def _leaf(tensor: torch.Tensor, tracked: bool) -> torch.Tensor:
    floats = tensor.is_floating_point() or tensor.is_complex()
    return tensor.detach().requires_grad_() if tracked and floats else tensor.detach()


def _gradients(made: list[torch.Tensor], leaves: list[torch.Tensor]) -> list[torch.Tensor]:
    tracked = [tensor for tensor in made if tensor.requires_grad]
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    if not tracked or not wanted:
        return []
    cotangents = [cotangent(tensor, index) for index, tensor in enumerate(tracked)]
    return list(torch.autograd.grad(tracked, wanted, cotangents, allow_unused=True, materialize_grads=True))


def _judged(
    piece: Piece, actual: list[torch.Tensor], results: Callable[[Callable[..., Any], Piece], list[torch.Tensor]]
) -> NodeError:
    """The error of a piece's results, with the largest ratio among them."""
    base = results(piece.module, piece)
    error = difference(base, actual)
    try:
        with Precise(drawn_dtype(piece.inputs), piece.inputs):
            exact = results(piece.module, replace(piece, inputs=[to_precise(tensor) for tensor in piece.inputs]))
    except Exception:
        exact = base  # an operation without float64: rounding alone says what to expect
    ratio = _largest(exact, base, actual, [])
    if ratio <= SUSPICIOUS:
        return replace(error, ratio=ratio)
    moved = []
    for number in range(_MOVED):
        with Perturbation(0.0, number + 1):
            moved.append(results(piece.module, piece))
    return replace(error, ratio=_largest(exact, base, actual, moved))


def _largest(
    exact: list[torch.Tensor], base: list[torch.Tensor], actual: list[torch.Tensor], moved: list[list[torch.Tensor]]
) -> float:
    if len(actual) != len(base):
        return math.inf
    ratio = 0.0
    for index, (truth, best, value) in enumerate(zip(exact, base, actual, strict=True)):
        others = [tensors[index] for tensors in moved]
        ratio = max(ratio, _ratio(truth, best, value, others))
    return ratio


def _ratio(truth: torch.Tensor, best: torch.Tensor, value: torch.Tensor, others: list[torch.Tensor]) -> float:
    if best.is_meta and value.is_meta:
        return 0.0  # there are no values
    if best.shape != value.shape or best.dtype != value.dtype or best.device != value.device:
        return math.inf
    best, value, *others = (tensor.to(truth.device) for tensor in (best, value, *others))
    if not (best.is_floating_point() or best.is_complex()):
        firm = best != value
        for other in (truth, *others):
            firm &= other == best
        return math.inf if bool(firm.any()) else 0.0
    errors = [error_from(truth, other) for other in (best, *others)]
    expected = larger(*errors, rounding_error(truth, at_least(unit_of(best.dtype))))
    return anchor(truth, expected, value, best).ratio


class _Bisection:
    """One graph: which of its operations go wrong."""

    def __init__(self, localiser: Localiser, cuttable: Cuttable) -> None:
        self._localiser, self._cuttable = localiser, cuttable
        self._known: dict[tuple[int, int], Compared] = {}

    def run(self) -> Localised | None:
        start, end = 0, len(self._cuttable.operations)
        if not self._wrong(start, end):
            return None
        together = False
        while end - start > 1 and not self._localiser.late:
            middle = self._cuttable.cut_near((start + end) // 2, start, end)
            if middle is None:
                break
            if self._wrong(start, middle):
                end = middle
            elif self._wrong(middle, end):
                start = middle
            else:
                together = True
                start, end = self._shrunk(start, end)
                break
        nodes = self._cuttable.operations[start:end]
        ratio = self._known[start, end].ratio
        return Localised(self._cuttable.graph, nodes, ratio, together, not self._localiser.late)

    def _shrunk(self, start: int, end: int) -> tuple[int, int]:
        """Takes operations away from both ends for as long as what is left goes wrong."""
        step = max((end - start) // 2, 1)
        while not self._localiser.late:
            first = self._cuttable.cut_near(start + step, start, end)
            if first is not None and self._wrong(first, end):
                start = first
                continue
            last = self._cuttable.cut_near(end - step, start, end)
            if last is not None and self._wrong(start, last):
                end = last
                continue
            if step == 1:
                break
            step //= 2
        return start, end

    def _wrong(self, start: int, end: int) -> bool:
        if (start, end) not in self._known:
            piece = self._cuttable.piece(start, end)
            self._known[start, end] = self._localiser.measure(self._cuttable, piece)
        return self._known[start, end].wrong
