"""What code does with where something is not installed as it should be: `except ImportError: Base = object`.

What such a name stands for says nothing of the code as it is meant, nor does an operator that a library was built
without, so nobody is blamed for what comes of it. Read from the modules' texts and the objects of frames; nothing is
run.
"""

from __future__ import annotations

import ast
import functools
import sys
import traceback
from collections.abc import Iterator
from types import FrameType

import torch

from inductor_debug.capture.failures.failed_statement import is_users, statement_at
from inductor_debug.capture.runtime import foreign
from inductor_debug.source.syntax_tree import tree_of_file

_NEAR = 3
"""How many of the user's frames, the innermost first, are looked at: what is passed on is used soon."""


def comes_of_a_fallback(error: BaseException) -> bool:
    """Whether a statement that an exception came through speaks of what stands for something that was not imported.

    Or whether an operator is missing that a library which is there registers (`torch.ops.torchvision.deform_conv2d`).
    """
    if isinstance(error, AttributeError) and type(error.obj) is type(torch.ops.aten):
        return foreign.text_attribute(error.obj, "name") in sys.modules
    steps = [step for step in traceback.walk_tb(error.__traceback__) if is_users(step[0])]
    return any(_speaks_of_one(frame, line) for frame, line in steps[-_NEAR:])


def _speaks_of_one(frame: FrameType, line: int) -> bool:
    statement = statement_at(frame, line)
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} if statement is not None else set()
    return any(
        _is_one(frame.f_globals.get(name), name, frame) for name in names if name not in frame.f_code.co_varnames
    )


def _is_one(value: object, name: str, frame: FrameType) -> bool:
    """Whether a name is bound to a fallback or to a class that is made of one, or was left without what it imports."""
    file = frame.f_code.co_filename
    if name in _fallbacks(file) or (name not in frame.f_globals and name in _tried(file)):
        return True
    if not foreign.is_a(value, type):
        return False
    home = foreign.file_of(sys.modules.get(foreign.module_name(value))) or ""
    return bool(_fallbacks(home) & _bases(home, value.__name__))


@functools.lru_cache(maxsize=64)
def _fallbacks(file: str) -> frozenset[str]:
    """The names of a file that a handler binds where an import has failed."""
    handlers = (handler for node, imports in _attempts(file) if imports for handler in node.handlers)
    names = (item for handler in handlers for item in ast.walk(handler) if isinstance(item, ast.Name))
    return frozenset(item.id for item in names if isinstance(item.ctx, ast.Store))


@functools.lru_cache(maxsize=64)
def _tried(file: str) -> frozenset[str]:
    """The names of a file that an import binds which may fail without a word."""
    aliases = (alias for _, imports in _attempts(file) for item in imports for alias in item.names)
    return frozenset(alias.asname or alias.name.partition(".")[0] for alias in aliases)


def _attempts(file: str) -> Iterator[tuple[ast.Try, list[ast.Import | ast.ImportFrom]]]:
    """The `try` statements of a file, each with the imports that it attempts."""
    for node in _nodes(file):
        if isinstance(node, ast.Try):
            yield node, [item for item in node.body if isinstance(item, ast.Import | ast.ImportFrom)]


def _bases(file: str, name: str) -> set[str]:
    """The names that the bases of a class in a file are made of."""
    kinds = (node for node in _nodes(file) if isinstance(node, ast.ClassDef) and node.name == name)
    bases = (item for kind in kinds for base in kind.bases for item in ast.walk(base))
    return {item.id for item in bases if isinstance(item, ast.Name)}


def _nodes(file: str) -> Iterator[ast.AST]:
    tree = tree_of_file(file)
    return ast.walk(tree) if tree is not None else iter(())
