"""Which methods of a class give an object what a run of it ended at: an attribute that is None, missing or empty.

Read from the statement that raised, from the conditions that led to it, and from the text of the methods. Nothing is
called here, and methods that train, load, save or download anywhere in what they call are not among those found.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeGuard

from torch import nn

from inductor_debug.capture.failures.attributes.missing import reads_of
from inductor_debug.capture.failures.attributes.setting import first_parameter, of_function
from inductor_debug.capture.failures.failed_statement import blocks_at, statement_at, users_steps, value_of
from inductor_debug.capture.inference.values.function_syntax import Function, function_tree
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.loading import is_installed

_HOLD_ITEMS = (list, tuple, dict, set, nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)
_FILLING = frozenset(("append", "extend", "insert", "add", "update", "setdefault", "add_module", "register_module"))
_WORD = re.compile(r"[a-z]+|[A-Z][a-z]*")
_HURTS = frozenset(
    (
        *("train", "training", "fit", "finetune", "learn", "backward", "step", "optimizer", "optimize", "observe"),
        *("load", "loads", "restore", "resume", "open", "read", "download", "fetch", "urlopen", "urlretrieve"),
        *("save", "write", "dump", "export", "remove", "unlink", "mkdir", "makedirs", "system", "popen", "exec"),
        *("pretrained", "checkpoint", "evaluate", "run", "main"),
    )
)
"""Words of names of what is never called, nor anything that calls it."""
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Giver:
    """A method that gives something, called on the parts of a model that are of the class `kind`."""

    kind: type
    name: str
    function: FunctionType


def unset_at(
    error: BaseException, model: Any, *, also_filled: bool = False, callers: bool = True
) -> Iterator[tuple[nn.Module, str]]:
    """The attributes of a model, or of its parts, that are not set where a run of it ended, the innermost first.

    Args:
        error: what the run raised.
        model: what was run.
        also_filled: lists and tables count that have something in them, but perhaps not what is asked for.
        callers: whether statements count that only called what ended so.
    """
    if not foreign.is_a(model, nn.Module):
        return
    parts, told = {id(part): part for part in foreign.parts_of(model)}, set[tuple[int, str]]()
    innermost = True
    for step in reversed(users_steps(error)):
        for node in _read_at(step.tb_frame, step.tb_lineno, innermost=innermost):
            known, owner = value_of(node.value, step.tb_frame)
            part = parts.get(id(owner)) if known else None
            key = id(part), node.attr
            if part is None or key in told:
                continue
            told.add(key)
            if is_unset(part, node.attr) or (also_filled and isinstance(_static(part, node.attr), _HOLD_ITEMS)):
                yield part, node.attr
        innermost = False
        if not callers:
            return


def is_unset(part: nn.Module, name: str) -> bool:
    """Whether a module has no such attribute, or None or nothing in it."""
    value = _static(part, name)
    return value is None or (isinstance(value, _HOLD_ITEMS) and not len(value))


def givers(model: nn.Module, owner: nn.Module, name: str) -> Iterator[Giver]:
    """The methods that give a part of a model an attribute: those of the model first, then those of the part.

    Public ones come before private ones, in the order in which the class has them.
    """
    kinds: list[type] = [type(model), type(owner)]
    for kind in dict.fromkeys(kinds):
        methods = _methods_of(kind)
        ran = {found for start in ("__init__", "forward") for found in _reached(methods, start)}
        fit = [item for item in methods if item not in ran and not item.startswith("__") and not _hurts(item)]
        for item in sorted(fit, key=lambda found: found.startswith("_")):
            reached = list(_reached(methods, item))
            gives = any(_gives(methods[found], name) for found in reached)
            if gives and all(_is_harmless(methods[found]) for found in reached):
                yield Giver(kind, item, methods[item])


def looked_up_in(function: FunctionType, argument: str, part: nn.Module | None) -> list[Any]:
    """The keys that a part has in the table of its own in which a method looks an argument up."""
    tree = function_tree(function)
    own = first_parameter(tree) if tree is not None else ""
    for node in ast.walk(tree) if tree is not None and part is not None else ():
        table = _looked_into(node, argument)
        if isinstance(table, ast.Attribute) and getattr(table.value, "id", "") == own and part is not None:
            held = _static(part, table.attr)
            if isinstance(held, dict | nn.ModuleDict | nn.ParameterDict):
                return list(held.keys())
            if isinstance(held, list | tuple) and not isinstance(node, ast.Subscript):
                return list(held)
            if isinstance(held, _HOLD_ITEMS) and len(held):
                return [0] if isinstance(node, ast.Subscript) else []
    return []


def compared_with(model: nn.Module, name: str) -> list[str]:
    """The texts that the classes of a model compare an attribute with."""
    found: dict[str, None] = {}
    kinds: list[type] = [type(part) for part in foreign.parts_of(model)]
    for kind in dict.fromkeys(kinds):
        for function in _methods_of(kind).values():
            tree = function_tree(function)
            for node in ast.walk(tree) if tree is not None else ():
                if isinstance(node, ast.Compare) and getattr(node.left, "attr", "") == name:
                    constants = (item for side in node.comparators for item in ast.walk(side))
                    texts = (item.value for item in constants if isinstance(item, ast.Constant))
                    found.update(dict.fromkeys(text for text in texts if isinstance(text, str)))
    return list(found)


def _static(part: nn.Module, name: str) -> Any:
    """What a module has by that name; no property is run."""
    members = foreign.members_of(part)
    return members[name] if name in members else inspect.getattr_static(part, name, None)


def _read_at(frame: Any, line: int, *, innermost: bool) -> Iterator[ast.Attribute]:
    """The attributes that a statement reads; where it raises itself, those of the conditions that led to it."""
    statement = statement_at(frame, line)
    spoken_of = [] if statement is None else [statement]
    if innermost and isinstance(statement, ast.Raise | ast.Assert):
        spoken_of += [block.test for block in reversed(blocks_at(frame, line)) if isinstance(block, ast.If)]
    for part in spoken_of:
        for node in ast.walk(part):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                yield node


@functools.lru_cache(maxsize=64)
def _methods_of(kind: type) -> dict[str, FunctionType]:
    """The methods of a class and of its bases that are of the user's own code."""
    found: dict[str, FunctionType] = {}
    for owner in kind.__mro__:
        for name, value in foreign.namespace(owner).items():
            if _is_own(value):
                found.setdefault(name, value)
    return found


def _reached(methods: dict[str, FunctionType], start: str) -> Iterator[str]:
    """A method, and those of the same object that it calls."""
    waiting, seen = [start], {start}
    while waiting:
        name = waiting.pop()
        tree = function_tree(methods[name]) if name in methods else None
        if tree is not None:
            yield name
            called = {item for item in reads_of(tree) if item in methods} - seen
            seen |= called
            waiting += sorted(called)


def _gives(function: FunctionType, name: str) -> bool:
    """Whether a method sets an attribute of that name to something, or puts something into it."""
    tree = function_tree(function)
    if tree is None:
        return False
    setting = of_function(tree)
    if name in setting.own | setting.others and not _sets_to_none_alone(tree, name):
        return True
    for node in ast.walk(tree):
        filled = node.value if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING:
            filled = node.func.value
        if getattr(filled, "attr", "") == name:
            return True
    return False


def _sets_to_none_alone(tree: Function, name: str) -> bool:
    """Whether a method takes an attribute away."""
    values = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and any(getattr(target, "attr", "") == name for target in node.targets)
    ]
    return bool(values) and all(isinstance(value, ast.Constant) and value.value is None for value in values)


def _is_harmless(function: FunctionType, depth: int = 0) -> bool:
    """Whether nothing that a function calls by a name of the user's has a name that says it does more than set."""
    tree = function_tree(function)
    if tree is None or depth > _DEEPEST:
        return False
    names_of = foreign.globals_of(function)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if _hurts(name):
            return False
        called = names_of.get(name) if isinstance(node.func, ast.Name) else None
        if called is not function and _is_own(called) and not _is_harmless(called, depth + 1):
            return False
    return True


def _is_own(called: Any) -> TypeGuard[FunctionType]:
    """Whether something is a function of the user's."""
    code = foreign.code_of(called)
    return type(called) is FunctionType and code is not None and not is_installed(code.co_filename)


def _hurts(name: str) -> bool:
    return not _HURTS.isdisjoint(word.lower() for word in _WORD.findall(name))


def _looked_into(node: ast.AST, argument: str) -> ast.expr | None:
    """The table in which an expression looks an argument up: `name in table`, `table[name]`, `table.index(name)`."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In) and getattr(node.left, "id", "") == argument:
        return node.comparators[0]
    if isinstance(node, ast.Subscript) and getattr(node.slice, "id", "") == argument and isinstance(node.ctx, ast.Load):
        return node.value
    is_index = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "index"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_index:
        return node.func.value if any(getattr(item, "id", "") == argument for item in node.args) else None
    return None
