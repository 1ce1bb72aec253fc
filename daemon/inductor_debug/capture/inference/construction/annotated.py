"""What an annotation says a constructor's argument is: a class, several of one, or one of an enumeration's members.

Annotations that are texts are read as plain expressions; nothing is called. What a constructor asserts of an argument
says as much.
"""

from __future__ import annotations

import ast
import collections.abc
import inspect
import os
import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inductor_debug.capture.inference.values.function_syntax import function_tree
from inductor_debug.capture.inference.values.plain_values import PlainValues
from inductor_debug.capture.inference.values.symbolic_values import UnknownError
from inductor_debug.capture.runtime import foreign
from inductor_debug.system.own_files import OWN_PACKAGE

_SEVERAL = (list, tuple, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_LIBRARY = os.path.dirname(os.__file__)


@dataclass(frozen=True)
class Said:
    """`kind` is the class, or what stands in its place; `items` those of a list or tuple, `shape` that container."""

    kind: Any = None
    items: tuple[Any, ...] = ()
    shape: type | None = None
    is_class: bool = False
    """Whether the class itself is asked for, not an instance."""


def said_by(annotation: Any, namespace: Mapping[str, Any]) -> Said:
    """What an annotation says; of several possibilities the first."""
    annotation = _first(_resolved(annotation, namespace), namespace)
    if annotation is inspect.Parameter.empty or annotation in (None, Any, UnknownError):
        return Said()
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is type and arguments:
        return Said(_first(_resolved(arguments[0], namespace), namespace), is_class=True)
    if origin in _SEVERAL and arguments:
        repeated = origin is not tuple or Ellipsis in arguments
        items = [_first(_resolved(item, namespace), namespace) for item in arguments if item is not Ellipsis]
        shape = tuple if origin is tuple else list
        return Said(annotation, tuple(items[:1] * 2 if repeated else items), shape)
    return Said(annotation)


def asserted_of(kind: Any, name: str) -> type | None:
    """The class of the project's that a constructor says its argument to be: `assert isinstance(encoder, Encoder)`."""
    constructor = inspect.getattr_static(kind, "__init__", None)
    tree = function_tree(constructor)
    for node in tree.body if tree is not None else ():
        test = node.test if isinstance(node, ast.Assert) else None
        if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance":
            match test.args:
                case [ast.Name(id=argument), asserted] if argument == name:
                    names = PlainValues(foreign.globals_of(foreign.plain_function(constructor)), {})
                    found = names.or_unknown(asserted, {})
                    return found if is_of_project(found) else None
    return None


def is_of_project(kind: Any) -> bool:
    """Whether a class is defined in the user's own files."""
    return foreign.is_a(kind, type) and is_in_project(kind)


def is_in_project(definition: Any) -> bool:
    """Whether a class or a function is defined in the user's own files."""
    file = foreign.file_of(sys.modules.get(foreign.module_name(definition)))
    return file is not None and "site-packages" not in file and not _is_library(file)


def _is_library(file: str) -> bool:
    return file.startswith((_LIBRARY, OWN_PACKAGE))


def _resolved(annotation: Any, namespace: Mapping[str, Any]) -> Any:
    """The class or generic that a text or a forward reference stands for."""
    text = annotation.__forward_arg__ if isinstance(annotation, typing.ForwardRef) else annotation
    if not isinstance(text, str):
        return annotation
    try:
        tree = ast.parse(text.strip("'\" "), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    while isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
        tree = tree.left
    found = PlainValues(namespace, {}).or_unknown(tree, {})
    return None if found is UnknownError else found


def _first(annotation: Any, namespace: Mapping[str, Any]) -> Any:
    """Without `Optional`, `Union` and `Annotated`, and the bound of a type variable."""
    while True:
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is typing.Annotated:
            annotation = arguments[0]
        elif isinstance(annotation, typing.TypeVar):
            annotation = annotation.__bound__
        elif origin in (typing.Union, types.UnionType):
            annotation = next((item for item in arguments if item is not type(None)), None)
        else:
            return _resolved(annotation, namespace)
