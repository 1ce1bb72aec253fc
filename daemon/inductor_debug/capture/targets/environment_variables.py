"""Environment variables that a file reads and a script of its project sets: `os.environ["JIT"] = "1"` in `train.py`.

Such a file can be loaded by that script alone. What is set is read as syntax, with the defaults of the command line's
options; nothing is run.
"""

from __future__ import annotations

import ast
import itertools
import os
import traceback

from inductor_debug.capture.inference.construction.project_files import (
    MOST_FILES,
    files_of,
    names_of,
    text_of_file,
    tree_of_text,
)
from inductor_debug.capture.inference.values.command_line_options import options_of
from inductor_debug.capture.inference.values.following import Follower
from inductor_debug.capture.inference.values.symbolic_values import UnknownError


def lacking_variable(error: BaseException | None) -> str | None:
    """The variable that was asked for and is not set; None where something else was raised."""
    if not isinstance(error, KeyError) or not error.args or not isinstance(error.args[0], str):
        return None
    frames = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    return error.args[0] if frames and frames[-1] is type(os.environ).__getitem__.__code__ else None


def set_in_project(name: str, path: str, root: str) -> tuple[str, str] | None:
    """What a script of the project sets a variable to, and that script's path; None where none does, plainly.

    Args:
        name: the variable.
        path: the file that reads it; scripts near to it are asked first.
        root: the project's folder.
    """
    files = itertools.islice(files_of(root), MOST_FILES)
    for file in sorted(files, key=lambda other: -len(os.path.commonpath([other, path]))):
        text = text_of_file(file)
        if "environ" in text and name in text and (value := _value_in(name, text, file, root)) is not None:
            return value, file
    return None


def _value_in(name: str, text: str, file: str, root: str) -> str | None:
    try:
        tree = tree_of_text(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    written = [value for node in ast.walk(tree) if (value := _set_to(node, name)) is not None]
    names = names_of(tree, file, root) if written else {}
    follower = Follower(names, options_of(tree, Follower(names, {})))
    values = (follower.or_unknown(value, {}) for value in written)
    return next((value for value in values if value is not UnknownError and isinstance(value, str)), None)


def _set_to(node: ast.AST, name: str) -> ast.expr | None:
    """What a statement or a call sets the variable to; None where it does not."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and _is_environment(target.value) and _is(target.slice, name):
            return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 2:
        is_default = node.func.attr == "setdefault" and _is_environment(node.func.value)
        return node.args[1] if is_default and _is(node.args[0], name) else None
    return None


def _is_environment(node: ast.expr) -> bool:
    return ast.unparse(node) in ("os.environ", "environ")


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == name
