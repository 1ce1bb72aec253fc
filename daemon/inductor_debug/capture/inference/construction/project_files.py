"""The other files of a project, read as text: which there are, and what their names plainly stand for.

None of them is imported here: what they import that nobody else does is read as text as well.
"""

from __future__ import annotations

import ast
import functools
import itertools
import os
import re
import sys
from collections.abc import Iterator
from types import SimpleNamespace

from inductor_debug.capture.inference.values.command_line_options import options_of
from inductor_debug.capture.inference.values.following import FollowedFunction, Follower
from inductor_debug.capture.inference.values.later_modules import later
from inductor_debug.capture.inference.values.plain_values import Names
from inductor_debug.capture.inference.values.symbolic_values import Options, UnknownError
from inductor_debug.capture.runtime import foreign

_LARGEST = 400_000
"""Bytes of a file that people write."""
_CONVERSION = re.compile(
    r"\b\w*(?:model|net)\w*\.(?:(?:double|half|bfloat16)\(\)|to\([^()\n]*torch\.(?:double|float64|half|float16|bfloat16)\b)"
    r"|\bset_default_dtype\(torch\.(?!float32|float\b)|\bset_default_tensor_type\([^()\n]*(?:Double|Half)Tensor"
)
MOST_FILES = 400
"""Files of a project that are looked through for one question."""
_DEEPEST = 3
"""How many files that import each other are read for one name."""
_ASYNC = re.compile(r"\basync\s*=(?!=)")
_FOREIGN = frozenset(("site-packages", "node_modules", "__pycache__", "venv", "env", "build", "dist"))


def files_of(root: str, endings: tuple[str, ...] = (".py",), deepest: int = sys.maxsize) -> Iterator[str]:
    """The Python files below a folder, or others, those of installed packages left out; not more than so deep."""
    for folder, folders, files in os.walk(root):
        deeper = folder.count(os.sep) - root.count(os.sep) < deepest
        folders[:] = sorted(item for item in folders if deeper and not item.startswith(".") and item not in _FOREIGN)
        for file in sorted(files):
            if file.endswith(endings):
                yield os.path.join(folder, file)


@functools.lru_cache(maxsize=512)
def text_of_file(path: str) -> str:
    """What a file says; empty where it cannot be read, or is larger than people write."""
    try:
        if os.path.getsize(path) > _LARGEST:
            return ""
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


@functools.lru_cache(maxsize=4)
def converts_elsewhere(path: str, root: str) -> bool:
    """Whether another file of the project gives what it calls a model, or all tensors, another precision."""
    return any(
        _CONVERSION.search(text_of_file(file)) is not None
        for file in itertools.islice(files_of(root), MOST_FILES)
        if file != path
    )


def tree_of_text(text: str) -> ast.Module:
    """The syntax of a file, also of one that was written before `async` was a keyword: `x.cuda(async=True)`.

    Raises:
        SyntaxError: it is not Python.
        ValueError: it holds null bytes.
        RecursionError: it is nested too deep.
    """
    try:
        return ast.parse(text)
    except SyntaxError:
        return ast.parse(_ASYNC.sub("non_blocking=", text))


def names_of(tree: ast.Module, path: str = "", root: str = "", depth: int = 0) -> Names:
    """The plain constants and the functions of a file that is not executed, and what it imports.

    Of modules that are imported anyway all names are known, of other files of the project the same as of this one.

    Args:
        tree: the file.
        path: where it is; empty where it is no file of the project.
        root: the project's folder.
        depth: how many files import this one.
    """
    found: Names = {}
    follower = Follower(found, {})
    for node in _statements(tree):
        if isinstance(node, ast.FunctionDef):
            found[node.name] = FollowedFunction(node)
        elif isinstance(node, ast.Import):
            for item in node.names:
                module = sys.modules.get(item.name) or _read_module(item.name, 0, path, root, depth) or later(item.name)
                if module is not None and "." not in (item.asname or item.name):
                    found[item.asname or item.name] = module
        elif isinstance(node, ast.ImportFrom):
            loaded = sys.modules.get(node.module or "") if not node.level else None
            module = loaded or _read_module(node.module or "", node.level, path, root, depth)
            names = foreign.namespace(module)
            for item in node.names:
                if item.name == "*" and loaded is None:
                    found.update(names)
                elif item.name in names:
                    found[item.asname or item.name] = names[item.name]
                elif module is None and not node.level and (part := later(f"{node.module}.{item.name}")) is not None:
                    found[item.asname or item.name] = part
        elif isinstance(node, ast.Assign) and all(isinstance(target, ast.Name) for target in node.targets):
            value = follower.or_unknown(node.value, {})
            if isinstance(value, Options) and not vars(value):
                value = Options(**options_of(tree, follower))
            if value is not UnknownError:
                found.update({target.id: value for target in node.targets if isinstance(target, ast.Name)})
    return found


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements of a file, and those of its main program, whose names functions of the file use."""
    for node in tree.body:
        if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test):
            yield from node.body
        else:
            yield node


def _read_module(name: str, level: int, path: str, root: str, depth: int) -> SimpleNamespace | None:
    """The plain constants of a file of the project that one at `path` imports, without executing it."""
    if not path or depth >= _DEEPEST:
        return None
    around = folders_around(path, root)
    for base in around[level - 1 : level] if level else around:
        place = os.path.join(base, *name.split(".")) if name else base
        for file in (f"{place}.py", os.path.join(place, "__init__.py")):
            if os.path.isfile(file) and file != path:
                return _constants_of(file, root, depth + 1)
    return None


@functools.lru_cache(maxsize=256)
def _constants_of(file: str, root: str, depth: int) -> SimpleNamespace | None:
    try:
        tree = tree_of_text(text_of_file(file))
        names = names_of(tree, file, root, depth)
    except (SyntaxError, ValueError, RecursionError):
        return None
    options = options_of(tree, Follower(names, {}))
    own = {
        name: FollowedFunction(value.node, value.names or names, value.options or options)
        for name, value in names.items()
        if isinstance(value, FollowedFunction)
    }
    return SimpleNamespace(**{**names, **own})


def folders_around(path: str, root: str) -> list[str]:
    """The folder of a file and those around it, up to the project's, nearest first."""
    folder = os.path.dirname(path)
    around = [folder]
    while folder != root and (folder := os.path.dirname(folder)).startswith(root):
        around.append(folder)
    return around
