"""A look at the custom autograd functions that a target calls: each one's gradients beside its derivative.

The target runs once to see which it calls, and each of them again on small real tensors. Functions of libraries are
theirs to test.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from inductor_debug_schema import Finding, Stage, StageReport, StageState

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.gradients.derivatives import UncheckableError, judge
from inductor_debug.capture.gradients.function_calls import FunctionCall, function_calls
from inductor_debug.capture.gradients.function_findings import gradient_finding, kept_findings
from inductor_debug.capture.running.modules import Snapshot
from inductor_debug.capture.running.stage_results import StageOutcome
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.capture.stages.preview import run_preview
from inductor_debug.capture.tensors.fake_mode import without_modes
from inductor_debug.rules.recording.ops import Recording
from inductor_debug.system.torch_names import refuse


@dataclass
class LookedAt:
    """What came of the functions of one run, which `ended` or raised; `notes` say how many, and which cannot be."""

    ended: bool
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def run_gradients(target: BuiltTarget, sources: SourceMap) -> StageOutcome:
    """Runs `target`, and checks each function of the project's that it calls; what it raises other stages tell."""
    seen = functions_of(target, sources)
    report = StageReport(Stage.GRADIENTS, StageState.DONE if seen.ended else StageState.FAILED, 0.0, notes=seen.notes)
    return StageOutcome(Recording(), report, seen.findings, retry_real=False)


def run_preview_with_contexts(target: BuiltTarget, sources: SourceMap) -> StageOutcome:
    """The preview, which sees on its way what the functions that it calls keep on their contexts."""
    with function_calls(_of_project(sources), sized=False) as calls:
        outcome = run_preview(target, sources)
    kept = [finding for call in calls for finding in kept_findings(call, target, sources, Stage.PREVIEW)]
    return replace(outcome, findings=[*outcome.findings, *kept])


def functions_of(target: BuiltTarget, sources: SourceMap) -> LookedAt:
    """Runs `target` once, and checks each function of the project's that gradients flow through."""
    snapshot = Snapshot(target)
    ended = True
    with quiet(), target.fake_mode or contextlib.nullcontext(), function_calls(_of_project(sources)) as calls:
        try:
            with torch.enable_grad(), torch.compiler.set_stance("force_eager"):
                target.function(*target.args, **target.kwargs)
        except (Exception, SystemExit) as error:
            refuse(error)
            ended = False
    snapshot.restore()
    seen = LookedAt(ended, notes=[f"Gradients of {len(calls)} custom autograd functions were looked at."])
    for call in calls:
        seen.findings += kept_findings(call, target, sources, Stage.GRADIENTS)
        try:
            seen.findings += _of_gradients(call, target, sources)
        except UncheckableError as error:
            seen.notes.append(f"The gradients of {call.function.__name__} could not be checked: {error}.")
    return seen


def _of_project(sources: SourceMap) -> Callable[[type], bool]:
    def own(function: type) -> bool:
        code = foreign.code_of(foreign.attribute(function, "backward"))
        return code is not None and sources.in_project(code.co_filename)

    return own


def _of_gradients(call: FunctionCall, target: BuiltTarget, sources: SourceMap) -> list[Finding]:
    with quiet(), without_modes(), torch.enable_grad():
        judged = judge(call)
    return [gradient_finding(call, each, target, sources) for each in judged]
