"""What one run of `check` produced, and the few judgements that every report and the exit code share.

Counting, ordering and naming of files live here, so that all formats agree. Nothing is analysed or printed here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol

from inductor_debug_schema import (
    ArtifactReference,
    Checked,
    DiffDocument,
    DiffVerdict,
    FileReport,
    FileStatus,
    Finding,
    Severity,
    StageState,
    TargetReport,
)
from inductor_debug_schema.answers.guards_document import GuardsDocument

from inductor_debug.engine.selection.selection import Skip
from inductor_debug.report.cells import one_line
from inductor_debug.rules.amounts import counted

if TYPE_CHECKING:
    from inductor_debug.engine.fixes.fixed_files import FixedFile


class ExitCode(IntEnum):
    """How the command ends; CONTRACT fixes the first three."""

    CLEAN = 0
    """Nothing at or above the failing severity."""
    FINDINGS = 1
    """Something at or above the failing severity."""
    TROUBLE = 2
    """Bad usage or configuration, an unreadable path, a declared target that could not be analysed, or one that had to
    be checked and was not."""
    INTERRUPTED = 130
    """Ctrl-C, as shells report it."""


@dataclass(frozen=True, slots=True)
class Tool:
    """The versions a report names; `torch` and `python` are those of the interpreter that ran the models."""

    name: str
    version: str
    torch: str | None = None
    python: str | None = None


@dataclass(frozen=True, slots=True)
class MadeBeside:
    """What a run made of a file beside findings, where it was asked to.

    `guards` are those of its targets, `compared` what KernelDiff says of them, `kept` the files that were kept. `notes`
    say what could not be made or kept.
    """

    guards: tuple[GuardsDocument, ...] = ()
    compared: tuple[DiffDocument, ...] = ()
    kept: tuple[ArtifactReference, ...] = ()
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.guards or self.compared or self.kept or self.notes)


NOTHING_MADE = MadeBeside()


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """One file and what became of it.

    `shown` is the path as the user gave it (or the folder they gave, and the rest); `report.path` is absolute.
    `hidden` are findings that a baseline knows and that no report shows. `problem` says why the file could not be
    looked at, where the analysis itself has no finding for it. `required` says that no target may go unchecked.
    `fixed` is what fixes make of it, where they were asked for, and `made` what else was made beside the findings.
    """

    shown: str
    report: FileReport
    accelerator: str | None
    seconds: float = 0.0
    explicit: bool = False
    hidden: tuple[Finding, ...] = ()
    problem: str | None = None
    required: bool = False
    fixed: FixedFile | None = None
    made: MadeBeside = NOTHING_MADE

    @property
    def path(self) -> str:
        """The absolute path."""
        return self.report.path

    @property
    def findings(self) -> list[Finding]:
        """The findings to show, in reading order."""
        return sorted(self.report.findings, key=self._reading_order)

    def unanalysed(self) -> list[str]:
        """The targets that could not be analysed, or the file itself under the name "".

        A failure that a baseline knows is left out: that is what a baseline is for.
        """
        if self.problem is not None:
            return [""]
        if self.report.status is FileStatus.CRASHED and not self._met_a_limit:
            return [""]
        names = [target.name for target in self.report.targets if failed(target, stopped=self._met_a_limit)]
        if self._met_a_limit and not self.report.targets:
            names = [""]
        if self.report.status is FileStatus.FAILED and not names:
            names = [""]
        return [name for name in names if not self._is_known_failure(name)]

    def hinders(self) -> bool:
        """Whether the command could not do what it was asked for.

        A file of a folder that its own code keeps from being loaded is none that anybody asked for: the finding tells.
        """
        told = bool(self.report.findings) and all(
            _is_what_code_met(finding) for finding in self.report.findings if is_about_the_run(finding)
        )
        ended = self.report.status is FileStatus.FAILED or self._met_a_limit
        by_itself = not self.explicit and self.problem is None and ended
        if by_itself and told and not self.report.targets:
            return self.required
        return bool(self.unanalysed()) or (self.required and bool(self.unchecked()))

    def unchecked(self) -> list[str]:
        """The targets of which nothing was checked, but for what a baseline knows of."""
        names = [target.name for target in self.report.targets if target.checked is Checked.NO]
        return [name for name in names if not self._is_known_failure(name)]

    @property
    def ran(self) -> bool:
        """Whether anything in it was looked at."""
        return any(target.checked is not Checked.NO for target in self.report.targets)

    @property
    def _met_a_limit(self) -> bool:
        """Whether a limit that the settings set has ended it, which is no fault of the tool's."""
        limited = any(finding.rule in _LIMITS for finding in self.report.findings)
        return self.report.status is FileStatus.TIMEOUT or (self.report.status is FileStatus.CRASHED and limited)

    def _is_known_failure(self, target: str) -> bool:
        known = any(finding.target == target and is_about_the_run(finding) for finding in self.hidden)
        new = any(finding.target == target and is_about_the_run(finding) for finding in self.report.findings)
        return known and not new

    def _reading_order(self, finding: Finding) -> tuple[bool, str, int, int, int, str]:
        start = finding.range.start
        elsewhere = finding.path != self.path
        return elsewhere, finding.path, start.line, start.character, finding.severity.rank, finding.rule


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file of a folder that was passed over, named as in `CheckedFile`."""

    shown: str
    path: str
    skip: Skip


@dataclass(frozen=True, slots=True)
class BaselineUse:
    """What a baseline did to a run: findings it hid, findings it lists that are gone, and where it is."""

    path: str
    hidden: int
    fixed: int
    written: int | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A whole run; `failing` is the mildest severity that fails it."""

    files: tuple[CheckedFile, ...]
    tool: Tool
    seconds: float
    failing: Severity
    started: datetime
    baseline: BaselineUse | None = None
    skipped: tuple[SkippedFile, ...] = ()

    @property
    def accelerator(self) -> str | None:
        """The accelerator all files were checked for, None for no accelerator; several are joined by commas."""
        return ", ".join(dict.fromkeys(file.accelerator for file in self.files if file.accelerator)) or None

    def findings(self) -> list[tuple[CheckedFile, Finding]]:
        """Every finding to show with the first file that it was found through, file by file.

        What several files find in one that they import is one finding.
        """
        told = ToldBefore()
        every = ((file, finding) for file in self.files for finding in file.findings)
        return [(file, item) for file, item in every if told.first(item, file.shown) == file.shown]

    def count(self, severity: Severity) -> int:
        """How many findings have this severity."""
        return sum(finding.severity is severity for _, finding in self.findings())

    def exit_code(self) -> ExitCode:
        """How the command should end. What could not be analysed or compared outweighs what was found."""
        verdicts = {document.verdict for file in self.files for document in file.made.compared}
        if any(file.hinders() for file in self.files) or verdicts & {DiffVerdict.FAILED, None}:
            return ExitCode.TROUBLE
        if any(self.fails(finding) for _, finding in self.findings()) or verdicts - {DiffVerdict.PASS}:
            return ExitCode.FINDINGS
        return ExitCode.CLEAN

    def fails(self, finding: Finding) -> bool:
        """Whether the finding is at or above the failing severity."""
        return finding.severity.rank <= self.failing.rank


class ToldBefore:
    """Through which file each cause was told first, of what several files find in one that they import."""

    def __init__(self) -> None:
        self._files: dict[Hashable, str] = {}

    def first(self, finding: Finding, shown: str) -> str:
        """The file through which the cause of a finding was told first; `shown` where it is new."""
        places = [(finding.path, finding.range)]
        if finding.cause and finding.rule in _AT_ONE_PLACE:
            # Through another file the cause may show at a later one of its places alone.
            places += [(place.path, place.range) for place in finding.related]
        keys = [_told_as(finding, place) for place in places]
        file = next((self._files[key] for key in keys if key in self._files), shown)
        for key in keys:
            self._files.setdefault(key, file)
        return file


def _told_as(finding: Finding, place: Hashable) -> Hashable:
    """What findings of several files have in common that tell of one cause: the place, or the library that is missing.

    Where something is raised, or the graph is split, the words may name the inputs of each file's own classes.
    """
    lacking = finding.rule in _LACKING and finding.cause != ""
    message = None if finding.rule in _AT_ONE_PLACE else finding.message
    rule = None if lacking else finding.rule  # it is missed where it is imported and where it is used
    return rule, finding.severity, finding.cause, message, None if lacking else place


class Renderer(Protocol):
    """One output format. What both methods return goes to the output as it is."""

    def file(self, file: CheckedFile) -> str:
        """Called as soon as a file is done, in input order; formats that are one document return nothing."""
        ...

    def end(self, result: CheckResult) -> str:
        """Called once, after the last file."""
        ...


_LACKING = frozenset({"environment", "import-error"})
_AT_ONE_PLACE = frozenset({"capture-error", "environment", "graph-break", "import-error"})
_FAULTS_OF_THE_CODE = frozenset({"capture-error", "import-error", "syntax-error"})
_LIMITS = frozenset({"timeout", "out-of-memory"})
_FAULTS_OF_THE_RUN = frozenset(
    {"configuration", "crash", "environment", "internal-error", "out-of-memory", "timeout", "unreadable"}
)


def _is_what_code_met(finding: Finding) -> bool:
    """Whether it is the file's own code that failed, wanted what is refused or too much, or imported what is broken."""
    is_of_code = finding.rule in _FAULTS_OF_THE_CODE or finding.rule in _LIMITS
    return is_of_code or (finding.rule == "environment" and finding.cause != "")


def is_about_the_run(finding: Finding) -> bool:
    """Whether the finding says that something could not be analysed, rather than what is wrong on the accelerator."""
    return finding.rule in _FAULTS_OF_THE_CODE or may_pass(finding)


def may_pass(finding: Finding) -> bool:
    """Whether the finding tells how this one run ended, so that no baseline should ever know it."""
    return finding.rule in _FAULTS_OF_THE_RUN


def failed(target: TargetReport, *, stopped: bool = False) -> bool:
    """Whether no stage saw a target through that the user declared; of others findings and coverage say enough.

    Where its file was `stopped`, none may have begun.
    """
    states = {stage.state for stage in target.stages}
    began = stopped or StageState.FAILED in states
    return target.inferred is None and began and StageState.DONE not in states


def summary(result: CheckResult) -> str:
    """The run in one line: `3 findings (1 error, 2 warnings) in 2 files, 1.2 s`."""
    parts = [_found(result) + _where(result)]
    stuck = sum("" in file.unanalysed() for file in result.files)
    if stuck:
        parts.append(f"{counted(stuck, 'file')} could not be analysed")
    empty = sum(file.report.status is FileStatus.NO_TARGET and not file.report.targets for file in result.files)
    if empty:
        parts.append(f"{counted(empty, 'file')} without targets")
    if result.skipped:
        parts.append(f"{counted(len(result.skipped), 'file')} not opened")
    parts += list(_baseline_parts(result.baseline))
    parts.append(f"{result.seconds:.1f} s")
    return ", ".join(parts)


def _found(result: CheckResult) -> str:
    kinds = [
        counted(result.count(severity), noun)
        for severity, noun in (
            (Severity.ERROR, "error"),
            (Severity.WARNING, "warning"),
            (Severity.INFORMATION, "note"),
            (Severity.HINT, "hint"),
        )
        if result.count(severity)
    ]
    if not kinds:
        return "no findings" if any(file.ran for file in result.files) else "nothing was checked"
    return f"{counted(len(result.findings()), 'finding')} ({', '.join(kinds)})"


def _where(result: CheckResult) -> str:
    total = len(result.files)
    if total == 1 and not result.files[0].ran and not result.files[0].findings:
        return f" in {one_line(result.files[0].shown)}"
    guilty = sum(bool(file.report.findings) for file in result.files)
    if 0 < guilty < total:
        return f" in {guilty} of {counted(total, 'file')}"
    return f" in {counted(total, 'file')}"


def _baseline_parts(use: BaselineUse | None) -> Iterable[str]:
    if use is None:
        return
    if use.written is not None:
        yield f"{counted(use.written, 'finding')} written to {use.path}"
    elif use.hidden:
        yield f"{use.hidden} known to the baseline"
    if use.fixed:
        yield f"{use.fixed} of the baseline fixed"
