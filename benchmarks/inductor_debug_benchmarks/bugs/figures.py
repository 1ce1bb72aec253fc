"""Figures and promises of `bench bugs`: rates over all mutants that break, and over those that somebody can see.

Nobody can see that a mutant breaks which is a sound model of other inputs
(`processes.other_inputs`): those are counted apart, in both parts of the share, whatever the
tool said of them. Nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from inductor_debug_benchmarks.bugs.mutant_results import (
    ELSEWHERE,
    FOUND,
    NOT_CHECKED,
    SILENT,
    MeasuredClass,
    Mutant,
    MutantVerdict,
)
from inductor_debug_benchmarks.outcome import Promise

BY_EDIT, FRESH, FALSE = 0.95, 0.85, 0.01
"""Shares of breaking mutants to be found at the mistake, and of sound classes that may be blamed."""


def promises(found: MeasuredClass) -> list[Promise]:
    """The goals, each with what was measured."""
    breaking = [item for item in found.mutants if item.truth == "breaks"]
    seen = [item for item in breaking if not item.sound_with]
    checked = [item for item in found.classes if not item.problem]
    false = [item for item in checked if item.false]
    by_edit, fresh = share(breaking, by_an_edit), share(seen, freshly)
    wrong = len(false) / max(len(checked), 1)
    return [
        (
            by_edit >= BY_EDIT,
            f"{by_edit:.1%} of {len(breaking)} breaking mutants found by an edit (at least {BY_EDIT:.0%})",
        ),
        (
            fresh >= FRESH,
            f"{fresh:.1%} of {len(seen)} breaking mutants that no other inputs explain found on a fresh open "
            f"(at least {FRESH:.0%}); {share(breaking, freshly):.1%} of all {len(breaking)}",
        ),
        (
            wrong <= FALSE,
            f"{len(false)} of {len(checked)} sound classes blamed, {wrong:.1%} (at most {FALSE:.0%})",
        ),
    ]


def by_an_edit(mutant: Mutant) -> MutantVerdict:
    """What was made of it as an edit of the original."""
    return mutant.edit


def freshly(mutant: Mutant) -> MutantVerdict:
    """What was made of it as a file never seen before."""
    return mutant.fresh


def share(mutants: list[Mutant], road: Callable[[Mutant], MutantVerdict], where: str = FOUND) -> float:
    """The part of mutants that became something on a road; 0 of none."""
    return sum(road(item).where == where for item in mutants) / len(mutants) if mutants else 0.0


def table(found: MeasuredClass) -> list[str]:
    """Figures for each operator and group, and the classes that say nothing or the wrong thing."""
    head = f"{'':30} {'breaks':>7} {'by edit':>8} {'fresh':>8}   {'visible':>7} {'fresh':>8}"
    head += f"   {'changes':>7} {'by edit':>8} {'fresh':>8}"
    operators = sorted({item.operator for item in found.mutants})
    groups = dict.fromkeys(item.group for item in found.classes)
    lines = [head, *(_figures(name, [item for item in found.mutants if item.operator == name]) for name in operators)]
    lines += ["", *(_figures(name, [item for item in found.mutants if item.group == name]) for name in groups)]
    lines += [_figures("all", found.mutants), ""]
    breaking = [item for item in found.mutants if item.truth == "breaks"]
    visible = [item for item in breaking if not item.sound_with]
    for label, road, some in (
        ("breaking mutants by edit", by_an_edit, breaking),
        ("breaking mutants fresh", freshly, breaking),
        ("of those that no other inputs explain, fresh", freshly, visible),
    ):
        shares = ", ".join(
            f"{where} {share(some, road, where):.1%}" for where in (FOUND, ELSEWHERE, NOT_CHECKED, SILENT)
        )
        lines.append(f"{label}: {shares}")
    lines += [f"does not run as told: {item.name}: {item.problem}" for item in found.classes if item.problem]
    lines += [f"blamed though sound: {item.name} {said}" for item in found.classes for said in item.false]
    return [*lines, ""]


def _figures(name: str, mutants: Iterable[Mutant]) -> str:
    all_of = list(mutants)
    breaking = [item for item in all_of if item.truth == "breaks"]
    visible = [item for item in breaking if not item.sound_with]
    changing = [item for item in all_of if item.truth == "changes"]
    columns = ((breaking, (by_an_edit, freshly)), (visible, (freshly,)), (changing, (by_an_edit, freshly)))
    cells = []
    for some, roads in columns:
        shares = [f"{share(some, road):8.0%}" if some else f"{'-':>8}" for road in roads]
        cells.append(f"{len(some):7} {' '.join(shares)}")
    return f"{name:30} {'   '.join(cells)}"


def misses(mutants: list[Mutant]) -> list[str]:
    """Every breaking mutant that was not found on one of the roads, with what was said instead."""
    lines = []
    for item in mutants:
        if item.truth == "breaks" and {item.edit.where, item.fresh.where} != {FOUND}:
            lines.append(f"{item.group} {item.name}: {item.operator}; really {item.error}")
            lines += [f"    {line}" for line in item.difference]
            if item.sound_with:
                lines.append(f"    sound with {item.sound_with}")
            for label, verdict in (("by edit", item.edit), ("fresh", item.fresh)):
                lines.append(f"    {label}: {verdict.where} {'; '.join(verdict.said)}".rstrip())
            lines.append("")
    return lines
