"""What was run of an open notebook, as the one text that is analysed: each run with the text it had, in order.

A notebook's kernel knows what ran and nothing else: not the cells that nobody ran, not what was typed since. A cell
that ran twice is there twice only where what ran in between needs a name of its first run. When the kernel begins to
count anew, what ran before is gone. Nothing here executes anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from inductor_debug.engine.notebooks.magics import python_of
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
    began_anew = bool(runs) and run.order <= runs[-1].order
    return tuple(_needed([] if began_anew else runs, run))


def last_runs(runs: Sequence[CellRun]) -> dict[str, int]:
    """Which of the runs was the last one of each cell."""
    return {run.cell: index for index, run in enumerate(runs)}


def python_text(cell: str) -> str:
    """The text of a cell as Python, line by line."""
    return python_of(cell.replace("\r\n", "\n").replace("\r", "\n").replace("\0", ""))


def _needed(before: Sequence[CellRun], last: CellRun) -> Iterator[CellRun]:
    kept = [last]
    repeated = {last.cell}
    for run in reversed(before):
        if run.cell not in repeated:
            kept.append(run)
            repeated.add(run.cell)
            continue
        between: set[str] = set()
        for later in reversed(kept):
            if later.cell == run.cell:
                break
            between |= _names(later.text)[1]
        if not between.isdisjoint(_names(run.text)[0]):
            kept.append(run)
    yield from reversed(kept)


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
