"""Baselines: findings that are known and shall not fail a build any more, and what each target needs at least.

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
from typing import Any, TypeVar

from inductor_debug_schema import FileStatus

from inductor_debug.cli.support.console import CommandError
from inductor_debug.cli.support.known_costs import RULE as GROWTH
from inductor_debug.cli.support.known_costs import KnownCost, costs_of, with_growth
from inductor_debug.report.file_names import below
from inductor_debug.report.run_report import CheckedFile, may_pass
from inductor_debug.rules.amounts import counted

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


Row = TypeVar("Row", BaselineEntry, KnownCost)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The known findings in the file at `path`, and what targets needed when it was written."""

    path: str
    entries: tuple[BaselineEntry, ...]
    costs: tuple[KnownCost, ...] = ()

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

    def grown(self, file: CheckedFile, most_percent: float) -> CheckedFile:
        """The file with a finding for each target that needs more than it did, by more than so many per cent."""
        return with_growth(file, entry_path(file.path, self.path), self.costs, most_percent)

    def require_compared(self, files: Sequence[CheckedFile]) -> None:
        """Sees to it that silence about growth means that something was compared.

        Raises:
            BaselineError: the costs of no target are known, so nothing could have been found.
        """
        known = {cost.subject for cost in self.costs}
        if any(cost.subject in known for file in files for cost in costs_of(file, entry_path(file.path, self.path))):
            return
        accelerators = ", ".join(sorted({cost.accelerator for cost in self.costs}))
        raise BaselineError(
            f"{self.path}: --max-growth had nothing to compare: no target that ran has its costs there "
            f"(known are the costs of {counted(len(self.costs), 'target')} on {accelerators})"
        )

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
    entries = _rows(path, document, "findings", BaselineEntry)
    return Baseline(path, entries, _rows(path, document, "costs", KnownCost))


def _rows(path: str, document: dict[str, Any], name: str, kind: type[Row]) -> tuple[Row, ...]:
    """The rows of one list; none where it is missing, as costs are in files of earlier versions."""
    return tuple(_row(f"{path}: {name}[{number}]", item, kind) for number, item in enumerate(document.get(name) or ()))


def _row(place: str, item: Any, kind: type[Row]) -> Row:
    if not isinstance(item, dict):
        raise BaselineError(f"{place}: not an object")
    found: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        expected, words = _KINDS[str(field.type)]
        found[field.name] = item.get(field.name)
        if not isinstance(found[field.name], expected) or isinstance(found[field.name], bool):
            raise BaselineError(f"{place}.{field.name}: missing, or not {words}")
    return kind(**found)


_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "a text"),
    "float": ((int, float), "a number"),
    "int": ((int,), "a whole number"),
}


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
    entries = sorted(current | {entry for entry in kept if entry.fingerprint not in fingerprints})
    costs = {cost for file in files for cost in costs_of(file, entry_path(file.path, path))}
    others = (cost for cost in (old.costs if old else ()) if cost.file not in analysed)
    left = {cost for cost in others if os.path.exists(os.path.join(folder, cost.file))}
    return Baseline(path, tuple(entries), tuple(sorted(costs | left)))


def _entries(path: str, file: CheckedFile) -> Iterable[BaselineEntry]:
    for finding in (*file.hidden, *file.report.findings):
        if may_pass(finding) or finding.rule == GROWTH:
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
    costs = f',\n "costs": [{_lines(baseline.costs)}\n ]' if baseline.costs else ""
    entries = _lines(baseline.entries)
    return f'{{\n "version": {VERSION},\n "tool": "inductor-debug",\n "findings": [{entries}\n ]{costs}\n}}\n'


def _lines(rows: Sequence[BaselineEntry] | Sequence[KnownCost]) -> str:
    written = [json.dumps(dataclasses.asdict(row), ensure_ascii=False) for row in rows]
    return "".join(f"\n  {row}{',' if index + 1 < len(written) else ''}" for index, row in enumerate(written))
