"""What a run did not look at, in words that every report shares: "no findings" is said only of what ran.

How much of a target was checked, and why not more, the engine has decided (`engine.results.target_coverage`); here it
is only counted and named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inductor_debug_schema import Checked, TargetReport

from inductor_debug.engine.results.target_coverage import WORDS, sizes_set
from inductor_debug.report.cells import one_line, shortened
from inductor_debug.report.run_report import CheckedFile
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.rules.amounts import counted

MOST_NAMED = 6
"""Targets that the coverage line names of a kind; the others are counted."""
_LONGEST = 160
_WIDEST = 160
"""Characters of a coverage line that is told in one."""


def lacking(files: Sequence[CheckedFile], checked: Checked) -> Iterator[tuple[CheckedFile, TargetReport]]:
    """The targets of which so much was checked, file by file."""
    return ((file, target) for file in files for target in file.report.targets if target.checked is checked)


def coverage_line(files: Sequence[CheckedFile], sources: ShownTexts) -> str:
    """`1 of 5 classes checked; not checked: Transformer (needs `params`), …`; empty where nothing was on offer."""
    head, kinds, sizes = _coverage(files, sources)
    told = (one_line(f"{kind}: {', '.join(names)}") for kind, names in kinds)
    return "; ".join(filter(None, (head, *told, sizes)))


def coverage_lines(files: Sequence[CheckedFile], sources: ShownTexts) -> list[str]:
    """The same for a terminal: one line where it is short, else a line for each that is named."""
    whole = coverage_line(files, sources)
    if len(whole) <= _WIDEST:
        return [whole] if whole else []
    head, kinds, sizes = _coverage(files, sources)
    listed = (line for kind, names in kinds for line in (f"  {kind}:", *(one_line(f"    {name}") for name in names)))
    return [head, *listed, *([f"  {sizes}"] if sizes else [])]


def _coverage(files: Sequence[CheckedFile], sources: ShownTexts) -> tuple[str, list[tuple[str, list[str]]], str]:
    """How much was checked, the names of each kind of the rest, and which sizes stand for all."""
    targets = [(file, target) for file in files for target in file.report.targets]
    if not targets:
        return "", [], ""
    classes = all(_is_class(file, target, sources) for file, target in targets)
    amount = counted(len(targets), "class", "classes") if classes else counted(len(targets), "target")
    whole = sum(target.checked is Checked.YES for _, target in targets)
    partly = sum(target.checked is Checked.PARTLY for _, target in targets)
    head = f"{amount} checked" if whole == len(targets) else f"{whole} of {amount} checked"
    if partly > 1:
        head += f", {partly} partly"
    kinds = [(WORDS[kind], names) for kind in (Checked.NO, Checked.PARTLY) if (names := _names(files, kind))]
    return head, kinds, sizes_set([target for _, target in targets])


def _names(files: Sequence[CheckedFile], checked: Checked) -> list[str]:
    """The first of a kind, each with why, and how many more there are."""
    found = list(lacking(files, checked))
    names = []
    for file, target in found[:MOST_NAMED]:
        name = f"{file.shown}::{target.name}" if len(files) > 1 else target.name
        names.append(f"{name} ({shortened(target.why.rstrip('.'), _LONGEST)})")
    if len(found) > MOST_NAMED:
        names.append(f"{len(found) - MOST_NAMED} more (all with --verbose)")
    return names


def _is_class(file: CheckedFile, target: TargetReport, sources: ShownTexts) -> bool:
    """Whether a class is what offers the target, as far as its line tells."""
    return (sources.of(file.path).line(target.line) or "").lstrip().startswith("class ")
