"""What was run of an open notebook, as the one text that is analysed: each run with the text it had, in order.

A notebook's kernel knows what ran and nothing else: not the cells that nobody ran, not what was typed since. A cell
that is run again counts as it is now: at the end or, where cells that ran in between need its names, in its old place,
for they would be run again with what it gives now. Only where it needs names of theirs, too, it counts twice. When the
kernel begins to count anew, what ran before is gone, and a cell that does not parse has run nothing. Nothing here
executes anything.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from inductor_debug.source.notebooks.magics import python_of
from inductor_debug.source.parsing import SyntaxFault, parse


@dataclass(frozen=True, slots=True)
class CellRun:
    """One run of a cell: `cell` is its name, `order` what the kernel had counted, `text` what was run."""

    cell: str
    order: int
    text: str


def with_run(runs: Sequence[CellRun], run: CellRun) -> tuple[CellRun, ...]:
    """The runs that count after one more, in order."""
    if isinstance(parse(python_text(run.text)), SyntaxFault):
        return tuple(runs)
    if run.order <= max((before.order for before in runs), default=run.order - 1):
        return (run,)
    return tuple(_with_again(list(runs), run))


def last_runs(runs: Sequence[CellRun]) -> dict[str, int]:
    """Which of the runs was the last one of each cell."""
    return {run.cell: index for index, run in enumerate(runs)}


def python_text(cell: str) -> str:
    """The text of a cell as Python, line by line."""
    return python_of(cell.replace("\r\n", "\n").replace("\r", "\n").replace("\0", ""))


def _with_again(runs: list[CellRun], run: CellRun) -> list[CellRun]:
    for index in reversed(range(len(runs))):
        before, between = runs[index], runs[index + 1 :]
        if before.cell != run.cell:
            continue
        given, used = _names(run.text)
        given |= _names(before.text)[0]
        if given.isdisjoint(_together(between, 1)):
            del runs[index]
        elif used.isdisjoint(_together(between, 0) - _together(runs[:index], 0)):
            runs[index] = run
            return runs
    return [*runs, run]


def _together(runs: Sequence[CellRun], which: int) -> frozenset[str]:
    """The names that runs give (0), or use (1)."""
    return frozenset().union(*(_names(run.text)[which] for run in runs))


@lru_cache(maxsize=256)
def _names(cell: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a cell gives to others, and those that it uses."""
    tree = parse(python_text(cell))
    assert not isinstance(tree, SyntaxFault)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    given = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            given.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            given |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return frozenset(given), frozenset(name.id for name in names if isinstance(name.ctx, ast.Load))
