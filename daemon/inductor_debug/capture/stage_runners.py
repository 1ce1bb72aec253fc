"""Who runs which stage: the one place that knows all of them. Runs none by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial

from inductor_debug_schema import JobRequest, Stage

from inductor_debug.accelerators.profile import Profile
from inductor_debug.capture.export.export_stage import run_asked_export, run_export
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.gpu_kernels.absent_gpu import absent_gpu_of, attention_on, why_no_kernels
from inductor_debug.capture.gpu_kernels.triton_compiling import READY
from inductor_debug.capture.gradients.gradient_stage import run_gradients, run_preview_with_contexts
from inductor_debug.capture.inductor.inductor_stage import run_inductor
from inductor_debug.capture.running.stage_results import StageOutcome
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.stages.aot import run_aot
from inductor_debug.capture.stages.mock import run_mock
from inductor_debug.capture.weightless.remembered_sizes import remembering_sizes

StageRunner = Callable[[BuiltTarget, SourceMap], StageOutcome]
_RUNNERS: dict[Stage, StageRunner] = {
    Stage.GRADIENTS: run_gradients,
}
_ON_FAKES: dict[Stage, StageRunner] = {Stage.PREVIEW: run_preview_with_contexts, Stage.MOCK: run_mock}
"""What runs operations, mostly on fake tensors."""
_HEAVY = {Stage.AOT: "torch._inductor.pattern_matcher", Stage.INDUCTOR: "torch._inductor.compile_fx"}
"""What the slower stages import of torch first, for about a second."""


def worth_having(stages: Sequence[Stage], profile: Profile) -> list[str]:
    """Modules that take long to import and that the next jobs of such a file will ask for.

    Who has chosen a GPU will look at its kernels: what these are made and compiled with is had before the first order.
    """
    asked = [*stages, Stage.INDUCTOR] if absent_gpu_of(profile) is not None else stages
    modules = [_HEAVY[stage] for stage in dict.fromkeys(asked) if stage in _HEAVY]
    return [*modules, READY] if asked is not stages else modules


def runner_for(stage: Stage, profile: Profile, request: JobRequest) -> StageRunner | None:
    """What runs a stage where a profile is chosen, as it is asked for; None where nothing does."""
    if stage is Stage.EXPORT:
        as_asked = stage not in request.stages
        return run_asked_export if as_asked else partial(run_export, formats=request.export_formats)
    texts = request.keep_graphs or request.show_graphs
    if stage in _ON_FAKES:
        return partial(_on_device, _ON_FAKES[stage], profile)
    if stage is Stage.AOT:
        return partial(run_aot, tracing=partial(attention_on, profile))
    if stage is Stage.INDUCTOR:
        return partial(run_inductor, gpu=absent_gpu_of(profile), remark=why_no_kernels(profile), texts=texts)
    return _RUNNERS.get(stage)


def _on_device(run: StageRunner, profile: Profile, target: BuiltTarget, sources: SourceMap) -> StageOutcome:
    with remembering_sizes(), attention_on(profile) if target.fake_mode is not None else nullcontext():
        return run(target, sources)


def asks_for_numbers(request: JobRequest, target: str) -> bool:
    """Whether sizes that are ours are to be numbers: what a run costs, or the kernels of a first call are wanted.

    Costs are the same for everybody who asks then, and torch.compile makes its first kernels for numbers, too. Symbols
    were also too much for the time that a target has.
    """
    return request.keep_costs or tuple(request.stages) == (Stage.INDUCTOR,) or target in request.fixed
