"""`check --fix` and `check --diff`: the proved fixes of a file, written or only shown.

A file is written in one step and in the encoding that it has; one that is neither UTF-8 nor unchanged since it was read
is left alone.
"""

from __future__ import annotations

import argparse
import difflib
import io
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from inductor_debug_schema import FileReport

from inductor_debug.cli.support import console
from inductor_debug.cli.support.output import write_whole
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.text.source_files import read_source
from inductor_debug.report.run_report import CheckedFile, CheckResult

if TYPE_CHECKING:
    from inductor_debug.engine.fixes.fixed_files import FixedFile

_MARK = "\ufeff"
_NO_END = "\\ No newline at end of file"


def add_fixing(group: argparse._ArgumentGroup) -> None:
    """Adds `--fix`, `--diff` and `--unsafe-fixes`."""
    what = group.add_mutually_exclusive_group()
    what.add_argument("--fix", action="store_true", help="apply fixes, and report what is left")
    what.add_argument("--diff", action="store_true", help="show what --fix would change in place of findings")
    group.add_argument(
        "--unsafe-fixes",
        action="store_true",
        help="also those after which the model computes something else (sizes, dtypes, calls that raised)",
    )


@dataclass(frozen=True, slots=True)
class Fixing:
    """How to fix: whether files are written, and whether fixes count that change what a model computes."""

    writes: bool
    unsafe: bool


def asked_for(arguments: argparse.Namespace) -> Fixing | None:
    """What the command line says of fixing; None where nothing is to be fixed."""
    if not (arguments.fix or arguments.diff):
        return None
    return Fixing(writes=arguments.fix, unsafe=arguments.unsafe_fixes)


async def fix(
    engine: Engine, report: FileReport, settings: Settings, fixing: Fixing
) -> tuple[FixedFile | None, str | None]:
    """The fixes of a file that was checked, written where that is asked for, and why they could not be.

    Raises:
        OutputError: the file cannot be written.
    """
    # Imported here: most checks mend nothing.
    from inductor_debug.engine.fixes.fix_candidates import FIXABLE
    from inductor_debug.engine.fixes.fixed_files import fixed

    text = read_source(report.path)
    if not isinstance(text, str) or not any(finding.rule in FIXABLE for finding in report.findings):
        return None, None
    file = await fixed(engine, report.path, text, settings.profile, unsafe=fixing.unsafe)
    if not fixing.writes or not file.fixes:
        return file, None
    problem = write(file)
    return (replace(file, fixes=[]), f"it could not be fixed: {problem}") if problem else (file, None)


def write(file: FixedFile) -> str:
    """Writes the fixed text; returns why it did not, or "".

    Raises:
        OutputError: the file cannot be written.
    """
    with open(file.path, "rb") as stream:
        content = stream.read()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    if encoding not in ("utf-8", "utf-8-sig"):
        return f"it is written in {encoding}, and only UTF-8 is fixed"
    if read_source(file.path) != file.before:
        return "it was changed meanwhile"
    write_whole(file.path, (_MARK if encoding == "utf-8-sig" else "") + file.after)
    return ""


class Differences:
    """A report that is a unified diff of what fixes would change, for `patch` and `git apply`."""

    def file(self, file: CheckedFile) -> str:
        """The part of one file; "" where nothing would change."""
        if file.fixed is None:
            return ""
        before, after = (text.splitlines(keepends=True) for text in (file.fixed.before, file.fixed.after))
        lines = difflib.unified_diff(before, after, file.shown, file.shown)
        return "".join(line if line.endswith(("\n", "\r")) else f"{line}\n{_NO_END}\n" for line in lines)

    def end(self, result: CheckResult) -> str:
        """Nothing: a diff has no last line."""
        return ""


def say(shown: str, file: FixedFile, *, written: bool) -> None:
    """Tells which fixes there are in a file, and which were left out."""
    verb = "fixed" if written else "would fix"
    for proved in file.fixes:
        console.say(f"{shown}: {verb}: {proved.title}")


def sum_up(files: Iterable[FixedFile]) -> str:
    """What was left out of all files, in a line; "" where nothing was."""
    left_out = sum(file.unsafe for file in files)
    if not left_out:
        return ""
    fixes = "1 fix changes" if left_out == 1 else f"{left_out} fixes change"
    return f"{fixes} what a model computes and {'was' if left_out == 1 else 'were'} left out (--unsafe-fixes)"
