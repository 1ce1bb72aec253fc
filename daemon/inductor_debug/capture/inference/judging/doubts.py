"""Whether what was refused without facts may be due to what we gave, or to what nobody has set yet.

Torch and Python refuse many calls for a kind or a value: a real tensor where a complex one is wanted, None where a
method that was not called would have put a state. Other inputs may be of the right kind; then nobody is blamed. Only
what the refused call, or the failed statement, speaks of is looked at, and nothing is run.
"""

from __future__ import annotations

import ast
import itertools
import traceback
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType, FunctionType
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import UninitializedParameter

from inductor_debug.capture.failures.failed_statement import (
    blocks_at,
    is_users,
    last_frame,
    raised_by,
    statement_at,
    value_of,
)
from inductor_debug.capture.inference.search.raised_facts import Raised
from inductor_debug.capture.inference.specs.specs import Guess, ObjectSpec, Spec, TensorSpec

_HOLD_ITEMS = (list, tuple, dict, set, nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)


def has_empty_weights(subject: Any) -> bool:
    """Whether some parameter of a model has no elements."""
    parameters = torch.nn.Module.parameters(subject) if isinstance(subject, torch.nn.Module) else ()
    return any(0 in parameter.shape for parameter in parameters if not isinstance(parameter, UninitializedParameter))


def is_plain(guess: Guess) -> bool:
    """Whether a call gives tensors alone, or objects of tensors: of other values we know neither kind nor length."""
    return all(_is_of_tensors(item.spec) for item in guess.arguments)


def _is_of_tensors(spec: Spec) -> bool:
    if isinstance(spec, ObjectSpec):
        return bool(spec.items) and all(_is_of_tensors(item) for _, item in spec.items)
    return isinstance(spec, TensorSpec)


def may_want_other_inputs(
    error: BaseException, args: tuple[Any, ...], kwargs: Mapping[str, Any], computed: Iterable[int]
) -> bool:
    """Whether a function of torch may take other inputs than those which it refused.

    A list that is empty, as what a detector found in noise, may have something in it with other inputs.

    Args:
        error: what it raised.
        args: of the refused call.
        kwargs: of the refused call.
        computed: the identities of all tensors that come of the inputs.
    """
    known = frozenset(computed)
    if args and isinstance(args[0], list | tuple) and not args[0]:
        return True
    if not isinstance(error, TypeError):
        return any(id(value) in known for value in _leaves((args, kwargs)))
    # The first of several arguments is what is worked on; where others are tensors, numbers may have been meant.
    others = args[1:] if len(args) + len(kwargs) > 1 else args
    return any(id(value) in known for value in _leaves((others, kwargs)))


def speaks_of_unset(error: BaseException, inputs: Iterable[torch.Tensor]) -> bool:
    """Whether the statement that Python refused speaks of something that is None or empty, or of an unfinished method.

    So it is with a state that another method sets, with what could not be imported, and with what subclasses define.
    An input itself counts where a tensor was refused: a number may be meant.
    """
    frame, line = last_frame(error)
    statement = statement_at(frame, line) if frame is not None else None
    if frame is None or statement is None:
        return True
    raised = Raised.by(error)
    own = frozenset(map(id, inputs)) if raised.about_tensors or raised.about_methods else frozenset()
    return any(
        (_is_unset(value) and not _is_none_here(node, value, frame, line)) or id(value) in own
        for node, value in _values(statement, frame)
    )


def misses_a_value(error: BaseException) -> bool:
    """Whether the statement that Python or torch refused reads a local name that is None where a value is wanted."""
    if not isinstance(error, AttributeError | TypeError) or not Raised.by(error).done_with_none:
        return False
    if (raised_at := raised_by(error)) is None:
        return False
    frame, statement = raised_at
    names = (node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
    return any(name in frame.f_locals and frame.f_locals[name] is None for name in names)


def is_computed(error: AttributeError) -> bool:
    """Whether what lacks an attribute is a variable that was computed: neither an argument of the call nor a state.

    What one function of the user's hands to another was computed, too.
    """
    if (raised_at := raised_by(error)) is None:
        return False
    frame, statement = raised_at
    code = frame.f_code
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if _is_called_by_users(error, frame):
        arguments = arguments[:1]
    bases = [node.value for node in ast.walk(statement) if isinstance(node, ast.Attribute) and node.attr == error.name]
    return bool(bases) and all(isinstance(base, ast.Name) and base.id not in arguments for base in bases)


def _is_called_by_users(error: BaseException, frame: FrameType) -> bool:
    """Whether a frame through which an exception came was entered straight from the user's code."""
    frames = [step for step, _ in traceback.walk_tb(error.__traceback__)]
    return any(inner is frame and is_users(outer) for outer, inner in itertools.pairwise(frames))


def _is_unset(value: Any) -> bool:
    if value is None or (isinstance(value, _HOLD_ITEMS) and not len(value)):
        return True
    code = getattr(getattr(value, "__func__", value), "__code__", None)
    # `def hook(self, x): pass` names nothing and knows no value but None and its documentation.
    return (
        code is not None and not code.co_names and all(item is None or item == _doc(value) for item in code.co_consts)
    )


def _is_none_here(node: ast.expr, value: Any, frame: FrameType, line: int) -> bool:
    """Whether a name is None because the same function says so, rather than its caller or another method."""
    code = frame.f_code
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if value is not None or not isinstance(node, ast.Name) or node.id in arguments or node.id not in frame.f_locals:
        return False
    around = [block for block in blocks_at(frame, line) if isinstance(block, ast.FunctionDef | ast.AsyncFunctionDef)]
    assigned = (item for item in ast.walk(around[-1]) if isinstance(item, ast.Assign)) if around else ()
    return any(
        isinstance(item.value, ast.Constant)
        and item.value.value is None
        and any(isinstance(target, ast.Name) and target.id == node.id for target in item.targets)
        for item in assigned
    )


def _doc(value: Any) -> str | None:
    function = getattr(value, "__func__", value)
    return function.__doc__ if isinstance(function, FunctionType) else None


def _values(statement: ast.AST, frame: FrameType) -> Iterator[tuple[ast.expr, Any]]:
    """The names and attributes that a statement reads with what they stand for, as far as looking runs no code."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            known, value = value_of(node, frame)
            if known:
                yield node, value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value
