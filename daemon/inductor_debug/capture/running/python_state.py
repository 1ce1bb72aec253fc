"""Python's part of a model's state, put back after a run: what it held before, it holds again. Tensors are not copied.

That is attributes of modules, and of objects of the classes beside the code, and the contents of plain containers among
them; and what functions share between calls: defaults, variables of the function around them, globals of their modules,
and which globals there are. Other objects are not looked into, and torch's own functions not at all.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CellType, FunctionType, MethodType
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.held_values import CONTAINERS, refill, same_contents

_VALUES = (bool, int, float, complex, str, bytes, tuple, frozenset, type(None), *CONTAINERS)
"""What a global or a variable may hold that a run replaces; anything else is a definition, or not ours to judge."""
_KEPT_ELSEWHERE = (nn.Module, torch.Tensor, type)
"""What has its state put back as what it is, and classes."""


class PythonState:
    """What there is before a run.

    Args:
        root: a module with all in it; None for a function.
        function: what is called; the module, where there is one.
    """

    def __init__(self, root: nn.Module | None, function: Any) -> None:
        modules = [] if root is None else list(foreign.parts_of(root))
        self._attributes = [(module.__dict__, dict(module.__dict__)) for module in modules]
        functions = list(_functions({type(module) for module in modules}, function))
        globals_ = {id(each.__globals__): each.__globals__ for each in functions}.values()
        functions += [found for names in globals_ for found in _defined(names)]
        self._globals = [(names, _values(names)) for names in globals_]
        self._names = [(names, set(names)) for names in globals_]
        self._functions = functions
        self._cells = [(cell, value) for each in functions for cell, value in _variables(each)]
        self._attributes += list(self._of_objects())
        held = [
            *(value for _, attributes in self._attributes for value in attributes.values()),
            *(value for _, names in self._globals for value in names.values()),
            *(value for _, value in self._cells),
            *(
                value
                for each in functions
                for value in (*(each.__defaults__ or ()), *(each.__kwdefaults__ or {}).values())
            ),
        ]
        self._contents = [(value, value.copy()) for value in held if type(value) in CONTAINERS]

    def restore(self) -> None:
        """Puts everything back; later changes can be undone again."""
        for attributes, before in self._attributes:
            if not same_contents(attributes, before):
                attributes.clear()
                attributes.update(before)
        for names, values in self._globals:
            names.update((name, value) for name, value in values.items() if names.get(name) is not value)
        for names, known in self._names:
            for name in self._made(names, names.keys() - known) if len(names) > len(known) else ():
                del names[name]
        for cell, value in self._cells:
            cell.cell_contents = value
        for container, content in self._contents:
            if not same_contents(container, content):
                refill(container, content)

    def _of_objects(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """The attributes of objects of the files' own classes that modules, globals and variables hold."""
        files = {names.get("__name__") for names, _ in self._globals}
        held = [
            *(value for _, attributes in self._attributes for value in attributes.values()),
            *(value for names, _ in self._globals for value in names.values()),
        ]
        for value in {id(value): value for value in held}.values():
            if foreign.module_name(type(value)) in files and not issubclass(type(value), _KEPT_ELSEWHERE):
                own = foreign.attribute(value, "__dict__")
                if type(own) is dict:
                    yield own, dict(own)

    def _made(self, names: dict[str, Any], fresh: set[str]) -> set[str]:
        """Those of the fresh names of a namespace that functions define as globals."""
        makers = [each for each in self._functions if each.__globals__ is names and fresh & {*each.__code__.co_names}]
        stored = {
            step.argval for each in makers for step in dis.get_instructions(each) if step.opname == "STORE_GLOBAL"
        }
        return fresh & stored


def _functions(kinds: set[type], function: Any) -> Iterator[FunctionType]:
    """The functions of classes, torch's own left out, and a function itself."""
    for kind in set().union(*(each.__mro__ for each in kinds)):
        if foreign.module_name(kind).partition(".")[0] in ("torch", "builtins"):
            continue
        for value in foreign.namespace(kind).values():
            found = value.__func__ if type(value) in (staticmethod, classmethod) else value
            if type(found) is FunctionType:
                yield found
    bound = function.__func__ if type(function) is MethodType else function
    if type(bound) is FunctionType:
        yield bound


def _defined(names: dict[str, Any]) -> Iterator[FunctionType]:
    """The functions that a module defines."""
    for value in names.values():
        if type(value) is FunctionType and value.__globals__ is names:
            yield value


def _values(names: dict[str, Any]) -> dict[str, Any]:
    """The plain values among the globals of a module, but for those that Python keeps there itself."""
    return {name: value for name, value in names.items() if _is_value(value) and not name.startswith("__")}


def _variables(function: FunctionType) -> Iterator[tuple[CellType, Any]]:
    """The variables of the function around another that hold plain values."""
    for cell in function.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:  # it has none yet
            continue
        if _is_value(value):
            yield cell, value


def _is_value(value: Any) -> bool:
    return type(value) in _VALUES
