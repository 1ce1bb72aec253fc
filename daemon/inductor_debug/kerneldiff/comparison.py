"""One comparison of one target from beginning to end: run, measure, judge, find the operation at fault.

Steps that only refine the answer (the exact run, nodes, pictures) may fail; a note says so, and the rest stands. A step
of our own that breaks is never told as a numerical difference.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.fx import Node

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.kerneldiff.blame.blaming import Finder
from inductor_debug.kerneldiff.emulation.backends import Backend, ideal, spoilt
from inductor_debug.kerneldiff.emulation.emulation import EmulatedArithmetic
from inductor_debug.kerneldiff.emulation.fault_effects import tell
from inductor_debug.kerneldiff.emulation.injected_faults import FaultyArithmetic
from inductor_debug.kerneldiff.execution.node_graphs import NodePlaces, SharedGraphs, compiling
from inductor_debug.kerneldiff.execution.operation_arithmetic import running_totals, unit_of
from inductor_debug.kerneldiff.execution.precise import drawn_dtype, precisely, to_precise
from inductor_debug.kerneldiff.execution.run_state import RunState
from inductor_debug.kerneldiff.execution.settled import ran_out
from inductor_debug.kerneldiff.execution.side_runs import SideRun, computes, run_side
from inductor_debug.kerneldiff.execution.structure import Pair, pairs, tensors_of
from inductor_debug.kerneldiff.judging.comparison_settings import ComparisonSettings
from inductor_debug.kerneldiff.judging.diff_report import DiffReport, TensorResult, Verdict
from inductor_debug.kerneldiff.judging.output_judging import Anchors, Values, judge_pairs
from inductor_debug.kerneldiff.judging.perturbation import Perturbation
from inductor_debug.kerneldiff.judging.sides import (
    all_of,
    gradient_pairs,
    output_pairs,
    same,
    stopped_early,
    updated_buffers,
    updated_inputs,
    values,
    worst_of,
)
from inductor_debug.kerneldiff.judging.verdict import overall
from inductor_debug.system.torch_names import with_settings


class Comparison:
    """A target and two backends. What was compiled is kept for the next `run`.

    Raises:
        ValueError: the inputs can be used only once, or a fault cannot be put in.
    """

    def __init__(
        self, target: BuiltTarget, reference: Backend, test: Backend, settings: ComparisonSettings, sources: SourceMap
    ) -> None:
        iterator = next(filter(None, (ran_out(args, kwargs) for args, kwargs in target.calls)), "")
        if iterator:
            raise ValueError(f"{iterator} is an iterator, of which one run leaves nothing for the next; give a list")
        self._target, self._settings = target, settings
        self._reference, self._test = reference, test
        self._places = NodePlaces(target, sources)
        self._graphs = SharedGraphs(target.function)
        self._compiled: dict[str, Callable[..., Any]] = {}
        self._state = RunState(target, parameters=not isinstance(target.function, torch.nn.Module))
        self._drawn = drawn_dtype(
            [*tensors_of(target.calls), *([] if target.module is None else target.module.parameters())]
        )
        own = test.arithmetic
        self._emulated = own if isinstance(own, EmulatedArithmetic) else None
        if settings.inject:
            self._test = spoilt(test, settings.inject, self._line_of, unit_of(self._drawn))
        self._pairs: list[Pair] = []

    def artifacts(self) -> dict[str, bytes]:
        """What compilers of installed accelerators left of the graphs so far, by file name."""
        return {**self._reference.artifacts, **self._test.artifacts}

    def run(self) -> DiffReport:
        """Compares once; the model and the process are then as before."""
        report = DiffReport(self._target.name, self._reference.name, self._test.name)
        report.seed, report.runs = self._settings.seed, self._settings.runs
        if self._reference.is_eager and self._test.is_eager:
            report.why = "Reference and backend are both eager: such a comparison could not fail."
            return report
        self._state = RunState(self._target, parameters=not isinstance(self._target.function, torch.nn.Module))
        try:
            with compiling(), _same_random_numbers(self._reference, self._test), self._constants():
                self._compare(report)
        finally:
            self._state.finish()
        return report

    def run_reference(self) -> SideRun:
        """Runs the reference once, with the first seed; the model and the process are then as before."""
        return self._alone(self._reference)

    def run_test(self) -> SideRun:
        """Runs the backend that is asked about once, with the first seed; all else is then as before."""
        return self._alone(self._test)

    def _alone(self, backend: Backend) -> SideRun:
        self._state = RunState(self._target, parameters=not isinstance(self._target.function, torch.nn.Module))
        unread = DiffReport(self._target.name, self._reference.name, self._test.name)
        try:
            with compiling(), _same_random_numbers(self._reference, self._test), self._constants():
                return self._side(backend, self._settings.seed, unread)
        finally:
            self._state.finish()

    def _constants(self) -> contextlib.AbstractContextManager[None]:
        """Has an emulated accelerator take each weight in once."""
        arithmetic, module = self._emulated, self._target.module
        if arithmetic is None or module is None:
            return contextlib.nullcontext()
        return arithmetic.constants.of(module.parameters())

    @property
    def compared(self) -> list[Pair]:
        """What the last run compared, values included, for pictures."""
        return self._pairs

    def _compare(self, report: DiffReport) -> None:
        settings = self._settings
        settings.stream.begin(report)
        outputs: list[list[TensorResult]] = []
        gradients: list[list[TensorResult]] = []
        for run in range(settings.runs):
            made = self._once(report, settings.seed + run, first=run == 0)
            if made is None:
                break
            outputs.append(made[0])
            gradients.append(made[1])
        if outputs:
            report.outputs, report.gradients = worst_of(outputs), worst_of(gradients)
        if report.why:  # a side failed; what had come until then stays
            report.verdict = Verdict.FAILED
            return
        results = [*report.outputs, *report.gradients]
        report.verdict, report.why = overall(results, self._baseline(), report.deterministic)
        settings.stream.verdict(report)
        if settings.nodes:
            self._find(report)
        if isinstance(self._test.arithmetic, FaultyArithmetic):
            tell(self._test.arithmetic.effects, report)

    def _once(
        self, report: DiffReport, seed: int, *, first: bool
    ) -> tuple[list[TensorResult], list[TensorResult]] | None:
        """One run of both sides; None where there is nothing to compare. Sets `report.why` where a side failed."""
        reference = self._side(self._reference, seed, report)
        actual = self._side(self._test, seed, report)
        report.why = report.why or self._failure(reference, actual)
        if actual.error is None and not self._test.is_eager and self._test.graphs == 0:
            needed = computes(self._target, seed, self._settings.eagerly)
            self._state.restore()
            if needed:
                report.why = report.why or (
                    f"torch.compile captured no graph of {self._target.name}: all of it ran in eager, and "
                    f"{self._test.name} computed nothing. `inductor-debug check` says what it could not capture."
                )
                return None
            report.notes.append(f"There was nothing to compile: {self._target.name} computes nothing with tensors.")
        if stopped_early(reference) or stopped_early(actual):
            return None
        repeated = self._repeated(reference, seed, report) if first else None
        anchors = self._anchors(seed, report, repeated)
        config = self._settings.config
        found = [
            *output_pairs(reference, actual),
            *updated_inputs(self._target, reference, actual),
            *updated_buffers(self._target, reference, actual),
        ]
        named = gradient_pairs(reference, actual) if not report.why else []
        self._pairs = [*found, *named]
        stream = self._settings.stream
        return (
            judge_pairs(found, anchors, config, lambda result: stream.result("outputs", result)),
            judge_pairs(named, anchors, config, lambda result: stream.result("gradients", result)),
        )

    def _side(self, backend: Backend, seed: int, report: DiffReport) -> SideRun:
        self._settings.progress(f"running {backend.name}")
        started = time.perf_counter()
        try:
            function = self._compiled.get(backend.name)
            if function is None:
                function = self._compiled[backend.name] = backend.compile(
                    self._target.function, self._graphs, self._target.dynamic
                )
            around = self._settings.eagerly if backend.is_eager else self._settings.traced
            with around():
                return run_side(self._target, function, seed=seed, gradients=self._settings.gradients)
        finally:
            self._state.restore()
            report.seconds[backend.name] = time.perf_counter() - started

    def _failure(self, reference: SideRun, actual: SideRun) -> str:
        if reference.error is not None and actual.error is not None:
            return f"Both sides raised in the {reference.step}: {reference.complaint}"
        for name, ran in ((self._reference.name, reference), (self._test.name, actual)):
            if ran.error is not None:
                return f"{name} raised in the {ran.step}, and the other side did not: {ran.complaint}"
        return ""

    def _repeated(self, reference: SideRun, seed: int, report: DiffReport) -> SideRun | None:
        """The reference once more; says whether the model is deterministic."""
        again = self._side(self._reference, seed, report)
        if again.error is not None:
            report.deterministic = False
            return None
        both = pairs(all_of(reference), all_of(again), "")
        report.deterministic = all(not pair.problem and same(pair.reference, pair.actual) for pair in both)
        if not report.deterministic:
            report.notes.append(
                "The reference itself gives other results each time it runs with the same seed and inputs."
            )
            return again
        return None

    def _anchors(self, seed: int, report: DiffReport, repeated: SideRun | None) -> Anchors:
        target, settings = self._target, self._settings
        anchors = Anchors(unit=self._unit())
        if settings.exact:
            settings.progress("running the model in float64")
            with settings.eagerly(), precisely(target.module, self._drawn):
                exact = run_side(target, target.function, seed=seed, gradients=settings.gradients, prepare=to_precise)
            self._state.restore()
            if exact.error is None:
                anchors.exact = values(exact)
            else:
                report.notes.append(
                    f"The model does not run in float64 ({exact.complaint.rstrip('.')}): errors are measured from the "
                    "reference itself."
                )
        if self._test.arithmetic is not None:
            anchors.base = self._run_base(ideal(self._test.arithmetic), seed, report)
        if repeated is not None:
            anchors.repeated = values(repeated)
        moved: list[Values] = []

        def move(count: int) -> Sequence[Values]:
            moved.extend(self._moved(seed, number) for number in range(len(moved), count))
            return moved

        anchors.moved = move
        return anchors

    def _run_base(self, backend: Backend, seed: int, report: DiffReport) -> Values:
        ran = self._side(backend, seed, report)
        return values(ran) if ran.error is None else {}

    def _moved(self, seed: int, number: int) -> Values:
        self._settings.progress("measuring what rounding does to the model")
        totals = running_totals(self._test.arithmetic)
        with self._settings.eagerly(), Perturbation(self._unit(), number + 1, totals):
            ran = run_side(self._target, self._target.function, seed=seed, gradients=self._settings.gradients)
        self._state.restore()
        return values(ran) if ran.error is None else {}

    def _unit(self) -> float:
        return 0.0 if self._test.arithmetic is None else self._test.arithmetic.unit

    def _line_of(self, node: Node) -> int | None:
        place = self._places.place(node)
        own = self._target.location.path
        return None if place is None or (own and place.path != own) else place.range.start.line

    def _baseline(self) -> str:
        if self._test.arithmetic is not None:
            return "its number format allows"
        return f"{self._reference.name} in {str(self._drawn).removeprefix('torch.')}"

    def _find(self, report: DiffReport) -> None:
        finder = Finder(self._target, self._test, self._settings, self._places, self._graphs, self._state)
        started = time.perf_counter()
        try:
            finder.find(report)
        except Exception as error:
            report.notes.append(f"The operation at fault could not be looked for: {describe(error)}")
        finally:
            self._state.restore()
            report.seconds["nodes"] = time.perf_counter() - started


@contextlib.contextmanager
def _same_random_numbers(*backends: Backend) -> Iterator[None]:
    """Has Inductor draw random numbers as eager does, so that dropout drops the same elements."""
    if not any(backend.graph_compiler is not None for backend in backends):
        yield
        return
    from torch._inductor import config

    with with_settings(config, fallback_random=True):
        yield
