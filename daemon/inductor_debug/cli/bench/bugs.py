"""`inductor-debug bench bugs`: single mistakes planted into real models that declare no inputs, and which are found.

Which mutants break or change their model is learned by running them with their true inputs; what is said of them, by
analysing them as a user's file: fresh, and as an edit of the original. The work is done in worker processes; nothing
here imports torch, and nothing here knows what a finding means: only where it stands counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from inductor_debug_schema import Finding, Severity, from_wire

from inductor_debug.cli.bench import corpus
from inductor_debug.cli.bench.corpus import Case
from inductor_debug.cli.bench.measuring import progress, rows_by
from inductor_debug.cli.bench.mutation.places import Mistake, one_behind
from inductor_debug.cli.bench.mutation.planting import Mutation, in_turns, mutations
from inductor_debug.cli.bench.mutation.source import Source
from inductor_debug.cli.bench.outcome import Outcome, Promise
from inductor_debug.cli.console import CommandError

BY_EDIT, FRESH, FALSE = 0.95, 0.85, 0.01
"""Shares of breaking mutants to be found at the mistake, and of sound classes that may be blamed."""
FOUND, ELSEWHERE, NOT_CHECKED, SILENT = "found", "elsewhere", "not checked", "silent"
"""What became of a mutant: found at the mistake, something was found in another place, a reason is told, nothing."""
_PROFILE = {"name": "none"}
"""No accelerator, so that nothing is said that is not true for everyone."""
_ABOUT_SPEED = frozenset(("graph-break", "recompile", "eager-fallback"))
"""Rules that say that sound code may be slow."""
_EACH = {"breaks": 2, "changes": 1}
"""How many mutants of each verdict are looked for in a class."""
_TRIED = 40
"""How many mutants of a class are run for these."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the tool made of a mutant, and the findings or the reason that it told."""

    where: str
    said: list[str]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mistake in one class: what it does to the model, and what the tool made of it."""

    group: str
    name: str
    operator: str
    difference: list[str]
    truth: str
    """`breaks` or `changes`."""
    error: str
    """What the real run raised."""
    fresh: Verdict
    edit: Verdict


@dataclass(frozen=True, slots=True)
class Sound:
    """One class as it was written: why it could not be measured, and what was wrongly found in it."""

    group: str
    name: str
    problem: str
    reason: str
    false: list[str]


@dataclass(frozen=True, slots=True)
class Measured:
    """All of a run."""

    classes: list[Sound]
    mutants: list[Mutant]


def run(folder: str, sample: int, seed: int, *, missed: bool) -> Outcome:
    """Measures the corpus of a folder, or about `sample` breaking mutants of it, and lists what was `missed`.

    Raises:
        CommandError: there is no class in the folder whose true inputs are known.
    """
    with tempfile.TemporaryDirectory() as scratch:
        some = cases(Path(folder), Path(scratch).resolve())
        if corpus.is_corpus(Path(folder)) and not any(case.group == "transformers" for case in some):
            progress("transformers is not installed: its modules are left out")
        found = measure(some, sample=sample, seed=seed)
    lines = [*table(found), *(misses(found.mutants) if missed else [])]
    return Outcome(asdict(found), promises(found), lines)


def cases(folder: Path, scratch: Path) -> list[Case]:
    """The classes of a folder: of the inference corpus with transformers' modules, or of files with `get_inputs`."""
    if corpus.is_corpus(folder):
        return corpus.written_cases(folder) + corpus.architecture_cases(folder, scratch)
    found = corpus.folder_cases(folder)
    if not found:
        raise CommandError(f"no file in {folder} has a class and get_inputs(); --corpus names a folder")
    return found


def measure(some: list[Case], *, sample: int = 0, seed: int = 0) -> Measured:
    """Mutates every class, or as many as a sample of so many breaking mutants needs."""
    start = seed % len(some)  # another seed is another sample of the classes, too
    chosen = corpus.evenly(some[start:] + some[:start], -(-sample // _EACH["breaks"]))
    wanted = {"breaks": -(-sample // len(chosen))} if sample else _EACH
    planted = {case.path + case.name: _planted(case, seed) for case in chosen}
    orders = [_order(case, planted[case.path + case.name], wanted) for case in chosen]
    known = {(case.path, case.name): case for case in chosen}
    classes, mutants = [], []
    for row in rows_by("inductor_debug.worker.mutants", "cases", orders, {"profile": _PROFILE}):
        case = known.pop((row["path"], row["name"]))
        original = list(_told(row["original"]))
        said = [] if row["problem"] else [_words(item) for item in original]
        classes.append(Sound(case.group, case.label, row["problem"], row["original"]["reason"], said))
        ours = planted[case.path + case.name]
        mutants += [_mutant(case, ours[item["index"]], item, original) for item in row["mutants"]]
        progress(f"{len(chosen) - len(known)} of {len(chosen)} classes, {case.label}: {len(row['mutants'])} mutants")
    classes += [Sound(case.group, case.label, "its process died", "", []) for case in known.values()]
    return Measured(classes, mutants)


def _planted(case: Case, seed: int) -> list[Mutation]:
    return in_turns(mutations(Source(case.text), case.name), f"{seed} {case.group} {case.label}")[:_TRIED]


def _order(case: Case, planted: list[Mutation], wanted: dict[str, int]) -> dict[str, Any]:
    edits = [{**asdict(item.edit), "lines": item.lines} for item in planted]
    call = {"build": case.build, "call": case.call, "tensors": case.tensors, "setup": case.setup}
    return {"path": case.path, "text": case.text, "name": case.name, "call": call, "edits": edits, "wanted": wanted}


def _mutant(case: Case, planted: Mutation, row: dict[str, Any], original: list[Finding]) -> Mutant:
    edit = planted.edit
    raised = tuple(row["lines"]) if row["lines"] else None
    mistake = Mistake(case.path, edit.place(case.text), planted.lines, raised)
    tree = Source(case.text).tree
    behind = [lines for start in (planted.lines, raised) if start for lines in one_behind(tree, start)]
    before = {_identity(item) for item in original}

    def verdict(said: dict[str, Any]) -> Verdict:
        fresh = [item for item in _told(said) if _identity(item) not in before]
        words = [_words(item) for item in fresh]
        if any(mistake.has(item, behind) for item in fresh):
            return Verdict(FOUND, words)
        if words:
            return Verdict(ELSEWHERE, words)
        told = said["reason"] or said["problem"]
        return Verdict(NOT_CHECKED, [told]) if told else Verdict(SILENT, [])

    difference = edit.difference(case.text)
    verdicts = verdict(row["fresh"]), verdict(row["edit"])
    return Mutant(case.group, case.label, planted.operator, difference, row["verdict"], row["error"], *verdicts)


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
    return f"{start.line + 1}:{start.character + 1} {finding.rule} {finding.message.splitlines()[0][:160]}"


def promises(found: Measured) -> list[Promise]:
    """The three goals, each with what was measured."""
    breaking = [item for item in found.mutants if item.truth == "breaks"]
    checked = [item for item in found.classes if not item.problem]
    false = [item for item in checked if item.false]
    by_edit, fresh = _share(breaking, _by_edit), _share(breaking, _fresh)
    wrong = len(false) / max(len(checked), 1)
    count = len(breaking)
    return [
        (by_edit >= BY_EDIT, f"{by_edit:.1%} of {count} breaking mutants found by an edit (at least {BY_EDIT:.0%})"),
        (fresh >= FRESH, f"{fresh:.1%} of {count} breaking mutants found on a fresh open (at least {FRESH:.0%})"),
        (
            wrong <= FALSE,
            f"{len(false)} of {len(checked)} sound classes blamed, {wrong:.1%} (at most {FALSE:.0%})",
        ),
    ]


def _by_edit(mutant: Mutant) -> Verdict:
    return mutant.edit


def _fresh(mutant: Mutant) -> Verdict:
    return mutant.fresh


def _share(mutants: list[Mutant], road: Callable[[Mutant], Verdict], where: str = FOUND) -> float:
    return sum(road(item).where == where for item in mutants) / len(mutants) if mutants else 0.0


def table(found: Measured) -> list[str]:
    """Figures for each operator and group, and the classes that say nothing or the wrong thing."""
    head = f"{'':30} {'breaks':>7} {'by edit':>8} {'fresh':>8}   {'changes':>7} {'by edit':>8} {'fresh':>8}"
    operators = sorted({item.operator for item in found.mutants})
    groups = dict.fromkeys(item.group for item in found.classes)
    lines = [head, *(_figures(name, [item for item in found.mutants if item.operator == name]) for name in operators)]
    lines += ["", *(_figures(name, [item for item in found.mutants if item.group == name]) for name in groups)]
    lines += [_figures("all", found.mutants), ""]
    breaking = [item for item in found.mutants if item.truth == "breaks"]
    for label, road in (("by edit", _by_edit), ("fresh", _fresh)):
        shares = ", ".join(
            f"{where} {_share(breaking, road, where):.1%}" for where in (FOUND, ELSEWHERE, NOT_CHECKED, SILENT)
        )
        lines.append(f"breaking mutants {label}: {shares}")
    lines += [f"does not run as told: {item.name}: {item.problem}" for item in found.classes if item.problem]
    lines += [f"blamed though sound: {item.name} {said}" for item in found.classes for said in item.false]
    return [*lines, ""]


def _figures(name: str, mutants: Iterable[Mutant]) -> str:
    cells = [f"{name:30}"]
    all_of = list(mutants)
    for truth, gap in (("breaks", ""), ("changes", "  ")):
        some = [item for item in all_of if item.truth == truth]
        shares = [f"{_share(some, road):8.0%}" if some else f"{'-':>8}" for road in (_by_edit, _fresh)]
        cells.append(f"{gap}{len(some):7} {' '.join(shares)}")
    return " ".join(cells)


def misses(mutants: list[Mutant]) -> list[str]:
    """Every breaking mutant that was not found on one of the roads, with what was said instead."""
    lines = []
    for item in mutants:
        if item.truth == "breaks" and {item.edit.where, item.fresh.where} != {FOUND}:
            lines.append(f"{item.group} {item.name}: {item.operator}; really {item.error}")
            lines += [f"    {line}" for line in item.difference]
            for label, verdict in (("by edit", item.edit), ("fresh", item.fresh)):
                lines.append(f"    {label}: {verdict.where} {'; '.join(verdict.said)}".rstrip())
            lines.append("")
    return lines
