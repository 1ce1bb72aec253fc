"""The wire: every type that crosses a process border of inductor-debug, as plain dataclasses.

The daemon, its workers and (through generated code) the editor agree on these and on nothing else. The package uses
only the standard library, because workers load it inside the user's own interpreter.
"""

from inductor_debug_schema.codec import WireError, from_wire, to_wire
from inductor_debug_schema.editor import AnalysisNotification
from inductor_debug_schema.expressions import DeviceLayout, ExpressionFact, ExpressionsSeen, TensorFact
from inductor_debug_schema.findings import (
    FileReport,
    FileStatus,
    Finding,
    Inferred,
    Severity,
    Stage,
    StageReport,
    StageState,
    TargetReport,
)
from inductor_debug_schema.jobs import (
    EVENT_TYPES,
    Event,
    Finished,
    JobRequest,
    Loaded,
    StageFinished,
    StageStarted,
    TargetFound,
    TargetSetting,
)
from inductor_debug_schema.positions import Location, Position, Range, Related

__all__ = [
    "EVENT_TYPES",
    "AnalysisNotification",
    "DeviceLayout",
    "Event",
    "ExpressionFact",
    "ExpressionsSeen",
    "FileReport",
    "FileStatus",
    "Finding",
    "Finished",
    "Inferred",
    "JobRequest",
    "Loaded",
    "Location",
    "Position",
    "Range",
    "Related",
    "Severity",
    "Stage",
    "StageFinished",
    "StageReport",
    "StageStarted",
    "StageState",
    "TargetFound",
    "TargetReport",
    "TargetSetting",
    "TensorFact",
    "WireError",
    "from_wire",
    "to_wire",
]
