"""When a session looks at guards: where several sets of inputs are listed, or where it was asked to."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from inductor_debug_schema import ArtifactKind, ArtifactMade, Finding, JobRequest, Recompilation, Stage, StageState

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.guards.guards import run_guards
from inductor_debug.capture.running.stage_results import StageOutcome
from inductor_debug.capture.running.target import BuiltTarget

TITLE = "guards"
"""That of the artifact that holds them."""


def with_guards(
    outcome: StageOutcome,
    target: BuiltTarget,
    sources: SourceMap,
    request: JobRequest,
    around: Callable[[], AbstractContextManager[Any]],
) -> StageOutcome:
    """`outcome` of the mock stage with what guards tell: `recompile` and `eager-fallback` findings, and a report.

    Where nobody wants it, the stage failed, or every call is like the first, it is `outcome` itself. A target that
    leaves changes behind is called again as it was, and only what compiles it again for that is told. So it is of
    inferred inputs, because nobody would call the target with just those.
    """
    wanted = request.keep_guards
    listed = wanted or bool(target.more) or target.called_otherwise
    if outcome.report.state is not StageState.DONE or not (listed or outcome.leaves_changes):
        return outcome
    with around():
        guards = run_guards(target, sources, target.more)
    known = {(finding.rule, finding.path, finding.range) for finding in outcome.findings}
    fresh = [finding for finding in guards.findings if (finding.rule, finding.path, finding.range) not in known]
    # What runs eagerly for a break is told with the break.
    breaks = [finding for finding in outcome.findings if finding.rule == "graph-break"]
    beside = {(related.path, related.range) for finding in breaks for related in finding.related}
    fresh = [
        finding for finding in fresh if finding.rule != "eager-fallback" or (finding.path, finding.range) not in beside
    ]
    if target.inference is not None or not listed:
        fresh = [finding for finding in fresh if _is_of_state(finding)]
    report = guards.report
    note = (
        f"{len(report.graphs)} graphs with {report.calls} operations were compiled over {report.sets} calls, "
        f"{len(report.recompiles)} of them again."
    )
    return replace(
        outcome,
        report=replace(outcome.report, notes=[*outcome.report.notes, *([note] if listed else [])]),
        findings=[*outcome.findings, *fresh],
        extras=[_artifact(report.to_dict(), target, request)] if wanted or (listed and request.keep_graphs) else [],
    )


def _is_of_state(finding: Finding) -> bool:
    """Whether code is compiled again for what its own calls change, whatever they are given."""
    return isinstance(finding.facts, Recompilation) and finding.facts.state is not None


def _artifact(document: dict[str, Any], target: BuiltTarget, request: JobRequest) -> ArtifactMade:
    content = json.dumps({**document, "path": request.path}, indent=1).encode()
    return ArtifactMade(ArtifactKind.STATISTICS, TITLE, ".json", "application/json", content, target.name, Stage.MOCK)
