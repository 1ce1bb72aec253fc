"""Names that a file's classes and functions read and only its main program sets, from its text.

A script that sets `n_class = len(words)` under `if __name__ == "__main__":`, or imports `Variable` there, reads it in
the classes above. What stands there is not run: its statements are gone through as far as they are plain, and of its
imports those are done whose names are read.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from inductor_debug.capture.entry.main_program import asks_for_main
from inductor_debug.capture.inference.values.command_line_options import options_of
from inductor_debug.capture.inference.values.following import Follower
from inductor_debug.capture.inference.values.symbolic_values import SymbolicValue, UnknownError, fresh, is_known
from inductor_debug.capture.runtime.interception import LoadStopped

_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def names_of_main(tree: ast.Module, module: ModuleType) -> dict[str, Any]:
    """The values that are known of such names, each once.

    Args:
        tree: the file.
        module: what its top level has made of it.
    """
    blocks = [node for node in tree.body if isinstance(node, ast.If) and asks_for_main(node.test)]
    wanted = set(_read(tree)) & set(_set(blocks)) - vars(module).keys() - vars(builtins).keys()
    if not wanted:
        return {}
    names: dict[str, Any] = {}
    follower = Follower(vars(module), options_of(tree, Follower(vars(module), {})))
    with contextlib.suppress(UnknownError):
        follower.run([statement for block in blocks for statement in block.body], names)
    known = {name: names[name] for name in sorted(wanted & names.keys())}
    return _imported(blocks, wanted) | {
        name: fresh(value) for name, value in known.items() if is_known(value) and not isinstance(value, SymbolicValue)
    }


def _imported(blocks: list[ast.If], wanted: set[str]) -> dict[str, Any]:
    """What those of the names stand for that the blocks import, as far as that can be imported."""
    found: dict[str, Any] = {}
    statements = (statement for block in blocks for statement in block.body)
    for node in (each for each in statements if isinstance(each, ast.Import | ast.ImportFrom)):
        for alias in node.names:
            name = _bound_by(alias)
            if name not in wanted:
                continue
            with contextlib.suppress(Exception, SystemExit, LoadStopped):  # whatever an imported module raises
                if isinstance(node, ast.Import):
                    whole = importlib.import_module(alias.name)
                    found[name] = whole if alias.asname else importlib.import_module(name)
                elif node.module is not None and not node.level:
                    found[name] = getattr(importlib.import_module(node.module), alias.name)
    return found


def _bound_by(alias: ast.alias) -> str:
    """The name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def _read(tree: ast.Module) -> Iterator[str]:
    for definition in (node for node in tree.body if isinstance(node, _DEFINITIONS)):
        for node in ast.walk(definition):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                yield node.id


def _set(blocks: list[ast.If]) -> Iterator[str]:
    for block in blocks:
        for node in ast.walk(block):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif isinstance(node, ast.Import | ast.ImportFrom):
                yield from map(_bound_by, node.names)
