"""Artifacts: files that the daemon wrote, and the references to them that travel in messages.

The kinds are the folders of the artifact store (`inductor_debug.artifacts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ArtifactKind(str, Enum):
    """What an artifact is; also the name of its folder."""

    FX_GRAPHS = "fx_graphs"
    """Graphs that Dynamo captured."""
    AOT_GRAPHS = "aot_graphs"
    """Joint, forward and backward graphs."""
    INDUCTOR_IR = "inductor_ir"
    """Post-grad graphs and Inductor's IR."""
    INDUCTOR_KERNELS = "inductor_kernels"
    """Kernel sources and wrappers."""
    STATISTICS = "statistics"
    """Op counts, bytes, FLOPs and peak memory of graphs; guards."""
    REPROS = "repros"
    """Minimal reproducers."""
    VISUALIZATIONS = "visualizations"
    """Pictures."""
    REPORTS = "reports"
    """Reports: KernelDiff, bisection, HTML."""


@dataclass(frozen=True, slots=True)
class ArtifactReference:
    """An artifact as commands and reports name it: an absolute path, its size in bytes and its media type."""

    kind: ArtifactKind
    path: str
    bytes: int
    media_type: str
