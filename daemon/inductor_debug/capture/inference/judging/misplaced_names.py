"""Arguments that are called where a part of the model has the same name: `query(x)` for `self.query(x)`.

No input mends that: what is called would have to be a tensor elsewhere, and the part is never used. Read from the
statement that raised and from the objects of its frame; nothing is run.
"""

from __future__ import annotations

import ast
import re
from types import FunctionType, ModuleType
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.failures.failed_statement import blocks_at, last_frame, raised_by
from inductor_debug.capture.runtime import foreign

_UNBOUND = re.compile(r"local variable '(\w+)'")
_FUNCTION = re.compile(r"(?:[\w<>]+\.)*?(\w+)\(\) (?:missing \d+ required|takes |got )")
_METHOD = re.compile(r"(?:[\w<>]+\.)*?(\w+)\.(\w+)\(\) (?:missing \d+ required|takes |got )")


def is_bound_later_alone(error: BaseException) -> bool:
    """Whether a name of a function is read where nothing before it gives it a value, whichever way the run came."""
    named = _UNBOUND.search(str(error)) if isinstance(error, UnboundLocalError) else None
    frame, line = last_frame(error)
    if named is None or frame is None:
        return False
    around = blocks_at(frame, line)
    functions = [node for node in around if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    if not functions or any(isinstance(node, ast.For | ast.While | ast.Try) for node in around):
        return False  # an earlier round may have bound it
    names = [node for node in ast.walk(functions[-1]) if isinstance(node, ast.Name) and node.id == named[1]]
    bound = [node.lineno for node in names if isinstance(node.ctx, ast.Store)]
    return bool(bound) and min(bound) >= line


def misfits_own_method(error: BaseException) -> bool:
    """Whether the statement that raised gives a method of its own object what that method does not take.

    What the object is made of does not matter then. Python names the method in its words alone.
    """
    named = _METHOD.match(str(error)) if isinstance(error, TypeError) else None
    if named is None or (raised_at := raised_by(error)) is None:
        return False
    frame, statement = raised_at
    itself = next(iter(frame.f_code.co_varnames), "")
    owners = {kind.__name__ for kind in type(frame.f_locals.get(itself)).__mro__ if named[2] in vars(kind)}
    called = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return named[1] in owners and any(
        isinstance(name, ast.Attribute)
        and name.attr == named[2]
        and isinstance(name.value, ast.Name)
        and name.value.id == itself
        for name in called
    )


def misfits_named_function(error: BaseException) -> bool:
    """Whether the statement that raised gives a function, which its module names, what that function does not take.

    What the call's arguments are does not matter then.
    """
    named = _FUNCTION.match(str(error)) if isinstance(error, TypeError) else None
    if named is None or (raised_at := raised_by(error)) is None:
        return False
    frame, statement = raised_at
    called = (node.func for node in ast.walk(statement) if isinstance(node, ast.Call))
    functions = (_of_module(name, frame.f_globals) for name in called if _root(name) not in frame.f_locals)
    return any(isinstance(found, FunctionType) and found.__name__ == named[1] for found in functions)


def gives_a_tensor_to_torch(error: BaseException) -> bool:
    """Whether a method of tensors that refused its arguments was given what the function was: a number may be meant.

    `weight.repeat(batch, 1)` is told in the same words as a call with too many arguments.
    """
    named = _FUNCTION.match(str(error)) if isinstance(error, TypeError) else None
    if named is None or not hasattr(torch.Tensor, named[1]) or (raised_at := raised_by(error)) is None:
        return False
    frame, statement = raised_at
    calls = [
        node
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == named[1]
    ]
    values = [item for call in calls for item in (*call.args, *(keyword.value for keyword in call.keywords))]
    given = frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
    names = {value.id for value in values if isinstance(value, ast.Name)}.intersection(given)
    return any(isinstance(frame.f_locals.get(name), torch.Tensor) for name in names)


def _root(name: ast.expr) -> str | None:
    while isinstance(name, ast.Attribute):
        name = name.value
    return name.id if isinstance(name, ast.Name) else None


def _of_module(name: ast.expr, namespace: dict[str, Any]) -> Any:
    """What a name, or an attribute of a module that has a name, stands for in a module; None where it is another."""
    if isinstance(name, ast.Name):
        return namespace.get(name.id)
    if not isinstance(name, ast.Attribute):
        return None
    owner = _of_module(name.value, namespace)
    return foreign.attribute(owner, name.attr) if isinstance(owner, ModuleType) else None


def calls_instead_of_own(error: BaseException) -> bool:
    """Whether the statement that raised calls a tensor whose name is that of a module of the object."""
    if not isinstance(error, TypeError):
        return False
    if (raised_at := raised_by(error)) is None:
        return False
    frame, statement = raised_at
    own = frame.f_locals.get(next(iter(frame.f_code.co_varnames), ""))
    members = foreign.members_of(own) if isinstance(own, nn.Module) else {}
    called = (node.func for node in ast.walk(statement) if isinstance(node, ast.Call))
    return any(
        isinstance(name, ast.Name)
        and isinstance(members.get(name.id), nn.Module)
        and isinstance(frame.f_locals.get(name.id), torch.Tensor)
        for name in called
    )
