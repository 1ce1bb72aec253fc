"""The folders from which a file means what it imports, where the usual ones give another module of that name, or none.

Many a project is run with a folder of its own on `PYTHONPATH`, or inside of a folder. Looks for files and reads them;
imports nothing.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from inductor_debug.source.syntax_tree import tree_of

_MOST_FOLDERS = 200
_LARGEST = 400_000


def meant_roots(text: str, usual: Sequence[str], around: Sequence[str]) -> tuple[list[str], list[str]]:
    """Folders to put before the usual ones, and after them.

    Args:
        text: of the file.
        usual: the folders of the project in which Python looks anyway, in order.
        around: the folders from that of the file up to the project's.
    """
    before: list[str] = []
    after: list[str] = []
    for module, names in dict.fromkeys(_imports(text)):
        parts = module.split(".")
        first = next((root for root in usual if _has(root, parts[0])), None)
        if first is not None and _gives(first, parts, names):
            continue
        better = next((root for root in (*usual, *_neighbours(around)) if _gives(root, parts, names)), None)
        if better is not None:
            (after if first is None else before).append(better)
    return list(dict.fromkeys(before)), list(dict.fromkeys(after))


def _imports(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The modules that a text imports by their whole names where it is executed, and what from each."""
    for node in tree_of(text).body:
        if isinstance(node, ast.Import):
            yield from ((item.name, ()) for item in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, tuple(item.name for item in node.names if item.name != "*")


def _has(root: str, name: str) -> bool:
    place = os.path.join(root, name)
    return os.path.isfile(f"{place}.py") or os.path.isdir(place)


def _gives(root: str, parts: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a module lies below a folder and its text, or what lies below it, has all the names."""
    place = os.path.join(root, *parts)
    file = f"{place}.py" if os.path.isfile(f"{place}.py") else os.path.join(place, "__init__.py")
    said: set[str] = set()
    if os.path.isfile(file) and os.path.getsize(file) <= _LARGEST:
        with open(file, encoding="utf-8", errors="replace") as stream:
            said = set(re.findall(r"\w+", stream.read()))
    elif not os.path.isdir(place):
        return False
    return all(name in said or _has(place, name) for name in names)


def _neighbours(around: Sequence[str]) -> Iterator[str]:
    """Some folders around a file and those in them, the nearest first."""
    for folder in filter(os.path.isdir, around):
        yield folder
        with os.scandir(folder) as entries:
            inside = sorted(item.path for item in entries if item.is_dir() and not item.name.startswith("."))
        yield from islice(inside, _MOST_FOLDERS)
