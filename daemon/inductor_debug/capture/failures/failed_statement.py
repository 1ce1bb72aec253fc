"""The statement of the user's in which an exception was raised, and what the names in it stand for.

Read from the frames of the traceback; whatever has to run code to be known stays unknown.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from types import FrameType, FunctionType, TracebackType
from typing import Any

from torch import nn

from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.loading import is_installed, is_standard
from inductor_debug.source.syntax_tree import tree_of_file

_OWN = __name__.partition(".")[0] + "."


def is_users(frame: FrameType) -> bool:
    """Whether a frame runs code of the user's, neither a library's nor ours."""
    own, path = str(frame.f_globals.get("__name__")).startswith(_OWN), frame.f_code.co_filename
    return not (own or is_installed(path) or is_standard(path) or path.startswith("<frozen "))


def steps_of(error: BaseException) -> Iterator[TracebackType]:
    """The steps of a traceback, the outermost first."""
    step = error.__traceback__
    while step is not None:
        yield step
        step = step.tb_next


def users_steps(error: BaseException) -> list[TracebackType]:
    """The steps of a traceback through the user's frames, the outermost first."""
    return [step for step in steps_of(error) if is_users(step.tb_frame)]


def last_frame(error: BaseException) -> tuple[FrameType | None, int]:
    """The user's innermost frame through which an exception came, and its line."""
    steps = users_steps(error)
    return (steps[-1].tb_frame, steps[-1].tb_lineno) if steps else (None, 0)


def blocks_at(frame: FrameType, line: int) -> list[ast.stmt]:
    """The statements that a line lies in, the outermost first."""
    tree = tree_of_file(frame.f_code.co_filename)
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.stmt)) if tree is not None else ()
    return [node for node in nodes if node.lineno <= line <= (node.end_lineno or node.lineno)]


def statement_at(frame: FrameType, line: int) -> ast.AST | None:
    """The innermost statement at a line, compound ones without their bodies."""
    found = next(reversed(blocks_at(frame, line)), None)
    if isinstance(found, ast.For):
        return found.iter
    if isinstance(found, ast.If | ast.While):
        return found.test
    return found


def raised_by(error: BaseException) -> tuple[FrameType, ast.AST] | None:
    """The user's innermost frame through which an exception came, and its statement; None where either is not known."""
    frame, line = last_frame(error)
    statement = statement_at(frame, line) if frame is not None else None
    return None if frame is None or statement is None else (frame, statement)


def value_of(node: ast.expr, frame: FrameType) -> tuple[bool, Any]:
    """Whether a name or an attribute has a value that can be had without running code, and the value."""
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals):
            if node.id in names:
                return True, names[node.id]
    elif isinstance(node, ast.Attribute):
        known, owner = value_of(node.value, frame)
        if known:
            return _attribute(owner, node.attr)
    return False, None


def _attribute(owner: Any, name: str) -> tuple[bool, Any]:
    if isinstance(owner, nn.Module):
        members = foreign.members_of(owner)
        if name in members:
            return True, members[name]
    try:
        found = inspect.getattr_static(owner, name)
    except AttributeError:
        return False, None
    return not hasattr(type(found), "__get__") or isinstance(found, FunctionType), found
