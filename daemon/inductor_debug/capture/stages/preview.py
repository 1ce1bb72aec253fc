"""The first look at a target: run it once, eagerly, and record every operation that reaches the device.

On fake tensors this is ten to forty times faster than a Dynamo trace, and it also sees the code that a graph break
would hide from one. It judges nothing, compiles nothing, and leaves the target as it found it.
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from inductor_debug_schema import Finding, Stage, StageReport, StageState

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.conflict_facts import conflict_facts
from inductor_debug.capture.failures.failed_calls import CallWatch, MixedDtypesError
from inductor_debug.capture.failures.failures import (
    Fault,
    capture_error,
    classify,
    fell_short,
    frames_of_error,
    innermost,
    places_of,
    with_conflict,
    with_refusal,
    with_refused_division,
    with_unknown_name,
    with_wrong_call,
)
from inductor_debug.capture.failures.fractional_sizes import refused_division
from inductor_debug.capture.failures.misspellings import unknown_name
from inductor_debug.capture.failures.overwritten_tensors import Overwritten, overwritten_findings, overwritten_in
from inductor_debug.capture.failures.wrong_calls.binding import wrong_call
from inductor_debug.capture.running.dynamic_inputs import InputSymbols, symbolic_arguments
from inductor_debug.capture.running.instruction_watching import instructions_of
from inductor_debug.capture.running.module_calls import CallLog
from inductor_debug.capture.running.modules import ModulePath, Snapshot
from inductor_debug.capture.running.origins import OriginTable
from inductor_debug.capture.running.raising import Raising, counting, raising_of
from inductor_debug.capture.running.stage_results import StageEnding, StageOutcome
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.capture.tensors.host_reads import watched_host_reads
from inductor_debug.capture.tensors.recorder import Recorder, StackAttribution, UntracedRecorder
from inductor_debug.rules.recording.ops import Frame
from inductor_debug.system.torch_names import refuse

__all__ = ["StageOutcome", "run_preview"]

_REFUSALS = (RuntimeError, IndexError, ValueError, TypeError, AssertionError)
"""What torch raises at calls that it refuses."""


def run_preview(target: BuiltTarget, sources: SourceMap, symbols: InputSymbols | None = None) -> StageOutcome:
    """Runs `target` once under the recorder.

    An exception that real tensors would raise too becomes a `capture-error`. One that only fake tensors raise (a value
    was looked at, an operator cannot be imitated) leaves a note and asks for `retry_real`; what ran before stays
    recorded. Of sizes that are not known `symbols` tells what became.
    """
    with instructions_of(target.location.path) as ran:
        overwritten: list[Overwritten] = []
        recorder, error = _run(
            target, sources, contextlib.nullcontext(), watched=True, symbols=symbols, overwritten=overwritten
        )
    if isinstance(error, RecursionError):
        # Whoever watches needs the stack, too: only a run without shows where the code itself came to its end.
        ran = None
        recorder, error = _run(target, sources, contextlib.nullcontext(), watched=True, symbols=symbols)
    ending = _explain(error, recorder, target, sources)
    report = StageReport(
        stage=Stage.PREVIEW,
        state=StageState.DONE if error is None else StageState.FAILED,
        seconds=0.0,
        ops=len(recorder.recording.ops),
        notes=ending.notes,
        shortfall=ending.shortfall,
        at=ending.at,
    )
    unfinished = frozenset() if error is None else places_of(frames_of_error(error, sources))
    findings = [*ending.findings, *overwritten_findings(overwritten, target, sources)]
    raising = None if error is None else raising_of(error.__traceback__, sources.in_project)
    return StageOutcome(
        recorder.recording, report, findings, ending.retry_real, unfinished=unfinished, ran=ran, raising=raising
    )


def times_until_raised(raising: Raising, target: BuiltTarget, sources: SourceMap) -> int:
    """How often an eager run of the target begins the instruction that raises; 0 where nobody can say.

    Another run is taken for it, which has to end at the same place.
    """
    with counting(raising) as counted:
        _, error = _run(target, sources, contextlib.nullcontext())
    again = None if error is None else raising_of(error.__traceback__, sources.in_project)
    return counted.times if counted.watched and again == raising else 0


def _run(
    target: BuiltTarget,
    sources: SourceMap,
    watch: contextlib.AbstractContextManager[Any],
    *,
    watched: bool = False,
    sized: bool = False,
    symbols: InputSymbols | None = None,
    overwritten: list[Overwritten] | None = None,
) -> tuple[Recorder, BaseException | None]:
    """Runs the target once, leaves it as it was, and gives what was recorded and raised.

    With `watched` the recording says of calls and lifetimes, too. With `sized` dynamic sizes are the numbers of the
    example, which is several times faster than symbols. Of a target in training `overwritten` is given what it writes
    over that its backward needs.
    """
    snapshot = Snapshot(target)
    origins = OriginTable.of_target(target)
    path = ModulePath(target.module)
    attribution = StackAttribution(lambda frame: sources.stack(frame, _call.__code__), path.current)
    recorder = UntracedRecorder(attribution, origins, watched=watched)
    reads = watched_host_reads(recorder) if watched else contextlib.nullcontext()
    log = CallLog(recorder, lambda frame: sources.stack(frame, _call.__code__)) if watched else None
    error: BaseException | None = None
    ambient = target.fake_mode or contextlib.nullcontext()
    given = contextlib.nullcontext(target.calls[0]) if sized else symbolic_arguments(target, origins, symbols)
    with quiet(freeze=target.fake_mode is not None) as held, ambient, given as (args, kwargs):
        try:
            # What the user's own code compiles runs eagerly, for the recorder sees nothing of compiled kernels.
            with path.follow(log), torch.compiler.set_stance("force_eager"), reads, recorder, watch:
                result = _call(target.function, args, kwargs)
            if overwritten is not None and target.training:
                overwritten += overwritten_in(result, recorder.recording)
        except (Exception, SystemExit) as raised:
            refuse(raised)
            error, held.freeze = raised, False
        snapshot.restore()
    return recorder, error


def _call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The outermost frame of every recorded stack: frames from here outwards are ours."""
    return function(*args, **kwargs)


def _explain(error: BaseException | None, recorder: Recorder, target: BuiltTarget, sources: SourceMap) -> StageEnding:
    if error is None:
        return StageEnding([])
    frames: tuple[Frame, ...] = frames_of_error(error, sources)
    fault, message = classify(error, recorder.failed, fake=target.fake_mode is not None)
    if fault is Fault.USER:
        finding = capture_error(message, frames, target, Stage.PREVIEW)
        return StageEnding([_told_by_facts(finding, error, frames, target, sources)])
    return fell_short(fault, message, frames, [])


def _told_by_facts(
    finding: Finding, error: BaseException, frames: tuple[Frame, ...], target: BuiltTarget, sources: SourceMap
) -> Finding:
    """The finding in the user's own terms, where it is understood; a second run, watched, tells of contradictions."""
    if (refused_deed := with_refusal(finding, error)) is not finding:
        return refused_deed
    missing = unknown_name(error)
    if missing is not None:
        return with_unknown_name(finding, missing)
    refused = wrong_call(error, sources)
    if refused is not None:
        return with_wrong_call(finding, refused)
    division = refused_division(error)
    if division is not None:
        return with_refused_division(finding, division, sources)
    if not isinstance(error, _REFUSALS):
        return finding
    recorder, again = _run(target, sources, CallWatch())
    if type(again) is not type(error) or frames_of_error(again, sources) != frames:
        return finding
    facts = conflict_facts(again, recorder, target, sources)
    return finding if facts is None else with_conflict(finding, facts)


def mixed_dtypes_retold(findings: list[Finding], target: BuiltTarget, sources: SourceMap) -> list[Finding]:
    """Of a preview's findings the first that is about dtypes which may not be mixed, in the user's own terms."""
    recorder, error = _run(target, sources, CallWatch(strict=True), sized=True)  # dtypes ask for no sizes
    facts = conflict_facts(error, recorder, target, sources) if isinstance(error, MixedDtypesError) else None
    frames = () if error is None else frames_of_error(error, sources)
    index = innermost(frames)
    if facts is None or index is None:
        return []
    place = frames[index].location
    return [
        with_conflict(finding, facts)
        for finding in findings
        if finding.rule == "mixed-dtypes" and (finding.path, finding.range) == (place.path, place.range)
    ]
