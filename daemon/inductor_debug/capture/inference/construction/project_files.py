"""The other files of a project, read as text: which there are, and what their names plainly stand for.

None of them is imported here; of what they import only what is imported anyway is looked at.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator

from inductor_debug.capture.inference.values.following import FollowedFunction, Follower
from inductor_debug.capture.inference.values.plain_values import Names
from inductor_debug.capture.inference.values.symbolic_values import UnknownError
from inductor_debug.capture.runtime import foreign

_LARGEST = 400_000
"""Bytes of a file that people write."""
_FOREIGN = frozenset(("site-packages", "node_modules", "__pycache__", "venv", "env", "build", "dist"))


def files_of(root: str) -> Iterator[str]:
    """The Python files below a folder, those of installed packages left out."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(item for item in folders if not item.startswith(".") and item not in _FOREIGN)
        for file in sorted(files):
            if file.endswith(".py"):
                yield os.path.join(folder, file)


def text_of_file(path: str) -> str:
    """What a file says; empty where it cannot be read, or is larger than people write."""
    try:
        if os.path.getsize(path) > _LARGEST:
            return ""
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def names_of(tree: ast.Module) -> Names:
    """The plain constants and the functions of a file that is not executed, and what it imports that is imported."""
    found: Names = {}
    follower = Follower(found, {})
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = FollowedFunction(node)
        elif isinstance(node, ast.Import):
            known = {item.asname or item.name: sys.modules.get(item.name) for item in node.names}
            found.update({name: module for name, module in known.items() if module is not None and "." not in name})
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = foreign.namespace(sys.modules.get(node.module or ""))
            found.update({item.asname or item.name: names[item.name] for item in node.names if item.name in names})
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = follower.or_unknown(node.value, {})
            if value is not UnknownError:
                found[node.targets[0].id] = value
    return found
