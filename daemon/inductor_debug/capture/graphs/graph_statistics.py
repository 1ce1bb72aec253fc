"""The statistics of a stage as an artifact, beside its graphs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from inductor_debug_schema import ArtifactKind, ArtifactMade, Stage, to_wire

from inductor_debug.rules.recording.ops import Recording
from inductor_debug.rules.recording.statistics import KernelCost, statistics_of


def statistics_artifact(
    recording: Recording, *, target: str, stage: Stage, path: str, kernels: Sequence[KernelCost] | None = None
) -> ArtifactMade:
    """`rules.recording.statistics` of one stage of one target of the file at `path`, as a JSON file."""
    document = statistics_of(recording, target=target, stage=stage, path=path, kernels=kernels)
    content = json.dumps(to_wire(document), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return ArtifactMade(ArtifactKind.STATISTICS, "statistics", ".json", "application/json", content, target, stage)
