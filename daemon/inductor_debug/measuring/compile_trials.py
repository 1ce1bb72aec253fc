"""Tries what may make compiling a target faster whose layers are equal, and what that does to its results.

Each way is timed without weights in a process of its own. What it computes is compared where there is room for weights:
in one call with real tensors, forward and backward, through AOTAutograd and no kernels. What is offered is chosen by
`rules.words`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from inductor_debug_schema import (
    AlikeModules,
    CompileTimeDocument,
    CompileTrial,
    CompileTrials,
    CompileWay,
    Progressed,
    SameOutputs,
)

from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.capture.stages.aot import inference_only
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_task import OpenFile
from inductor_debug.kerneldiff.execution.run_state import RunState
from inductor_debug.kerneldiff.execution.side_runs import SideRun, run_side
from inductor_debug.kerneldiff.judging.sides import (
    gradient_pairs,
    output_pairs,
    same,
    updated_buffers,
    updated_inputs,
)
from inductor_debug.measuring.compile_ways import EqualLayers, compiled_in, equal_layers
from inductor_debug.measuring.own_process import NotMeasuredError, in_own_process, require_room
from inductor_debug.rules.words.compile_time_words import WAY_WORDS, code_of, is_offered, worth_trying

_BACKEND = "aot_eager"
"""Goes through all of a compiler that a way changes, and builds no kernels."""
_NO_LAYERS = "it has no equal layers: no class of modules that is more than one operation comes twice in a list"
_LITTLE = "its equal layers take {:.0%} of the work on its expressions, so there is little to gain"

Timed = Callable[[CompileWay], CompileTimeDocument]
"""Compiles the target in one way, in a process of its own."""


def tried(opened: OpenFile, candidate: Candidate, document: CompileTimeDocument, timed: Timed) -> CompileTrials:
    """All that was tried of a target that took what `document` says as it is."""
    if document.problem:
        return CompileTrials(layers=[], trials=[], why_not="it does not compile as it is")
    stacks = equal_layers(opened.fake(candidate).module)
    layers = _rows(stacks, document)
    if not layers:
        return CompileTrials(layers=[], trials=[], why_not=_NO_LAYERS)
    share = sum(row.seconds for row in layers) / (document.placed or 1.0)
    if not worth_trying(share):
        return CompileTrials(layers=layers, trials=[], why_not=_LITTLE.format(share))
    trials = [_trial(CompileWay.AS_IT_IS, document)]
    for way in (CompileWay.NESTED_REGIONS, CompileWay.EACH_LAYER):
        opened.emit(Progressed(f"{candidate.name}: compiling, {WAY_WORDS[way]}"))
        trials.append(_trial(way, timed(way)))
    before, each = trials[0], trials[-1]
    if each.graphs > max(before.graphs, len({stack.kind for stack in stacks})):
        # Layers of one class were compiled more than once, perhaps for their sizes.
        way = CompileWay.EACH_LAYER_DYNAMIC
        opened.emit(Progressed(f"{candidate.name}: compiling, {WAY_WORDS[way]}"))
        trials.append(_trial(way, timed(way)))
    trials = _compared(opened, candidate, trials)
    kinds = list(dict.fromkeys(row.kind for row in layers))
    return CompileTrials(
        layers=layers,
        trials=[
            dataclasses.replace(
                trial, code=code_of(trial.compile_way, kinds), offered=is_offered(trial, as_it_is=trials[0])
            )
            for trial in trials
        ],
    )


def _rows(stacks: list[EqualLayers], document: CompileTimeDocument) -> list[AlikeModules]:
    seconds = {row.module: row.seconds for row in document.modules}
    return [
        AlikeModules(
            pattern=stack.pattern,
            kind=stack.kind.__name__,
            count=len(stack.layers),
            seconds=round(sum(seconds.get(path, 0.0) for path in stack.layers), 6),
        )
        for stack in stacks
    ]


def _trial(way: CompileWay, document: CompileTimeDocument) -> CompileTrial:
    return CompileTrial(
        compile_way=way,
        seconds=document.seconds,
        graphs=document.graphs,
        operations=document.operations,
        problem=document.problem,
    )


def _compared(opened: OpenFile, candidate: Candidate, trials: list[CompileTrial]) -> list[CompileTrial]:
    """The trials with what they compute, beside the target as it is."""
    ways = [trial.compile_way for trial in trials[1:] if not trial.problem]
    if not ways:
        return trials
    try:
        require_room(opened, candidate, "a comparison of results")
        work = _Comparison(opened, ways).made
        found = in_own_process(opened, candidate, "results", "comparing what the ways compute", work)
    except NotMeasuredError as error:
        found = {way.value: (SameOutputs.NOT_COMPARED.value, str(error)) for way in ways}
    rows = []
    for trial in trials:
        said, difference = found.get(trial.compile_way.value, (trial.same.value, trial.difference))
        rows.append(dataclasses.replace(trial, same=SameOutputs(said), difference=difference))
    return rows


class _Comparison:
    """What a target computes in some ways, in this process."""

    def __init__(self, opened: OpenFile, ways: list[CompileWay]) -> None:
        self._opened, self._ways = opened, ways

    def made(self, target: BuiltTarget) -> dict[str, Any]:
        """For each way whether it computes the same, and the words for it."""
        state = RunState(target, parameters=True)
        before = self._compiled(target, state, CompileWay.AS_IT_IS)
        if before.error is not None:
            why = f"as it is, it raises: {before.complaint}"
            return {way.value: (SameOutputs.NOT_COMPARED.value, why) for way in self._ways}
        return {way.value: self._judged(target, state, before, way) for way in self._ways}

    def _judged(self, target: BuiltTarget, state: RunState, before: SideRun, way: CompileWay) -> tuple[str, str]:
        difference = _difference(target, before, self._compiled(target, state, way))
        if not difference:
            return SameOutputs.YES.value, ""
        if _difference(target, before, self._compiled(target, state, CompileWay.AS_IT_IS)):
            return SameOutputs.NOT_COMPARED.value, "two calls of it as it is differ already"
        return SameOutputs.NO.value, difference

    def _compiled(self, target: BuiltTarget, state: RunState, way: CompileWay) -> SideRun:
        torch._dynamo.reset()
        state.restore()
        gradients = target.gradients and not inference_only(target)
        with quiet(), self._opened.builder.traced(), compiled_in(way, target, _BACKEND) as function:
            ran = run_side(target, function, seed=0, gradients=gradients)
        state.restore()
        return ran


def _difference(target: BuiltTarget, reference: SideRun, actual: SideRun) -> str:
    """The first thing in which a run differs from one that came to its end, "" where there is none."""
    if actual.error is not None:
        return f"it raises: {actual.complaint}"
    found = [
        *output_pairs(reference, actual),
        *gradient_pairs(reference, actual),
        *updated_inputs(target, reference, actual),
        *updated_buffers(target, reference, actual),
    ]
    for pair in found:
        if pair.problem:
            return f"{pair.path}: {pair.problem}"
        if not same(pair.reference, pair.actual):
            return f"{pair.path} differs{_by(pair.reference, pair.actual)}"
    return ""


def _by(left: torch.Tensor, right: torch.Tensor) -> str:
    if left.shape != right.shape or not left.is_floating_point():
        return ""
    return f" by up to {float((left.double() - right.double()).abs().max()):.3g}"
