"""The statistics and the costs of a stage as artifacts, beside its graphs."""

from __future__ import annotations

import json

from inductor_debug_schema import ArtifactKind, ArtifactMade, to_wire
from inductor_debug_schema.answers.cost_document import CostDocument
from inductor_debug_schema.answers.statistics_document import StatisticsDocument


def statistics_artifact(document: StatisticsDocument) -> ArtifactMade:
    """`rules.recording.statistics` of one stage of one target, as a JSON file."""
    return _artifact("statistics", document)


def cost_artifact(document: CostDocument) -> ArtifactMade:
    """What a stage of a target costs at least, as a JSON file."""
    return _artifact("costs", document)


def _artifact(title: str, document: StatisticsDocument | CostDocument) -> ArtifactMade:
    content = json.dumps(to_wire(document), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return ArtifactMade(
        ArtifactKind.STATISTICS, title, ".json", "application/json", content, document.target, document.stage
    )
