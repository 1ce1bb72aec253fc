"""Which steps belong together: those of one module, which a minimiser takes out at once, and those of one kind.

Looks at dotted paths and targets alone.
"""

from __future__ import annotations

from inductor_debug.repro.program.program import Program

_DEEPEST = 3
_MOST = 8
_LARGE = 2000
"""From so many steps on, trying one step of each kind takes less time than trying half of the program once."""
_MOST_KINDS = 64


def modules(program: Program) -> list[frozenset[str]]:
    """Sets of module paths to take out at once: repeated layers before the modules inside of them."""
    paths = list(dict.fromkeys(step.module for step in program.steps if step.module))
    depths = sorted({path.count(".") for path in paths})
    groups: list[frozenset[str]] = []
    for depth in depths[:_DEEPEST]:
        heads = list(dict.fromkeys(".".join(path.split(".")[: depth + 1]) for path in paths))
        if not 1 < len(heads) <= _MOST:
            continue
        groups += [frozenset(path for path in paths if path == head or path.startswith(head + ".")) for head in heads]
    return list(dict.fromkeys(groups))


def kinds(program: Program) -> list[int]:
    """The last step of each kind in a large program, which may fail all by itself; nothing in a small one."""
    if len(program.steps) < _LARGE:
        return []
    last = {(step.target, step.specs): index for index, step in enumerate(program.steps)}
    return sorted(last.values(), reverse=True)[:_MOST_KINDS]
