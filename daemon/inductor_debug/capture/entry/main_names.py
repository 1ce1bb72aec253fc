"""Names that a file's classes and functions read and only its main program sets, from its text.

A script that sets `n_class = len(words)` under `if __name__ == "__main__":` reads it in the classes above. What stands
there is not run: its statements are gone through as far as they are plain.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from inductor_debug.capture.entry.main_program import asks_for_main
from inductor_debug.capture.inference.values.command_line_options import options_of
from inductor_debug.capture.inference.values.following import Follower
from inductor_debug.capture.inference.values.symbolic_values import SymbolicValue, UnknownError, fresh, is_known

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
    return {
        name: fresh(value) for name, value in known.items() if is_known(value) and not isinstance(value, SymbolicValue)
    }


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
