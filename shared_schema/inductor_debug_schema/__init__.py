"""The wire: every type that crosses a process border of inductor-debug, as plain dataclasses.

The daemon, its workers and (through generated code) the editor agree on these and on nothing else. The package uses
only the standard library, because workers load it inside the user's own interpreter.
"""

from inductor_debug_schema.artifacts import ArtifactKind, ArtifactReference
from inductor_debug_schema.codec import WireError, from_wire, to_wire
from inductor_debug_schema.editor import AnalysisNotification
from inductor_debug_schema.expressions import DeviceLayout, ExpressionFact, ExpressionsSeen, TensorFact
from inductor_debug_schema.findings import (
    Checked,
    FileReport,
    FileStatus,
    Finding,
    Inferred,
    Severity,
    Shortfall,
    Stage,
    StageReport,
    StageState,
    TargetReport,
)
from inductor_debug_schema.graphs import (
    Graph,
    GraphDocument,
    GraphKind,
    GraphNode,
    Kernel,
    LinePlace,
    Listing,
    NodeRole,
)
from inductor_debug_schema.jobs import (
    EVENT_TYPES,
    Answered,
    ArtifactMade,
    Event,
    Finished,
    InferenceHint,
    JobRequest,
    Loaded,
    PartlyAnswered,
    Progressed,
    StageFinished,
    StageStarted,
    TargetFound,
    TargetSetting,
    Task,
)
from inductor_debug_schema.positions import Location, Position, Range, Related, place_fields

__all__ = [
    "EVENT_TYPES",
    "AnalysisNotification",
    "Answered",
    "ArtifactKind",
    "ArtifactMade",
    "ArtifactReference",
    "DeviceLayout",
    "Event",
    "ExpressionFact",
    "ExpressionsSeen",
    "Checked",
    "FileReport",
    "FileStatus",
    "Finding",
    "Finished",
    "Graph",
    "GraphDocument",
    "GraphKind",
    "GraphNode",
    "InferenceHint",
    "Inferred",
    "JobRequest",
    "Kernel",
    "LinePlace",
    "Listing",
    "Loaded",
    "Location",
    "NodeRole",
    "Position",
    "PartlyAnswered",
    "Progressed",
    "Range",
    "Related",
    "Severity",
    "Shortfall",
    "Stage",
    "StageFinished",
    "StageReport",
    "StageStarted",
    "StageState",
    "TargetFound",
    "TargetReport",
    "TargetSetting",
    "Task",
    "TensorFact",
    "WireError",
    "from_wire",
    "place_fields",
    "to_wire",
]
