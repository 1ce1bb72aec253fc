"""Baselines: findings that are known and shall not fail a build any more.

A baseline is a JSON file with one finding a line, sorted, so that people can read it and version control can merge it.
A finding is known by its fingerprint alone; rule and message are there for the reader, and the file that was checked
(relative to the baseline's folder) tells which entries a run of some files may call fixed. Crashes and timeouts are
never known: they say how one run ended, not what the code is like.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from inductor_debug_schema import FileStatus

from inductor_debug.cli.support.console import CommandError
from inductor_debug.report.file_names import below
from inductor_debug.report.run_report import CheckedFile, may_pass

VERSION = 1


class BaselineError(CommandError):
    """A baseline cannot be read; the message names the file and what is wrong with it."""


@dataclass(frozen=True, slots=True, order=True)
class BaselineEntry:
    """One known finding. `file` is the checked file, relative to the baseline's folder, with forward slashes."""

    file: str
    rule: str
    fingerprint: str
    message: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """The known findings in the file at `path`."""

    path: str
    entries: tuple[BaselineEntry, ...]

    def apply(self, file: CheckedFile) -> CheckedFile:
        """Moves the known findings of `file` out of its report."""
        known = {entry.fingerprint for entry in self.entries}
        hidden = tuple(
            finding for finding in file.report.findings if finding.fingerprint in known and not may_pass(finding)
        )
        if not hidden:
            return file
        left = [finding for finding in file.report.findings if finding not in hidden]
        status = file.report.status
        if not left and status is FileStatus.FINDINGS:
            status = FileStatus.CLEAN
        report = dataclasses.replace(file.report, findings=left, status=status)
        return dataclasses.replace(file, report=report, hidden=hidden)

    def fixed(self, files: Sequence[CheckedFile]) -> int:
        """How many entries are gone: those of checked files that were analysed, and of files that are no more."""
        seen = {finding.fingerprint for file in files for finding in (*file.hidden, *file.report.findings)}
        analysed = {entry_path(file.path, self.path) for file in files if not file.unanalysed()}
        folder = os.path.dirname(os.path.abspath(self.path))
        return sum(
            entry.fingerprint not in seen
            and (entry.file in analysed or not os.path.exists(os.path.join(folder, entry.file)))
            for entry in self.entries
        )


def read(path: str) -> Baseline:
    """Reads a baseline.

    Raises:
        BaselineError: there is none, or it is not one.
    """
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise BaselineError(f"cannot read the baseline {path}: {error.strerror or error}") from error
    except json.JSONDecodeError as error:
        raise BaselineError(f"{path}:{error.lineno}:{error.colno}: not a baseline: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{path}: not a baseline: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("findings"), list):
        raise BaselineError(f"{path}: not a baseline: it has no list named 'findings'")
    if document.get("version") != VERSION:
        raise BaselineError(f"{path}: version: this tool reads version {VERSION}, not {document.get('version')!r}")
    return Baseline(path, tuple(_entry(path, number, item) for number, item in enumerate(document["findings"])))


def _entry(path: str, number: int, item: Any) -> BaselineEntry:
    names = [field.name for field in dataclasses.fields(BaselineEntry)]
    if not isinstance(item, dict):
        raise BaselineError(f"{path}: findings[{number}]: not an object")
    for name in names:
        if not isinstance(item.get(name), str):
            raise BaselineError(f"{path}: findings[{number}].{name}: missing, or not a text")
    return BaselineEntry(**{name: item[name] for name in names})


def build(path: str, files: Sequence[CheckedFile], old: Baseline | None) -> Baseline:
    """The baseline to write at `path`: all findings of `files`, and old entries of files that this run did not analyse.

    Entries of files that are no more are dropped.
    """
    current = {entry for file in files for entry in _entries(path, file)}
    analysed = {entry_path(file.path, path) for file in files if not file.unanalysed()}
    folder = os.path.dirname(os.path.abspath(path))
    kept = {
        entry
        for entry in (old.entries if old else ())
        if entry.file not in analysed and os.path.exists(os.path.join(folder, entry.file))
    }
    fingerprints = {entry.fingerprint for entry in current}
    return Baseline(path, tuple(sorted(current | {entry for entry in kept if entry.fingerprint not in fingerprints})))


def _entries(path: str, file: CheckedFile) -> Iterable[BaselineEntry]:
    for finding in (*file.hidden, *file.report.findings):
        if may_pass(finding):
            continue
        yield BaselineEntry(entry_path(file.path, path), finding.rule, finding.fingerprint, finding.headline)


def reveal(file: CheckedFile) -> CheckedFile:
    """`file` with its hidden findings back in its report."""
    if not file.hidden:
        return file
    findings = [*file.report.findings, *file.hidden]
    status = FileStatus.FINDINGS if file.report.status is FileStatus.CLEAN else file.report.status
    return dataclasses.replace(
        file, hidden=(), report=dataclasses.replace(file.report, findings=findings, status=status)
    )


def entry_path(path: str, baseline: str) -> str:
    """How a baseline names the file at an absolute path."""
    folder = os.path.dirname(os.path.abspath(baseline))
    return (below(path, folder) or os.path.relpath(path, folder)).replace(os.sep, "/")


def dump(baseline: Baseline) -> str:
    """The file's text: one entry a line."""
    rows = [json.dumps(dataclasses.asdict(entry), ensure_ascii=False) for entry in baseline.entries]
    body = "".join(f"\n  {row}{',' if index + 1 < len(rows) else ''}" for index, row in enumerate(rows))
    return f'{{\n "version": {VERSION},\n "tool": "inductor-debug",\n "findings": [{body}\n ]\n}}\n'
