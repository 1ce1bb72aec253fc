"""The `constraints` document: the findings of one file summed up by rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from inductor_debug_schema.findings import FileStatus, Severity, Stage
from inductor_debug_schema.positions import Range


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintPlace:
    """A finding, as much of it as a summary tells; `count` is how many ops it covers."""

    message: str
    path: str
    range: Range
    target: str
    stage: Stage
    op: Union[str, None]
    count: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintSummary:
    """The findings of one rule: how many, of how many ops, and the worst severity among them."""

    rule: str
    severity: Severity
    findings: int
    ops: int
    places: list[ConstraintPlace]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintsDocument:
    """One file, with absolute paths; `accelerator` is None where none is chosen. Most ops come first."""

    schema: int
    path: str
    status: FileStatus
    accelerator: Union[str, None]
    targets: list[str]
    rules: list[ConstraintSummary]
