"""The folder of a project from which a file means a module that Python did not find, or found without what is wanted.

Many a project is run with a folder of its own on `PYTHONPATH`, or inside of a folder. Looks for files and reads them,
once an import has failed; imports nothing.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from itertools import islice

from inductor_debug.source.syntax_tree import tree_of

_MOST_FOLDERS = 200
_LARGEST = 400_000
_OF_A_PACKAGE = re.compile(r"^from\s*\.", re.MULTILINE)
"""What no module can say that is imported by one name alone: `import imutils` beside a package's own `imutils.py`."""


def meant_root(text: str, missing: str, around: Sequence[str]) -> str | None:
    """The nearest folder that has a module which could not be imported, with all that is imported from it.

    Args:
        text: of the file that imports it.
        missing: the module's whole name, or that of a package around it.
        around: the folders from that of the file up to the project's.

    Returns:
        None where there is none, it is the one in which Python looked, or the text is no Python.
    """
    try:
        imports = list(imports_of(text))
    except (SyntaxError, ValueError, RecursionError):
        return None
    for module, names in imports:
        parts = module.split(".")
        if f"{module}.".startswith(f"{missing}."):
            root = next((root for root in _neighbours(around) if _gives(root, parts, names)), None)
            if root is not None and _found(parts[0], [root]) != _found(parts[0]):
                return root
    return None


def imports_of(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The modules that a text imports by their whole names, and what from each.

    Raises what `tree_of` raises.
    """
    for node in ast.walk(tree_of(text)):
        if isinstance(node, ast.Import):
            yield from ((item.name, ()) for item in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, tuple(item.name for item in node.names if item.name != "*")


def _found(name: str, path: list[str] | None = None) -> tuple[object, ...] | None:
    """Where Python finds a module on a path, or on its own."""
    spec = PathFinder.find_spec(name, path)
    return None if spec is None else (spec.origin, *(spec.submodule_search_locations or ()))


def has_module(root: str, name: str) -> bool:
    """Whether a folder has a module, or a folder that is one, of a name."""
    place = os.path.join(root, name)
    return os.path.isfile(f"{place}.py") or os.path.isdir(place)


def _gives(root: str, parts: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a module lies below a folder and its text, or what lies below it, has all the names."""
    place = os.path.join(root, *parts)
    file = f"{place}.py" if os.path.isfile(f"{place}.py") else os.path.join(place, "__init__.py")
    said: set[str] = set()
    if os.path.isfile(file) and os.path.getsize(file) <= _LARGEST:
        with open(file, encoding="utf-8", errors="replace") as stream:
            text = stream.read()
        if len(parts) == 1 and file == f"{place}.py" and _OF_A_PACKAGE.search(text):
            return False
        said = set(re.findall(r"\w+", text))
    elif not os.path.isdir(place):
        return False
    return all(name in said or has_module(place, name) for name in names)


def _neighbours(around: Sequence[str]) -> Iterator[str]:
    """Some folders around a file and those in them, the nearest first."""
    for folder in filter(os.path.isdir, around):
        yield folder
        with os.scandir(folder) as entries:
            inside = sorted(item.path for item in entries if item.is_dir() and not item.name.startswith("."))
        yield from islice(inside, _MOST_FOLDERS)
