"""Asks `torch.export` whether it takes a target: every expression that it stops at, and what sizes became."""

from __future__ import annotations

import json

from inductor_debug_schema import ArtifactKind, ArtifactMade, Stage, StageReport, StageState, to_wire
from inductor_debug_schema.answers.formats_document import FormatsDocument
from inductor_debug_schema.answers.shapes_document import ShapesDocument
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from inductor_debug.capture.export.asked_export import asked_findings
from inductor_debug.capture.export.export_findings import format_findings, stopped, strict_alone, undecided_findings
from inductor_debug.capture.export.export_run import ExportAttempt, exported
from inductor_debug.capture.export.exported_graph import exported_document
from inductor_debug.capture.export.format_rows import formats_document
from inductor_debug.capture.export.shape_rows import shapes_document
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.running.stage_results import StageOutcome
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.stages.preview import run_preview
from inductor_debug.rules.recording.ops import Recording

SHAPES = "shapes"
"""The title of the artifact that says what each size became."""
FORMATS = "formats"
"""The title of the artifact that says which formats take the program."""


def run_export(target: BuiltTarget, sources: SourceMap, *, formats: bool = False) -> StageOutcome:
    """Exports `target` as `torch.export.export` does by default, and then as `strict=True` does.

    Where a value decides, it is exported once more with answers made up, so that all such places are told at once.

    Args:
        target: what is exported.
        sources: turns places into expressions.
        formats: asks which formats take the program, too. Converting can take longer than the export.
    """
    plain = exported(target, sources)
    findings, further = [], plain
    if isinstance(plain.error, GuardOnDataDependentSymNode):
        further = exported(target, sources, go_on=True)
        findings = undecided_findings(further.events, target, sources)
    broken = plain.error is not None and not findings and _raises_anyway(target, sources)
    if plain.error is not None and not findings and not broken:
        findings = [stopped(plain, target, sources)]
    strict = exported(target, sources, strict=True)
    if strict.error is not None and not broken:
        findings += strict_alone(strict, findings, target, sources)
    if target.exported is not None:
        asked = asked_findings(target, sources)
        told = {(finding.path, finding.range) for finding in asked}
        findings = [*asked, *(finding for finding in findings if (finding.path, finding.range) not in told)]
    report = StageReport(
        Stage.EXPORT,
        StageState.DONE if plain.error is None else StageState.FAILED,
        0.0,
        graphs=int(plain.program is not None),
        notes=_notes(plain, strict),
    )
    kept = [_artifact(SHAPES, shapes_document(target, further, sources, plain.error), target)]
    # What was asked for by name is told without its graphs, too.
    extras = []
    if formats:
        verdicts = formats_document(target, plain, sources)
        findings += format_findings(verdicts, plain, target, sources)
        extras = [_artifact(FORMATS, verdicts, target)]
    return StageOutcome(
        Recording(),
        report,
        findings,
        retry_real=False,
        graphs=lambda facts: exported_document(target, plain, sources),
        kept=kept,
        extras=extras,
    )


def run_asked_export(target: BuiltTarget, sources: SourceMap) -> StageOutcome:
    """Exports a target as its file does, which nobody has asked any more of."""
    report = StageReport(Stage.EXPORT, StageState.DONE, 0.0)
    return StageOutcome(Recording(), report, asked_findings(target, sources), retry_real=False)


def _artifact(title: str, document: ShapesDocument | FormatsDocument, target: BuiltTarget) -> ArtifactMade:
    content = json.dumps(to_wire(document), indent=1).encode()
    return ArtifactMade(ArtifactKind.STATISTICS, title, ".json", "application/json", content, target.name, Stage.EXPORT)


def _raises_anyway(target: BuiltTarget, sources: SourceMap) -> bool:
    """Whether the code raises where nothing is exported, so that the preview tells of it."""
    return any(finding.rule == "capture-error" for finding in run_preview(target, sources).findings)


def _notes(plain: ExportAttempt, strict: ExportAttempt) -> list[str]:
    said = {True: "succeeds", False: "fails"}
    return [
        f"`torch.export.export` {said[plain.program is not None]} with strict=False, the default, "
        f"and {said[strict.program is not None]} with strict=True."
    ]
