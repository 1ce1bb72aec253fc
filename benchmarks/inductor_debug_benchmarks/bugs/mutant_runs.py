"""Runs `bench bugs`: plants the mistakes, has them judged and analysed, and takes down what became of each.

Which mutants break or change their model is learned by running them with their true inputs; what is said of them, by
analysing them as a user's file: fresh, and as an edit of the original. The work is done in worker processes; nothing
here imports torch, and nothing here knows what a finding means: only where it stands counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from inductor_debug.cli.support.console import CommandError
from inductor_debug_schema import Finding, Severity, from_wire

from inductor_debug_benchmarks import corpus
from inductor_debug_benchmarks.bugs.figures import misses, promises, table
from inductor_debug_benchmarks.bugs.mutant_results import (
    ELSEWHERE,
    FOUND,
    NOT_CHECKED,
    SILENT,
    KeptResults,
    MeasuredClass,
    Mutant,
    MutantVerdict,
    Row,
    Sound,
)
from inductor_debug_benchmarks.corpus import CorpusCase
from inductor_debug_benchmarks.measuring import progress, rows_by
from inductor_debug_benchmarks.mutation.mutated_source import MutatedSource
from inductor_debug_benchmarks.mutation.mutation_places import Mistake, one_behind
from inductor_debug_benchmarks.mutation.planting import Mutation, in_turns, mutations
from inductor_debug_benchmarks.outcome import BenchmarkOutcome

LIBRARIES = ("transformers", "torchvision")
"""Whose modules are measured where they are installed."""
_PROFILE = {"name": "none"}
"""No accelerator, so that nothing is said that is not true for everyone."""
_ABOUT_SPEED = frozenset(("graph-break", "recompile", "eager-fallback"))
"""Rules that say that sound code may be slow."""
_EACH = {"breaks": 2, "changes": 1}
"""How many mutants of each verdict are looked for in a class."""
_TRIED = 40
"""How many mutants of a class are run for these."""


def run(folder: str, sample: int, seed: int, *, missed: bool, resume: str = "") -> BenchmarkOutcome:
    """Measures the corpus of a folder, or about `sample` breaking mutants of it, and lists what was `missed`.

    Args:
        folder: of the corpus.
        sample: about how many breaking mutants; 0 for all.
        seed: which mistakes are planted.
        missed: whether what was not found is listed.
        resume: a file that keeps what was measured, and is gone on with; empty for none.

    Raises:
        CommandError: there is no class in the folder whose true inputs are known, or `resume` cannot be read.
    """
    try:
        kept = KeptResults(Path(resume) if resume else None)
    except (OSError, ValueError) as error:
        raise CommandError(f"--resume {resume}: {error}") from error
    with tempfile.TemporaryDirectory() as scratch:
        some = cases(Path(folder), Path(scratch).resolve())
        for library in LIBRARIES if corpus.is_corpus(Path(folder)) else ():
            if not any(case.group == library for case in some):
                progress(f"{library} is not installed: its modules are left out")
        found = measure(some, sample=sample, seed=seed, kept=kept)
    lines = [*table(found), *(misses(found.mutants) if missed else [])]
    return BenchmarkOutcome(asdict(found), promises(found), lines)


def cases(folder: Path, scratch: Path) -> list[CorpusCase]:
    """The classes of a folder: of the inference corpus with libraries' modules, or of files with `get_inputs`."""
    if corpus.is_corpus(folder):
        libraries = corpus.architecture_cases(folder, scratch) + corpus.torchvision_cases(folder, scratch)
        return corpus.written_cases(folder) + libraries
    found = corpus.folder_cases(folder)
    if not found:
        raise CommandError(f"no file in {folder} has a class and get_inputs(); --corpus names a folder")
    return found


def measure(
    some: list[CorpusCase], *, sample: int = 0, seed: int = 0, kept: KeptResults | None = None
) -> MeasuredClass:
    """Mutates every class, or as many as a sample of so many breaking mutants needs, but for those that are `kept`."""
    kept = kept or KeptResults(None)
    start = seed % len(some)  # another seed is another sample of the classes, too
    chosen = corpus.evenly(some[start:] + some[:start], -(-sample // _EACH["breaks"]))
    wanted = {"breaks": -(-sample // len(chosen))} if sample else _EACH
    planted = {case.path + case.name: _planted(case, seed) for case in chosen}
    orders = {(case.path, case.name): _order(case, planted[case.path + case.name], wanted) for case in chosen}
    known = {(case.path, case.name): case for case in chosen}
    rows = {key: row for key, order in orders.items() if (row := kept.row(order)) is not None}
    left = [order for key, order in orders.items() if key not in rows]
    for answer in rows_by("inductor_debug_benchmarks.processes.mutants", "cases", left, {"profile": _PROFILE}):
        key = answer["path"], answer["name"]
        rows[key] = _row(known[key], planted[answer["path"] + answer["name"]], answer)
        kept.add(orders[key], rows[key])
        progress(f"{len(rows)} of {len(chosen)} classes, {known[key].label}: {len(rows[key][1])} mutants")
    died = [Sound(case.group, case.label, "its process died", "", []) for key, case in known.items() if key not in rows]
    return MeasuredClass([row[0] for row in rows.values()] + died, [item for row in rows.values() for item in row[1]])


def _row(case: CorpusCase, planted: list[Mutation], answer: dict[str, Any]) -> Row:
    original = list(_told(answer["original"]))
    said = [] if answer["problem"] else [_words(item) for item in original]
    sound = Sound(case.group, case.label, answer["problem"], answer["original"]["reason"], said)
    return sound, [_mutant(case, planted[item["index"]], item, original) for item in answer["mutants"]]


def _planted(case: CorpusCase, seed: int) -> list[Mutation]:
    return in_turns(mutations(MutatedSource(case.text), case.name), f"{seed} {case.group} {case.label}")[:_TRIED]


def _order(case: CorpusCase, planted: list[Mutation], wanted: dict[str, int]) -> dict[str, Any]:
    edits = [{**asdict(item.edit), "lines": item.lines} for item in planted]
    call = {"build": case.build, "call": case.call, "tensors": case.tensors, "setup": case.setup}
    return {"path": case.path, "text": case.text, "name": case.name, "call": call, "edits": edits, "wanted": wanted}


def _mutant(case: CorpusCase, planted: Mutation, row: dict[str, Any], original: list[Finding]) -> Mutant:
    edit = planted.edit
    raised = tuple(row["lines"]) if row["lines"] else None
    mistake = Mistake(case.path, edit.place(case.text), planted.lines, raised)
    tree = MutatedSource(case.text).tree
    behind = [lines for start in (planted.lines, raised) if start for lines in one_behind(tree, start)]
    before = {_identity(item) for item in original}

    def verdict(said: dict[str, Any]) -> MutantVerdict:
        fresh = [item for item in _told(said) if _identity(item) not in before]
        words = [_words(item) for item in fresh]
        if any(mistake.has(item, behind) for item in fresh):
            return MutantVerdict(FOUND, words)
        if words:
            return MutantVerdict(ELSEWHERE, words)
        told = said["reason"] or said["problem"]
        return MutantVerdict(NOT_CHECKED, [told]) if told else MutantVerdict(SILENT, [])

    difference = edit.difference(case.text)
    verdicts = verdict(row["fresh"]), verdict(row["edit"])
    truth = row["verdict"], row["sound_with"], row["error"]
    return Mutant(case.group, case.label, planted.operator, difference, *truth, *verdicts)


def _told(said: dict[str, Any]) -> Iterator[Finding]:
    """The findings that say that the code is wrong."""
    for item in said["findings"]:
        finding = from_wire(Finding, item)
        if finding.rule not in _ABOUT_SPEED and finding.severity in (Severity.ERROR, Severity.WARNING):
            yield finding


def _identity(finding: Finding) -> tuple[str, str, int]:
    return finding.rule, finding.message, finding.range.start.line


def _words(finding: Finding) -> str:
    start = finding.range.start
    return f"{start.line + 1}:{start.character + 1} {finding.rule} {finding.headline[:160]}"
