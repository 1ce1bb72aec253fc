"""Gathers a bug report: all that somebody else needs to see the failure, and nothing that is none of their business.

It carries out orders one after the other; what one of them cannot give is missing from the report, which says so.
Nothing is written before somebody has seen the list of files. Every text is redacted (`engine.bug_report.redaction`).
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import sys
import zipfile
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from inductor_debug_schema import (
    ArtifactKind,
    ArtifactMade,
    BisectDocument,
    BisectOptions,
    Finding,
    Stage,
    to_wire,
)
from inductor_debug_schema.commands.command_answers import BugReportFile

from inductor_debug import __version__
from inductor_debug.engine.bug_report.issue_text import Facts, issue_text
from inductor_debug.engine.bug_report.redaction import PrivateWords, Redactor
from inductor_debug.engine.bug_report.trace_text import resealed
from inductor_debug.engine.bug_report.versions import collected, versions
from inductor_debug.engine.orders.bisecting import bisect_order, transfers_order
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.orders.reproducing import order_for, proved, refused
from inductor_debug.engine.pool.asking_interpreters import DescribingError, ask_interpreter
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.rules.words.stage_names import stage_name
from inductor_debug.source.notebooks.reading import place_in_words

Perform = Callable[[Order], Awaitable[Performed]]
Tell = Callable[[str], None]

_STAGES = (Stage.PREVIEW, Stage.MOCK, Stage.AOT, Stage.INDUCTOR)
_READABLE = {".txt", ".cpp", ".py", ".json", ".jsonl", ".log", ".ll"}
TRACE_SUFFIX = ".log"
"""Of torch's structured trace among artifacts."""
_VARIABLES = (
    *("TORCH", "PYTORCH", "INDUCTOR", "AOT_", "TRITON", "MOCK_"),
    *("CUDA", "SPYRE", "SENLIB", "OMP_", "MKL_", "CXX"),
)
"""What the names of variables begin with that change what torch or an accelerator's compiler does."""
_LONGEST_NAME = 80
_FOLDERS = {
    ArtifactKind.FX_GRAPHS: "graphs",
    ArtifactKind.AOT_GRAPHS: "graphs",
    ArtifactKind.INDUCTOR_IR: "inductor",
    ArtifactKind.INDUCTOR_KERNELS: "inductor",
}
_ABOUT = {
    ArtifactKind.FX_GRAPHS: "graphs as text",
    ArtifactKind.AOT_GRAPHS: "graphs as text",
    ArtifactKind.INDUCTOR_KERNELS: "kernel or wrapper source",
    ArtifactKind.STATISTICS: "statistics",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One file of the report: its name in the zip, its redacted content, and what it is."""

    name: str
    content: bytes
    about: str


@dataclass
class BugReport:
    """A report that has been gathered and not been written. `missing` says what could not be had, and why."""

    title: str
    parts: list[Part] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    redacted: dict[str, int] = field(default_factory=dict)

    @property
    def body(self) -> str:
        """The text of the issue, Markdown."""
        return next(part.content.decode() for part in self.parts if part.name == "ISSUE.md")

    def listing(self) -> list[BugReportFile]:
        """The files."""
        return [BugReportFile(part.name, len(part.content), part.about) for part in self.parts]

    def zipped(self) -> bytes:
        """The whole as a zip."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for part in self.parts:
                archive.writestr(part.name, part.content)
        return buffer.getvalue()


def write(report: BugReport, path: Path) -> None:
    """Writes the zip, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_bytes(report.zipped())
        os.replace(partial, path)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


@dataclass(frozen=True)
class WantedReport:
    """What the report is about: a finding, or the most severe one of the target. `bisect` takes minutes."""

    path: str
    target: str = ""
    finding: Finding | None = None
    bisect: bool = True


async def gather(
    wanted: WantedReport, settings: Settings, perform: Perform, tell: Tell = lambda words: None
) -> BugReport:
    """Carries out what is needed and puts the report together. Cancelling the awaiting task stops it."""
    return await _Gathering(wanted, settings, perform, tell).run()


class _Gathering:
    def __init__(self, wanted: WantedReport, settings: Settings, perform: Perform, tell: Tell) -> None:
        self._wanted, self._settings, self._perform, self._tell = wanted, settings, perform, tell
        self._redact = Redactor(PrivateWords.here())
        self._report = BugReport("")
        self._facts = Facts(tool=__version__, accelerator=settings.chosen_accelerator)

    async def run(self) -> BugReport:
        analysis = await self._analysis()
        finding = self._wanted.finding or _worst(analysis.report.findings)
        self._facts.finding = finding
        if self._wanted.bisect:
            await self._bisect()
        else:
            self._report.missing.append("bisection: not asked for")
        await self._repro(finding)
        await self._transfers()
        adapter = await self._adapter()
        await self._environment(adapter)
        name = os.path.basename(self._wanted.path)
        self._report.title = f"[{finding.rule}] {finding.message}" if finding is not None else f"{name}: no finding"
        self._facts.title, self._facts.missing = self._report.title, self._report.missing
        body = Part("ISSUE.md", b"", "the text of an issue, ready to paste")
        self._report.parts.insert(0, body)
        self._facts.files = [(part.name, part.about) for part in self._report.parts]
        text = self._redact(issue_text(self._facts))
        self._report.parts[0] = Part(body.name, text.encode(), body.about)
        self._report.title = self._redact(self._report.title)
        self._report.redacted = dict(self._redact.counts)
        return self._report

    async def _analysis(self) -> Performed:
        self._tell("analysing, down to kernels")
        order = Order(target=self._wanted.target, stages=_STAGES, keep_graphs=True, keep_trace=True)
        performed = await self._perform(order)
        report = performed.report
        findings = [to_wire(finding) for finding in report.findings]
        self._add("findings.json", _json({"status": report.status.value, "findings": findings}), "all findings")
        self._artifacts(performed.artifacts)
        self._facts.targets = [target.name for target in report.targets]
        notes = [
            f"{target.name}, {stage_name(stage.stage)}: {note}"
            for target in report.targets
            for stage in target.stages
            for note in stage.notes
        ]
        errors = [finding for finding in report.findings if finding.rule in _ERRORS]
        if errors or notes:
            told = [_told(finding) for finding in errors]
            self._add("error.txt", "\n\n".join([*told, *notes]) + "\n", "errors in full, and notes of the stages")
        return performed

    def _artifacts(self, artifacts: Iterable[ArtifactMade]) -> None:
        used: set[str] = set()
        for made in artifacts:
            if made.suffix in _READABLE:  # binary artifacts cannot be redacted
                stage = f"{made.stage.value} " if made.stage is not None else ""
                text = made.content.decode("utf-8", "replace")
                self._add(_name_of(made, used), text, f"{stage}{_ABOUT.get(made.kind, made.title)}")
                if made.suffix == TRACE_SUFFIX:
                    part = self._report.parts[-1]
                    self._report.parts[-1] = replace(part, content=resealed(part.content.decode()).encode())

    async def _repro(self, finding: Finding | None) -> None:
        backend = self._guilty_backend() if finding is None else ""
        if finding is None and not backend:
            self._report.missing.append("reproducer: there is no finding to reproduce")
            return
        self._tell("reducing the failure to a script")
        order = order_for(finding=finding, target=self._wanted.target, backend=backend)
        made = refused(order) or await proved(await self._perform(order), self._settings, tell=self._tell)
        if made.script is None:
            self._report.missing.append(f"reproducer: {made.document.why or 'none was found'}")
            return
        self._facts.script, self._facts.verified = made.script, made.document.verified
        if not self._facts.verified:
            self._report.missing.append(f"proof of the reproducer: {made.document.why}")
        self._add("repro/repro.py", made.script, "the smallest script that shows the failure")
        if made.output:
            self._add("repro/output.txt", made.output, "what the script printed in a clean process")
        for name, content in made.files.items():
            self._report.parts.append(Part(f"repro/{name}", content, "values that the script needs"))

    def _guilty_backend(self) -> str:
        """The backend that the bisection blames, where there is no finding that says more."""
        blamed = (document.guilty for document in self._facts.bisections)
        return next((guilty.backend for guilty in blamed if guilty is not None), "")

    async def _bisect(self) -> None:
        self._tell("finding the layer that goes wrong")
        try:
            order = bisect_order(BisectOptions(), self._settings)
        except ValueError as error:
            self._report.missing.append(f"bisection: {error}")
            return
        performed = await self._perform(replace(order, target=self._wanted.target))
        if not performed.answers:
            self._report.missing.append(f"bisection: {_reason(performed)}")
        for answered in performed.answers:
            if isinstance(answered.document, BisectDocument):
                self._facts.bisections.append(answered.document)
            self._add(
                f"reports/{answered.target}-bisection.json", _json(to_wire(answered.document)), "which layer goes wrong"
            )

    async def _transfers(self) -> None:
        self._tell("logging transfers")
        performed = await self._perform(replace(transfers_order(), target=self._wanted.target))
        if not performed.answers:
            self._report.missing.append(f"transfer log: {_reason(performed)}")
        for answered in performed.answers:
            about = "what crosses to the accelerator and back"
            self._add(f"reports/{answered.target}-transfers.json", _json(to_wire(answered.document)), about)

    async def _adapter(self) -> dict[str, str]:
        """Keeps the logs of the chosen accelerator's adapter, and returns the versions that it names."""
        name = self._settings.chosen_accelerator
        if name is None or "adapter" not in self._settings.profile.get("source", {}):
            return {}
        self._tell(f"asking {name} for its versions and logs")
        try:
            found = await asyncio.to_thread(ask_interpreter, self._settings.interpreter, name, report=True)
        except DescribingError as error:
            self._report.missing.append(f"versions and logs of {name}: {error}")
            return {}
        versions: dict[str, str] = {}
        for said in found.adapters:
            versions[said.entry.distribution or name] = said.entry.version
            versions.update(said.versions)
            if said.entry.problem:
                self._report.missing.append(f"what {name} says: {said.entry.problem}")
            for file, text in said.logs.items():
                self._add(f"logs/{os.path.basename(file) or 'log.txt'}", text, f"a log of {name}")
        return versions

    async def _environment(self, adapter: dict[str, str]) -> None:
        self._tell("asking for versions")
        try:
            said = await collected(self._settings.interpreter)
        except (OSError, asyncio.TimeoutError) as error:
            self._report.missing.append(f"environment: {error or 'it took too long to ask'}")
            said = ""
        variables = self._redact.environment(os.environ, _VARIABLES)
        own = {"inductor-debug": __version__, "daemon's Python": sys.version.split()[0], "variables": variables}
        if adapter:
            own["accelerator"] = adapter
        text = f"{said.strip()}\n\n{_json(own)}"
        self._facts.versions = {**versions(said), **adapter}
        self._add("environment.txt", text, "versions (torch.utils.collect_env) and variables that matter")

    def _add(self, name: str, text: str, about: str) -> None:
        self._report.parts.append(Part(name, self._redact(text).encode("utf-8", "replace"), about))


_ERRORS = frozenset(
    {"capture-error", "import-error", "crash", "timeout", "internal-error", "out-of-memory", "syntax-error"}
)


def _name_of(made: ArtifactMade, used: set[str]) -> str:
    """A name for an artifact that no other has; folders of the zip follow the kinds."""
    words = [made.target, made.stage.value if made.stage is not None else "", made.title]
    plain = "-".join("".join(c if c.isalnum() or c in "-_." else "_" for c in word) for word in words if word)
    folder, stem = _FOLDERS.get(made.kind, made.kind.value), plain[:_LONGEST_NAME]
    name, number = f"{folder}/{stem}{made.suffix}", 1
    while name in used:
        number += 1
        name = f"{folder}/{stem}-{number}{made.suffix}"
    used.add(name)
    return name


def _worst(findings: list[Finding]) -> Finding | None:
    return min(findings, key=lambda finding: finding.severity.rank, default=None)


def _reason(performed: Performed) -> str:
    worst = _worst(performed.report.findings)
    return worst.message if worst is not None else f"the run ended as {performed.report.status.value}"


def _told(finding: Finding) -> str:
    start = finding.range.start
    where = place_in_words(finding.path, finding.path, start.line, start.character)
    beside = [(place_in_words(one.path, one.path, one.range.start.line), one.message) for one in finding.related]
    lines = [f"{where}: [{finding.rule}] {finding.message}", *(f"  {place}: {message}" for place, message in beside)]
    return "\n".join(lines)


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, default=str) + "\n"
