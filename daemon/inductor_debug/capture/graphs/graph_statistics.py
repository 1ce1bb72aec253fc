"""The statistics and the costs of a stage as artifacts, beside its graphs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from inductor_debug_schema import ArtifactKind, ArtifactMade, Stage, to_wire
from inductor_debug_schema.answers.cost_document import CostDocument
from inductor_debug_schema.answers.statistics_document import StatisticsDocument

from inductor_debug.rules.recording.ops import Recording
from inductor_debug.rules.recording.statistics import KernelCost, statistics_of


def statistics_artifact(
    recording: Recording, *, target: str, stage: Stage, path: str, kernels: Sequence[KernelCost] | None = None
) -> ArtifactMade:
    """`rules.recording.statistics` of one stage of one target of the file at `path`, as a JSON file."""
    return _artifact("statistics", statistics_of(recording, target=target, stage=stage, path=path, kernels=kernels))


def cost_artifact(document: CostDocument) -> ArtifactMade:
    """What a stage of a target costs at least, as a JSON file."""
    return _artifact("costs", document)


def _artifact(title: str, document: StatisticsDocument | CostDocument) -> ArtifactMade:
    content = json.dumps(to_wire(document), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return ArtifactMade(
        ArtifactKind.STATISTICS, title, ".json", "application/json", content, document.target, document.stage
    )
