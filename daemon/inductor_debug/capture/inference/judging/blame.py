"""Whether an exception proves a fault of the user's class, whatever it was called with.

A name or an attribute that does not exist, and a call that does not fit what is called, are faults of the code. What
depends on the values that were guessed is not judged here, and nothing is run.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import inspect
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.failures.attributes.known import Attributes
from inductor_debug.capture.failures.attributes.missing import known_elsewhere
from inductor_debug.capture.failures.attributes.setting import is_among
from inductor_debug.capture.failures.failed_statement import last_frame, raised_by
from inductor_debug.capture.failures.fractional_sizes import refused_division
from inductor_debug.capture.failures.misspellings import asked_of_module
from inductor_debug.capture.inference.construction.project_files import converts_elsewhere
from inductor_debug.capture.inference.judging.doubts import is_computed
from inductor_debug.capture.inference.judging.fallbacks import comes_of_a_fallback
from inductor_debug.capture.inference.judging.misplaced_names import (
    calls_instead_of_own,
    gives_a_tensor_to_torch,
    is_bound_later_alone,
    misfits_named_function,
    misfits_own_method,
)
from inductor_debug.capture.inference.judging.misplaced_numbers import misplaced_number
from inductor_debug.capture.inference.search.raised_facts import Raised
from inductor_debug.capture.inference.search.trial import user_frames
from inductor_debug.capture.inference.specs.specs import Guess, TensorSpec
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.loading import is_installed
from inductor_debug.capture.tensors.fake_mode import left_open

_ALIKE = 0.75
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_PRECISIONS = frozenset(("double", "half", "bfloat16", "set_default_dtype"))
_CALLED = ("__init__", "forward")
"""Methods that Python and torch call with the object."""
_ITSELF = ("self", "_self", "this", "cls")
"""What methods call their own object."""
_CONTAINERS = (list, dict, set, str)


@dataclass
class KnownNames:
    """What the analysed file may define or set later than it has been executed."""

    tree: ast.Module
    module: ModuleType
    path: str
    project_root: str

    @cached_property
    def later(self) -> frozenset[str]:
        """Names that statements of the module bind, also those that did not run, or functions bind as globals."""
        return frozenset(_bound(self.tree.body))

    @cached_property
    def converts(self) -> bool:
        """Whether the script around the classes chooses a precision, so that theirs is not what their code says."""
        script = [node for node in self.tree.body if not isinstance(node, _DEFINITIONS) or node.name == "main"]
        calls = (node for statement in script for node in ast.walk(statement) if isinstance(node, ast.Call))
        return any(_called(call) in _PRECISIONS for call in calls) or converts_elsewhere(self.path, self.project_root)

    @cached_property
    def counts_devices(self) -> bool:
        """Whether the file asks how many GPUs there are."""
        return any(isinstance(node, ast.Attribute) and node.attr == "device_count" for node in ast.walk(self.tree))

    @cached_property
    def attributes(self) -> Attributes:
        """What objects of its classes may have."""
        return Attributes(self.tree, self.module)


def is_evident(
    error: BaseException,
    names: KnownNames,
    guess: Guess | None,
    *,
    invented: bool,
    kinds: frozenset[Any] = frozenset(),
    code: bool = True,
) -> bool:
    """Whether `error` comes of the code alone.

    Args:
        error: what the class, or its constructor, raised.
        names: of the file that defines the class.
        guess: what it was called with; None for a constructor.
        invented: whether arguments of the constructor were made up, so that its parts may be ours.
        kinds: the classes of modules among those.
        code: whether modules or functions are among those, which make parts that the right ones do not.
    """
    if not user_frames(error) or comes_of_a_fallback(error):
        return False
    if isinstance(error, UnboundLocalError):
        return is_bound_later_alone(error)
    if isinstance(error, NameError):
        return bool(error.name) and error.name not in names.later and error.name not in vars(builtins)
    raised = Raised.by(error)
    if misplaced_number(error) or calls_instead_of_own(error) or raised.names_another_class_to_super:
        return True
    if raises_always(error):
        return True
    if raised.subtracts_bool and not (invented and code):
        # Comparisons made what no input is, whatever these are.
        return guess is None or all(spec.dtype != "bool" for _, spec in guess.tensors())
    plain = guess is None or all(isinstance(item.spec, TensorSpec) for item in guess.arguments)
    if isinstance(error, AttributeError):
        ours, is_new = invented and code, guess is None and _is_asked_by_constructor(error)
        return type(error.obj) not in kinds and _is_missing(
            error, names, plain=plain, invented=invented, ours=ours, is_new=is_new
        )
    misfits = isinstance(error, TypeError) and plain and raised.arguments_do_not_fit
    misfits = misfits and not (_is_spread(error) or gives_a_tensor_to_torch(error))
    return misfits and (not invented or misfits_own_method(error) or misfits_named_function(error))


def _is_spread(error: BaseException) -> bool:
    """Whether a call is given what something is unpacked into: how many that are, its inputs decide."""
    calls = [node for node in _nodes(error) if isinstance(node, ast.Call)]
    named = any(item.arg is None for call in calls for item in call.keywords)
    return named or any(isinstance(item, ast.Starred) for call in calls for item in call.args)


def raises_always(error: BaseException) -> bool:
    """Whether the code raises this whatever numbers it is given, so that it is no matter who made them up."""
    removed = Raised.by(error).is_removed and _is_torchs(error)
    return removed or refused_division(error) is not None or _calls_what_it_is_to_replace(error)


def _calls_what_it_is_to_replace(error: BaseException) -> bool:
    """Whether a method calls the one of torch's that it overrides, which only says that it must be overridden."""
    frame, _ = last_frame(error)
    return frame is not None and left_open(error) == frame.f_code.co_name


@dataclass(frozen=True, slots=True)
class Headless:
    """A method that has no parameter for its own object: Python passes that all the same. `line` counts from 1."""

    name: str
    line: int


def headless(kind: Any) -> Headless | None:
    """The first method of a class that is not given its own object: it speaks of `self`, or is called without fail."""
    for name, value in vars(kind).items() if isinstance(kind, type) else ():
        if isinstance(value, FunctionType):
            code = value.__code__
            known = {*code.co_varnames, *code.co_freevars, *code.co_cellvars}
            speaks = "self" in code.co_names and "self" not in {*known, *value.__globals__}
            takes_nothing = code.co_argcount == 0 and not code.co_flags & inspect.CO_VARARGS
            if speaks or (takes_nothing and name in _CALLED):
                return Headless(f"{kind.__name__}.{name}", code.co_firstlineno)
    return None


def takes_itself_for_input(error: BaseException) -> Headless | None:
    """The method whose first parameter, not `self`, was refused because it is no tensor: it is the object itself."""
    frame, _ = last_frame(error)
    code = frame.f_code if frame is not None else None
    if frame is None or code is None or not code.co_argcount or code.co_varnames[0] in _ITSELF:
        return None
    given = frame.f_locals.get(code.co_varnames[0])
    if not isinstance(given, nn.Module):
        return None
    kind = next((item for item in type(given).__mro__ if _has_method(item, code)), None)
    asked = isinstance(error, AttributeError) and error.obj is given and hasattr(torch.Tensor, error.name or "")
    raised = Raised.by(error)
    refused = isinstance(error, TypeError) and raised.names(type(given).__name__) and not raised.arguments_do_not_fit
    return Headless(f"{kind.__name__}.{code.co_name}", code.co_firstlineno) if kind and (asked or refused) else None


def _has_method(kind: type, code: CodeType) -> bool:
    return getattr(vars(kind).get(code.co_name), "__code__", None) is code


def _is_asked_by_constructor(error: AttributeError) -> bool:
    """Whether an object's own constructor asks it for what it lacks, before anybody else can have set it."""
    frame, _ = last_frame(error)
    first = frame.f_code.co_varnames[:1] if frame is not None and frame.f_code.co_name == "__init__" else ()
    return frame is not None and any(frame.f_locals.get(name) is error.obj for name in first)


def _is_missing(
    error: AttributeError, names: KnownNames, *, plain: bool, invented: bool, ours: bool, is_new: bool
) -> bool:
    """Whether an object of the user's, or of a library's, has no such attribute and nobody gives it one."""
    owner, name = asked_of_module(error) or (error.obj, error.name)
    if not name:
        return False
    if isinstance(owner, nn.Module):
        if (ours and type(owner).__module__.startswith("torch.nn")) or not names.attributes.of(type(owner)).lack(name):
            return False
        # What a script sets on its model may have any name, but for what torch's own modules are asked for.
        of_torch = type(owner).__module__.startswith("torch.")
        return of_torch or is_new or not known_elsewhere({name}, names.path, names.project_root)
    if isinstance(owner, torch.Tensor):
        # A name that is far from any of a tensor's, or that lists have, asks for another kind of object.
        if any(hasattr(kind, name) for kind in _CONTAINERS):
            return False
        return bool(difflib.get_close_matches(name, dir(torch.Tensor), n=1, cutoff=_ALIKE))
    if isinstance(owner, ModuleType | type):
        own = not is_installed(foreign.file_of(owner) or "") if isinstance(owner, ModuleType) else True
        if invented and not _is_written(error, name):
            return False  # `getattr(nn, kind)` asks for what was made up
        return not is_among(name, names.attributes.from_outside.others) and not (own and name in names.later)
    if not plain or invented:
        return False
    return type(owner) in (tuple, list, dict, torch.Size, FunctionType) or (
        type(owner) in (int, float, bool) and is_computed(error)
    )


def _is_written(error: BaseException, name: str) -> bool:
    """Whether the user's statement that raised has an attribute of that name in so many words."""
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in _nodes(error))


def _nodes(error: BaseException) -> Iterator[ast.AST]:
    """What the user's statement that raised is made of."""
    raised_at = raised_by(error)
    return ast.walk(raised_at[1]) if raised_at is not None else iter(())


def _is_torchs(error: BaseException) -> bool:
    """Whether code of torch's raised an exception."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and str(frames[-1].f_globals.get("__name__")).startswith("torch.")


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        for node in _outside_functions(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif isinstance(node, ast.alias):
                yield (node.asname or node.name).partition(".")[0]
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.name
        for node in ast.walk(statement):
            if isinstance(node, ast.Global):
                yield from node.names


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, functions and classes without their bodies."""
    yield node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _outside_functions(child)
