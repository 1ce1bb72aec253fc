"""Climbs the ladder of backends with one target, and looks into the first layer that goes wrong.

Every rung is judged as KernelDiff judges: against a float64 run, by the error to expect. What a rung raises is a
result.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import torch
from inductor_debug_schema import BisectGuilty, BisectStep, Direction, Location, RoundTrip

from inductor_debug.accelerators.profile import Profile, ProfileError
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.script_backends.transfers import Transfer
from inductor_debug.kerneldiff.comparison import Comparison
from inductor_debug.kerneldiff.emulation.backends import DYNAMO, Backend, UnknownBackendError, resolve
from inductor_debug.kerneldiff.execution.node_graphs import SharedGraphs
from inductor_debug.kerneldiff.execution.run_state import RunState as ModelState
from inductor_debug.kerneldiff.execution.side_runs import run_side
from inductor_debug.kerneldiff.judging.comparison_settings import ComparisonSettings
from inductor_debug.kerneldiff.judging.diff_report import Blame, DiffReport, Verdict
from inductor_debug.repro.backend.raising_operation import raising_operation
from inductor_debug.repro.bisect.bisection_result import Bisection, BisectionOptions, TriedRung
from inductor_debug.repro.bisect.compiler_passes import Guilty, OutOfTimeError, guilty_pass
from inductor_debug.repro.bisect.front_end import departure
from inductor_debug.repro.bisect.known_backends import known_backends, versions_with
from inductor_debug.repro.bisect.ladder import (
    EAGER,
    TRANSFERS,
    BackendRung,
    Layer,
    State,
    ladder,
)
from inductor_debug.repro.bisect.suspects import suspicion
from inductor_debug.repro.bisect.transfers_task import run_logged
from inductor_debug.rules.amounts import counted


class Bisector:
    """One bisection of one target with real values.

    Args:
        target: what to bisect.
        sources: turns frames into places.
        profile: the accelerator that transfers go to.
        documents: accelerators' documents by name.
        accelerator: its name, if it is to be climbed; None leaves it out.
        wanted: what to climb and for how long.
        progress: told what is being done.
        climbed: told each rung when it has been climbed.
        file: the user's file, whose functions are backends, too.
    """

    def __init__(
        self,
        target: BuiltTarget,
        sources: SourceMap,
        profile: Profile,
        documents: dict[str, dict[str, Any]],
        accelerator: str | None,
        wanted: BisectionOptions,
        progress: Callable[[str], None],
        tried: Callable[[TriedRung], None],
        file: ModuleType | None = None,
    ) -> None:
        self._climbed, self._file = tried, file
        self._target, self._sources, self._profile, self._documents = target, sources, profile, documents
        self._wanted, self._progress, self._accelerator = wanted, progress, accelerator
        self._known = known_backends((wanted.reference, *wanted.backends), accelerator, documents, file)
        rungs = ladder(accelerator, wanted.backends, wanted.reference, self._known)
        self._without_numbers = self._why_no_numbers()
        self._rungs = [rung for rung in rungs if not self._without_numbers or rung.backend != accelerator]
        self._yardstick = EAGER.backend
        self._deadline = time.perf_counter() + wanted.time_limit
        self._gradients = target.training if wanted.gradients is None else wanted.gradients

    def _why_no_numbers(self) -> str:
        """Why nobody can say what the accelerator computes, as of most GPUs; "" where it was asked for by name."""
        name = self._accelerator
        if name is None or name in (self._wanted.reference, *self._wanted.backends):
            return ""
        try:
            self._backend(name)
        except ValueError as error:
            return str(error)
        except (UnknownBackendError, ProfileError):
            pass  # told when it is climbed
        return ""

    @property
    def planned(self) -> list[BisectStep]:
        """All rungs in the order in which they are climbed."""
        return [BisectStep(rung.backend, rung.adds) for rung in self._rungs]

    def run(self) -> Bisection:
        """Climbs every rung, then looks into the first that went wrong."""
        result = Bisection(self._target.name)
        if self._without_numbers:
            result.notes.append(f"{self._accelerator} is not climbed: {self._without_numbers}.")
        for rung in self._rungs:
            if time.perf_counter() > self._deadline:
                result.notes.append(f"There was no time for {rung.backend} and what comes after it.")
                break
            result.ladder.append(self._climb(rung))
            self._climbed(result.ladder[-1])
            if rung is EAGER and result.ladder[0].state is not State.OK:
                break
            if rung.backend == self._wanted.reference != EAGER.backend:
                self._settle(result)
        self._judge(result)
        return result

    def _settle(self, result: Bisection) -> None:
        """Compares the rungs to come with the reference, if it is itself as exact as eager."""
        if result.ladder[-1].state is State.OK:
            self._yardstick = self._wanted.reference
        elif len(result.ladder) < len(self._rungs):
            result.notes.append(f"{self._wanted.reference} is no yardstick: the others are compared with eager.")

    def _climb(self, rung: BackendRung) -> TriedRung:
        self._progress(f"{rung.backend}: {rung.adds}")
        torch._dynamo.reset()
        started = time.perf_counter()
        if rung is EAGER:
            tried = self._eager(rung)
        elif rung.backend == TRANSFERS:
            tried = self._transfers(rung)
        else:
            tried = self._compared(rung, nodes=False)
        return replace(tried, seconds=time.perf_counter() - started, versions=versions_with(rung))

    def _eager(self, rung: BackendRung) -> TriedRung:
        state = ModelState(self._target, parameters=True)
        ran = run_side(self._target, self._target.function, seed=self._wanted.seed, gradients=self._gradients)
        state.finish()
        if ran.error is not None:
            why = f"The model raises in the {ran.step} without any compiler: {ran.complaint}"
            return TriedRung(rung, State.FAILED, why, 0.0)
        return TriedRung(rung, State.OK, "The model runs.", 0.0)

    def _transfers(self, rung: BackendRung) -> TriedRung:
        transfers: list[Transfer] = []
        state = ModelState(self._target, parameters=True)
        error = run_logged(self._target, self._profile, transfers.append)
        state.finish()
        if error:
            return TriedRung(rung, State.FAILED, error, 0.0)
        changed = [transfer for transfer in transfers if transfer.came_back.outcome is RoundTrip.CHANGED]
        if not changed:
            near = sum(transfer.came_back.outcome is RoundTrip.ROUNDED for transfer in transfers)
            but = f", {near} of them rounded to the numbers that {self._profile.name} has" if near else ""
            return TriedRung(rung, State.OK, f"All {len(transfers)} tensors come back as they were{but}.", 0.0)
        first = changed[0]
        example = first.came_back.example
        which = f" ({example.before} at {example.index} becomes {example.after})" if example is not None else ""
        why = (
            f"{first.role} {first.name} does not come back as it was: {first.dtype} is kept as {first.device_dtype}, "
            f"and {counted(first.came_back.changed, 'element')} of it changed{which}."
        )
        return TriedRung(rung, State.WRONG, why, 0.0, place=first.place, subject=first.name)

    def _compared(self, rung: BackendRung, *, nodes: bool, yardstick: str = "") -> TriedRung:
        yardstick = yardstick or self._yardstick
        try:
            reference, test = map(self._backend, (yardstick, rung.backend))
            report = self._comparison(reference, test, nodes=nodes).run()
        except (UnknownBackendError, ProfileError, ValueError) as error:
            return TriedRung(rung, State.FAILED, f"Nothing was compared: {error}", 0.0)
        state = {Verdict.FAILED: State.FAILED, Verdict.WRONG: State.WRONG}.get(report.verdict, State.OK)
        return TriedRung(rung, state, report.why, 0.0, report, reference=yardstick)

    def _backend(self, name: str) -> Backend:
        return resolve(name, self._documents.get(name), self._file)

    def _comparison(self, reference: Backend, test: Backend, *, nodes: bool) -> Comparison:
        left = max(self._deadline - time.perf_counter(), 1.0)
        settings = ComparisonSettings(
            gradients=self._gradients,
            seed=self._wanted.seed,
            nodes=nodes,
            inject=self._wanted.inject if test.arithmetic is not None and test.name != self._wanted.reference else (),
            time_limit=left,
            progress=self._progress,
        )
        return Comparison(self._target, reference, test, settings, self._sources)

    # The verdict

    def _judge(self, result: Bisection) -> None:
        guilty = next((tried for tried in result.ladder if tried.state is not State.OK), None)
        if guilty is None:
            return
        missing = guilty.is_missing
        if missing:
            # Something is not installed: what the rungs above say is about the compiler all the same.
            above = result.ladder[result.ladder.index(guilty) + 1 :]
            wrong = next((tried for tried in above if tried.state is State.WRONG), None)
            if wrong is not None:
                result.notes.append(f"{guilty.rung.backend} could not be tried: {guilty.why}")
                guilty, missing = wrong, False
        before = [tried for tried in result.ladder[: result.ladder.index(guilty)] if tried.state is State.OK]
        result.commands = self._commands(before[-1] if before else None, guilty)
        result.guilty = self._look_into(guilty, result.notes)
        result.verdict = Layer.ENVIRONMENT if missing else self._suspect(guilty, result)

    def _suspect(self, guilty: TriedRung, result: Bisection) -> Layer:
        """The layer of the part that goes wrong; names the part, and what would tell it from others."""
        found = suspicion(guilty, result.ladder)
        assert result.guilty is not None
        result.guilty = replace(result.guilty, part=found.part.name)
        tried = {each.rung.backend for each in result.ladder}
        others = [name for name in self._known.apart(found.alike, self._accelerator) if name not in tried]
        if len(found.alike) > 1 and others:
            alike = ", ".join(part.name for part in found.alike)
            result.notes.append(
                f"No rung tells these parts of {guilty.rung.backend} from each other: {alike}. "
                f"What would, where it is installed: --backends {','.join([*others, guilty.rung.backend])}"
            )
        return found.part.layer

    def _look_into(self, guilty: TriedRung, notes: list[str]) -> BisectGuilty:
        found = BisectGuilty(backend=guilty.rung.backend, node=guilty.subject or None, **_placed(guilty.place))
        if guilty.report is None:
            return found
        if guilty.state is State.FAILED:
            return self._raised(found, guilty, notes)
        direction = _direction(guilty.report)
        found = replace(found, direction=direction)
        self._progress(f"{guilty.rung.backend}: looking for the operation at fault")
        torch._dynamo.reset()
        again = self._compared(guilty.rung, nodes=True, yardstick=guilty.reference).report
        if again is not None and again.blame:
            # What is wrong in the forward is not to be blamed on an operation of the backward, where there is another.
            own = (blamed for blamed in again.blame if _is_backward(blamed) == (direction is Direction.BACKWARD))
            first = next(own, again.blame[0])
            found = replace(found, graph=first.graph or None, node=first.node, op=first.op, **_placed(first.place))
        if guilty.rung.backend == DYNAMO and not found.op:
            return self._departure(found, notes)
        return replace(found, pass_=self._pass(guilty, notes))

    def _departure(self, known: BisectGuilty, notes: list[str]) -> BisectGuilty:
        """The line at which Dynamo's graphs leave the user's code."""
        self._progress("dynamo: looking for the line that runs something else")
        torch._dynamo.reset()
        found = departure(self._target, self._sources)
        if found is None:
            return known
        notes.append(found.words)
        return replace(known, op=found.op, **_placed(found.place))

    def _raised(self, known: BisectGuilty, guilty: TriedRung, notes: list[str]) -> BisectGuilty:
        """The operation that a backend raises at, and the pass or lowering of Inductor that does."""
        backend = self._backend(guilty.rung.backend).graph_compiler
        if backend is None or guilty.rung.backend == DYNAMO or guilty.is_missing:
            return known
        name = guilty.rung.backend
        self._progress(f"{name}: looking for the operation that it raises at")
        operation = raising_operation(
            self._target,
            self._sources,
            backend,
            gradients=self._gradients,
            seconds=max(self._deadline - time.perf_counter(), 1.0),
            progress=lambda message: self._progress(f"{name}: {message}"),
        )
        if operation is None:
            notes.append(f"{name} raises at no graph by itself.")
            return known
        return replace(
            known,
            graph=operation.graph,
            direction=operation.direction,
            node=operation.node,
            op=operation.op,
            pass_=self._pass(guilty, notes),
            **_placed(operation.place),
        )

    def _pass(self, guilty: TriedRung, notes: list[str]) -> str | None:
        """The pass or lowering, where the backend is one that torch's bisector knows."""
        if guilty.rung.backend not in ("inductor", "aot_eager_decomp_partition") or not self._wanted.passes:
            return None
        return self._guilty_pass(notes)

    def _guilty_pass(self, notes: list[str]) -> str | None:
        self._progress("looking for the pass or lowering at fault")
        try:
            guilty: Guilty | None = guilty_pass(self._inductor_is_right, self._deadline)
        except OutOfTimeError:
            notes.append("There was no time to find the pass or lowering at fault.")
            return None
        if guilty is None:
            notes.append("No single pass or lowering of Inductor is at fault: leaving each out changes nothing.")
        return None if guilty is None else str(guilty)

    def _inductor_is_right(self) -> bool:
        torch._dynamo.reset()
        report = self._comparison(resolve("eager"), _Replaceable("inductor"), nodes=False).run()
        return report.verdict in (Verdict.PASS, Verdict.SUSPICIOUS)

    def _commands(self, before: TriedRung | None, guilty: TriedRung) -> list[str]:
        """What reproduces each side, from whatever folder: the last rung that is right and the first that is not."""
        path = self._target.location.path
        subject = shlex.quote(f"{path}::{self._target.name}")
        more = f" --seed {self._wanted.seed}" if self._wanted.seed else ""
        more += " --gradients" if self._gradients else ""
        faults = "".join(f" --inject {shlex.quote(fault)}" for fault in self._wanted.inject)
        made = []
        for tried in (before, guilty):
            if tried is None or tried.rung is EAGER:
                made.append(f"inductor-debug check {shlex.quote(path)}")
            elif tried.rung.backend == TRANSFERS:
                made.append(f"inductor-debug transfers {subject} --accelerator {shlex.quote(self._profile.name)}")
            else:
                name = tried.rung.backend
                emulated = faults if name in self._documents and name != self._wanted.reference else ""
                made.append(
                    f"inductor-debug diff {subject} --reference {shlex.quote(tried.reference)} "
                    f"--backend {shlex.quote(tried.rung.backend)}{more}{emulated}"
                )
        return list(dict.fromkeys(made))


class _Replaceable(Backend):
    """Compiles by name, because torch's bisector puts other backends in place of the one that is named."""

    def compile(
        self, function: Callable[..., Any], shared: SharedGraphs, dynamic: bool | None = None
    ) -> Callable[..., Any]:
        self.graphs += 1
        return torch.compile(function, backend=self.name, dynamic=dynamic)


def _is_backward(blamed: Blame) -> bool:
    return blamed.graph.endswith("backward")


def _placed(place: Location | None) -> dict[str, Any]:
    return {"path": None, "range": None} if place is None else {"path": place.path, "range": place.range}


def _direction(report: DiffReport) -> Direction:
    wrong = any(result.verdict is Verdict.WRONG for result in report.outputs)
    return Direction.BACKWARD if report.gradients and not wrong else Direction.FORWARD
