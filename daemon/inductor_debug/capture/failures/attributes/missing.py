"""Reads of `self.name` that nothing sets, also in code that no input reaches: most are misspelt.

Told is only what cannot be there: a name that neither the class nor its relatives declare or set, that nobody sets from
outside, that no text of the file spells out (`hasattr(self, "name")`), and that no other file of the project knows.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType

from torch import nn

from inductor_debug.capture.failures.attributes.known import Attributes
from inductor_debug.capture.failures.attributes.setting import Function, first_parameter, of_class

_MOST_FILES = 2000
"""Of a project with more files it is not known who sets what."""
_CATCHING = frozenset(("AttributeError", "Exception", "BaseException"))


@dataclass(frozen=True, slots=True)
class MissingAttribute:
    """A read of an attribute that the objects of the class `owner` have not; `nearest` is the most similar name."""

    node: ast.Attribute
    owner: str
    nearest: str | None


def missing_attributes(
    tree: ast.Module, module: ModuleType, path: str, project_root: str, others: tuple[ModuleType, ...] = ()
) -> list[MissingAttribute]:
    """The reads in a loaded file's modules (`nn.Module`), in the order of the file.

    Args:
        tree: the file's.
        module: the file, executed.
        path: where it is.
        project_root: the folder whose files may set attributes, too.
        others: files of the project that were imported along with it.
    """
    known = Attributes(tree, module, others)
    spelled = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    found: list[MissingAttribute] = []
    for node in tree.body:
        kind = vars(module).get(node.name) if isinstance(node, ast.ClassDef) else None
        if isinstance(node, ast.ClassDef) and isinstance(kind, type) and _is_as_written(kind, module, path):
            reads = [read for read in _unset(node, kind) if read.attr not in spelled]
            attributes = known.of(kind) if reads else None
            if attributes is not None:
                unknown = [read for read in reads if attributes.lack(read.attr)]
                found += [MissingAttribute(read, node.name, attributes.nearest(read.attr)) for read in unknown]
    elsewhere = known_elsewhere({item.node.attr for item in found}, path, project_root)
    return [item for item in found if item.node.attr not in elsewhere]


def _is_as_written(kind: type, module: ModuleType, path: str) -> bool:
    """Whether a class is a module of this file, whose constructor no decorator has replaced."""
    if not issubclass(kind, nn.Module) or kind.__module__ != module.__name__:
        return False
    constructor = vars(kind).get("__init__")
    return constructor is None or (isinstance(constructor, FunctionType) and constructor.__code__.co_filename == path)


def _is_private(name: str) -> bool:
    """Whether Python gives a name another one in a class, or knows it itself."""
    return name.startswith("__")


def _reads(node: ast.ClassDef) -> Iterator[ast.Attribute]:
    """The attributes of its own object that the methods of a class read without a guard."""
    for function in node.body:
        if isinstance(function, Function):
            yield from _reads_in(function)


def _reads_in(function: Function) -> Iterator[ast.Attribute]:
    own = first_parameter(function)
    names = (item for item in ast.walk(function) if isinstance(item, ast.Name) and item.id == own)
    if own not in ("", "cls") and all(isinstance(name.ctx, ast.Load) for name in names):
        for statement in function.body:
            yield from _unguarded(statement, own)


def reads_of(function: Function) -> set[str]:
    """The attributes that a method reads of its own object without a guard."""
    return {read.attr for read in _reads_in(function)}


def unset_reads(node: ast.ClassDef, kind: type) -> set[str]:
    """The attributes that methods of a class read of their own object, and that nothing in its own text gives it."""
    return {read.attr for read in _unset(node, kind)}


def _unset(node: ast.ClassDef, kind: type) -> list[ast.Attribute]:
    declared = {*dir(kind), *of_class(node).own}
    return [read for read in _reads(node) if read.attr not in declared and not _is_private(read.attr)]


def _unguarded(node: ast.AST, own: str) -> Iterator[ast.Attribute]:
    if isinstance(node, ast.ClassDef) or _takes(node, own):
        return
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and getattr(node.value, "id", "") == own:
        yield node
    guarded = node.body if isinstance(node, ast.Try) and any(map(_catches, node.handlers)) else []
    for child in ast.iter_child_nodes(node):
        if child not in guarded:
            yield from _unguarded(child, own)


def _takes(node: ast.AST, own: str) -> bool:
    """Whether a function inside a method has a parameter of the same name."""
    if not isinstance(node, Function | ast.Lambda):
        return False
    return any(item.arg == own for item in ast.walk(node.args) if isinstance(item, ast.arg))


def _catches(handler: ast.ExceptHandler) -> bool:
    caught = handler.type
    items = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(item is None or getattr(item, "id", "") in _CATCHING for item in items)


def known_elsewhere(names: set[str], path: str, project_root: str) -> set[str]:
    """Those of some names that another Python file below a folder has in it; all where there are too many files."""
    if not names:
        return set()
    words = re.compile(rb"\b(" + b"|".join(re.escape(name.encode()) for name in names) + rb")\b")
    found: set[str] = set()
    for count, file in enumerate(_python_files(project_root)):
        if count >= _MOST_FILES:
            return names
        if os.path.abspath(file) != path:
            try:
                with open(file, "rb") as stream:
                    found.update(match.decode() for match in words.findall(stream.read()))
            except OSError:
                continue
    return found


def _python_files(folder: str) -> Iterator[str]:
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in ("site-packages", "build")]
        yield from (os.path.join(root, name) for name in files if name.endswith(".py"))
