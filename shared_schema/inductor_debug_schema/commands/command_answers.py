"""What commands answer that carry out no order: checks, pages of rules, bug reports, and pieces of what is to come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from inductor_debug_schema.artifacts import ArtifactReference
from inductor_debug_schema.findings import FileStatus
from inductor_debug_schema.jobs import AnswerPiece
from inductor_debug_schema.kernel_builds import KernelBuild


@dataclass(frozen=True, kw_only=True)
class CheckAnswer:
    """`inductorDebug.check`: the analysis of a file in numbers; its findings are diagnostics.

    `version` is None for a file that is not open, `generation` counts its analyses. `state` is as in
    `AnalysisNotification`. `cells` has, for a notebook, the number of each code cell and the line at which it begins in
    the text of all of them, which is what findings count in.
    """

    uri: str
    version: Union[int, None]
    generation: int
    state: str
    seconds: float
    status: FileStatus
    findings: int
    errors: int
    warnings: int
    artifacts: list[ArtifactReference] = field(default_factory=list)
    cells: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class WorkspaceAnswer:
    """`inductorDebug.checkWorkspace`: all checks in numbers; `not_opened_why` says in words what was left out."""

    files: int
    files_with_findings: int
    findings: int
    errors: int
    warnings: int
    not_opened: int
    not_opened_why: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ImportedCompile:
    """One compile that was imported, by its `name`; `artifacts` are its graphs, `notes` what to know of them."""

    name: str
    artifacts: list[ArtifactReference]
    notes: list[str]


@dataclass(frozen=True, kw_only=True)
class ImportAnswer:
    """`inductorDebug.importArtifacts`: the compiles that were read, and in sentences which files were not understood.

    `reason` says why there are none.
    """

    uri: str
    compiles: list[ImportedCompile]
    unread: list[str]
    reason: Union[str, None] = None


@dataclass(frozen=True, kw_only=True)
class RulePage:
    """`inductorDebug.explain`: the page of a rule."""

    rule: str
    markdown: str


@dataclass(frozen=True, slots=True)
class BugReportFile:
    """A file of a bug report; `about` says in a few words what it is."""

    name: str
    bytes: int
    about: str


@dataclass(frozen=True, kw_only=True)
class GatheredBugReport:
    """`inductorDebug.bugReport`: what would be written, of which nothing is on the disk yet.

    `body` is the text of the issue, Markdown. `missing` says what could not be had, `redacted` how often what was taken
    out of the texts.
    """

    id: str
    title: str
    body: str
    files: list[BugReportFile]
    missing: list[str]
    redacted: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class WrittenBugReport:
    """`inductorDebug.bugReport`: the archive that was written."""

    path: str
    bytes: int


@dataclass(frozen=True, kw_only=True)
class PartialResult:
    """What has been added to the answer about a target while it is made: a value of LSP's `partialResultToken`.

    `page` is the page of all pieces so far, for who has asked for one.
    """

    target: str
    document: Union[AnswerPiece, KernelBuild]
    page: Union[str, None] = None
