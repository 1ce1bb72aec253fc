"""The task `same-results`: whether an edited text computes what the text before it computed, on real tensors.

Both are loaded one after the other and run with the same inputs, weights and random numbers, forward and backward, in
training and in evaluation, on the inputs as they are and on others that may take other branches. Differences are judged
as those of a backend are: against the error to expect. The text before the edit may have one expression wrapped in a
call of a witness, which tells whether it ran, and what a condition came to. Nothing of either text is changed.
"""

from __future__ import annotations

import builtins
import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from inductor_debug_schema import Answered, Event, Finding, Finished, JobRequest, SameResults, SameResultsTask

from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_task import OpenFile, on_targets
from inductor_debug.capture.targets.target_builder import TargetBuilder
from inductor_debug.kerneldiff.execution.precise import drawn_dtype, precisely, to_precise
from inductor_debug.kerneldiff.execution.run_state import RunState, seed_everything
from inductor_debug.kerneldiff.execution.side_runs import SideRun, run_side
from inductor_debug.kerneldiff.execution.structure import Pair, mapped, pairs, tensors_of
from inductor_debug.kerneldiff.judging.diff_report import Verdict
from inductor_debug.kerneldiff.judging.output_judging import Anchors, Values, judge_pairs
from inductor_debug.kerneldiff.judging.perturbation import Perturbation
from inductor_debug.kerneldiff.judging.sides import (
    gradient_pairs,
    same,
    stopped_early,
    updated_buffers,
    updated_inputs,
    values,
)
from inductor_debug.kerneldiff.judging.verdict import overall
from inductor_debug.kerneldiff.metrics.comparison_config import ComparisonConfig

_SEED = 0
_BUDGET_SECONDS = 30.0
"""After so long no further inputs are tried."""
_Change = Callable[[torch.Tensor], torch.Tensor]
_INPUTS: tuple[_Change, ...] = (
    lambda tensor: tensor,
    lambda tensor: tensor + torch.rand(tensor.shape, generator=torch.Generator().manual_seed(1)).to(tensor) - 0.5,
    lambda tensor: -tensor,
)
"""What becomes of floating-point inputs: whole numbers hide what rounds, and a sign hides what is positive."""
_FAR_INPUTS: tuple[_Change, ...] = (
    lambda tensor: tensor * 10 + 3,
    lambda tensor: tensor * -10 - 3,
    torch.zeros_like,
)
"""The same where a condition is to come out both ways. Elsewhere such inputs only make rounding errors large."""


_AS_IT_IS = contextlib.nullcontext()


@dataclass
class _Side:
    """A target of the text before or after the edit, and what made it."""

    target: BuiltTarget
    builder: TargetBuilder


class _Witness:
    """The function that an expression of the text before the edit is wrapped in; it gives back what it is given.

    It takes note only while the two texts are compared: before that, the same code may run without any values.
    """

    def __init__(self, name: str, *, condition: bool) -> None:
        self._name, self.condition = name, condition
        self._watching = False
        self.ran = not name
        self.ways: set[bool] = set()

    def __call__(self, value: Any) -> Any:
        """Notes a value and gives it back."""
        if self._watching:
            self.ran = True
            if self.condition:
                self.ways.add(bool(value))
        return value

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Code may call it by its name."""
        if self._name:
            setattr(builtins, self._name, self)
        try:
            yield
        finally:
            if self._name:
                delattr(builtins, self._name)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Takes note from now on, of what happens inside alone."""
        self._watching, self.ran, self.ways = True, not self._name, set()
        try:
            yield
        finally:
            self._watching = False


def perform(request: JobRequest, emit: Callable[[Event], None]) -> None:
    """Compares every target that is meant, as `request.task`, a `SameResultsTask`, says; answers with `SameResults`."""
    before: dict[str, _Side] = {}
    task = request.task
    assert isinstance(task, SameResultsTask)
    witness = _Witness(task.witness, condition=task.condition)
    ends: list[Event] = []

    def keep(opened: OpenFile, candidate: Candidate) -> list[Finding]:
        seed_everything(_SEED)
        target = opened.real(candidate)
        if isinstance(target, str):
            opened.emit(Answered(candidate.name, SameResults(None, target)))
        else:
            before[candidate.name] = _Side(target, opened.builder)
        return []

    def compare(opened: OpenFile, candidate: Candidate) -> list[Finding]:
        if candidate.name not in before:
            return []
        seed_everything(_SEED)
        target = opened.real(candidate)
        if isinstance(target, str):
            opened.emit(Answered(candidate.name, SameResults(None, target)))
            return []
        both = before[candidate.name], _Side(target, opened.builder)
        with witness.watching():
            answer = _Pairing(*both).compared(witness)
        opened.emit(Answered(candidate.name, answer))
        return []

    def forward(event: Event) -> None:
        (ends.append if isinstance(event, Finished) else emit)(event)

    with witness.installed():
        on_targets(request, forward, keep)
        on_targets(replace(request, text=task.edited), forward, compare)
    emit(ends[-1])


class _Pairing:
    """A target before and after the edit."""

    def __init__(self, before: _Side, after: _Side) -> None:
        self._before, self._after = before, after
        _share_weights(before.target.module, after.target.module)
        tensors = list(tensors_of((before.target.args, before.target.kwargs)))
        module = before.target.module
        self._drawn = drawn_dtype([*tensors, *([] if module is None else module.parameters())])

    def compared(self, seen: _Witness) -> SameResults:
        """Runs both until they differ, or everything has been tried that there is time for."""
        started = time.monotonic()
        runs, raised = 0, ""
        for training in self._modes():
            for change in (*_INPUTS, *(_FAR_INPUTS if seen.condition else ())):
                if runs and time.monotonic() - started > _BUDGET_SECONDS:
                    break
                why, complaint = self._differ(change, training)
                raised = raised or complaint
                if why:
                    return SameResults(False, why, runs + 1, seen.ran, sorted(seen.ways))
                runs += not complaint
        if not runs:
            return SameResults(None, f"the text before the edit raises: {raised}")
        return SameResults(True, "", runs, seen.ran, sorted(seen.ways))

    def _modes(self) -> list[bool]:
        """The target's own mode first; the other one too, where there is a module that can have it."""
        own = self._before.target.training
        return [own] if self._before.target.module is None else [own, not own]

    def _differ(self, change: Callable[[torch.Tensor], torch.Tensor], training: bool) -> tuple[str, str]:
        """Why the two differ on changed inputs ("" where they do not), and what kept them from being compared."""
        before = _changed(self._before.target, change, training)
        after = replace(_changed(self._after.target, change, training), args=before.args, kwargs=before.kwargs)
        reference = self._run(self._before, before)
        if stopped_early(reference):
            return "", reference.complaint
        actual = self._run(self._after, after)
        if actual.error is not None and reference.error is None:
            return f"the edited text raises: {actual.complaint}", ""
        if (written := _written(self._after.target, actual, reference)) is not None:
            return f"the edited text writes to `{written}`, which the text before it makes anew", ""
        common = reference.buffers.keys() & actual.buffers.keys()
        for ran in (reference, actual):
            ran.buffers = {name: buffer for name, buffer in ran.buffers.items() if name in common}
        found = [
            *pairs(reference.outputs, actual.outputs, "output"),
            *updated_inputs(before, reference, actual),
            *updated_buffers(before, reference, actual),
            *(gradient_pairs(reference, actual) if reference.error is None else ()),
        ]
        if all(not pair.problem and _identical(pair) for pair in found):
            return "", ""  # the usual case, which needs no measure
        exact = self._run(self._before, before, precisely(before.module, self._drawn), to_precise)
        anchors = Anchors(exact=_known(exact), moved=lambda count: self._moved(before, count))
        again = self._run(self._before, before)
        if not all(same(one.reference, one.actual) for one in pairs(reference.outputs, again.outputs, "")):
            anchors.repeated = values(again)
        verdict, why = overall(judge_pairs(found, anchors, ComparisonConfig()), "the text before the edit", None)
        # Another way to say the same rounds otherwise; what is merely suspicious in a backend is no more than that.
        return (why if verdict in (Verdict.WRONG, Verdict.FAILED) else ""), ""

    def _moved(self, target: BuiltTarget, count: int) -> list[Values]:
        """What the text before the edit gives where every operation rounds a little differently."""
        rans = [self._run(self._before, target, Perturbation(0.0, number + 1)) for number in range(count)]
        return [_known(ran) for ran in rans]

    def _run(
        self,
        side: _Side,
        target: BuiltTarget,
        mode: contextlib.AbstractContextManager[Any] | None = None,
        prepare: Callable[[torch.Tensor], torch.Tensor] | None = None,
    ) -> SideRun:
        state = RunState(target, parameters=True)
        if target.module is not None and target.module.training != target.training:
            target.module.train(target.training)
        try:
            with side.builder.eagerly() if mode is not None else side.builder.as_written(), mode or _AS_IT_IS:
                gradients = target.gradients
                return run_side(target, target.function, seed=_SEED, gradients=gradients, prepare=prepare)
        finally:
            state.finish()


def _identical(pair: Pair) -> bool:
    """Whether both sides are tensors that are equal to the last bit."""
    tensors = isinstance(pair.reference, torch.Tensor) and isinstance(pair.actual, torch.Tensor)
    return tensors and same(pair.reference, pair.actual)


def _known(ran: SideRun) -> Values:
    return {} if ran.error is not None else values(ran)


def _written(target: BuiltTarget, ran: SideRun, other: SideRun) -> str | None:
    """A buffer that only this side has, and that the run has changed; the target's own has been put back."""
    own = {} if target.module is None else dict(target.module.named_buffers())
    fresh = [name for name in ran.buffers if name not in other.buffers and name in own]
    return next((name for name in fresh if not same(ran.buffers[name], own[name])), None)


def _changed(target: BuiltTarget, change: Callable[[torch.Tensor], torch.Tensor], training: bool) -> BuiltTarget:
    def changed(tensor: torch.Tensor) -> torch.Tensor:
        if not tensor.is_floating_point():
            return tensor
        return change(tensor.detach()).requires_grad_(tensor.requires_grad)

    args, kwargs = mapped((target.args, target.kwargs), changed)
    return replace(target, args=args, kwargs=kwargs, training=training)


def _share_weights(before: torch.nn.Module | None, after: torch.nn.Module | None) -> None:
    """Gives the edited module the weights of the one before, as far as both have them."""
    if before is None or after is None:
        return
    known = dict([*before.named_parameters(), *before.named_buffers()])
    with torch.no_grad():
        for name, tensor in [*after.named_parameters(), *after.named_buffers()]:
            other = known.get(name)
            if other is not None and other.shape == tensor.shape:
                tensor.copy_(other)
