"""Which steps belong to the same module: what a minimiser takes out at once. Looks at dotted paths alone."""

from __future__ import annotations

from inductor_debug.repro.program import Program

_DEEPEST = 3
_MOST = 8


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
