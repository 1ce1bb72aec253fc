"""Plain values that code reads from objects which outlive a call: what a program changes between two calls.

That is what hangs on the globals, closures and modules that the code names: a global, an item of a list, an attribute,
`optimizer.param_groups[0]["lr"]`. Only names and keys that the code has are followed, a few steps deep, so that it
costs little and finds nothing that the code does not read. What is not there yet counts, too: a key that a call will
add, a name that it will define. Tensors are left alone. Nothing that is looked at is run.
"""

from __future__ import annotations

import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch

from inductor_debug.capture.runtime import foreign

PLAIN = (bool, int, float, complex, str, type(None))
DICTIONARIES = (dict, Counter, defaultdict, OrderedDict)
CONTAINERS = (list, set, deque, *DICTIONARIES)
"""Python's own, whose contents can be put back without running code of anybody else's."""
_DEEPEST = 4
_LONGEST = 64
"""Items of a container that are looked at."""
_KNOWN = ("torch", "builtins")
"""Packages whose objects hold nothing that a program changes in passing."""
_OF_OPTIMIZERS = frozenset({"param_groups", "lr"})
"""What the steps of an optimizer read of it, whatever the code around says."""


@dataclass(frozen=True, slots=True)
class HeldValue:
    """What an object held under a key."""

    holder: Any
    key: Any
    value: Any

    def put_back(self) -> None:
        """Has the object hold it again."""
        if isinstance(self.holder, CellType):
            self.holder.cell_contents = self.value
        else:
            self.holder[self.key] = self.value

    @property
    def identity(self) -> tuple[Any, ...]:
        """What tells it from others, and from what was held before."""
        return id(self.holder), self.key, type(self.value), repr(self.value)


@dataclass(frozen=True, slots=True)
class HeldContents:
    """All that a container of plain values and tensors held; tensors of one kind are alike."""

    holder: Any
    content: Any

    def put_back(self) -> None:
        """Has the container hold it again."""
        if not same_contents(self.holder, self.content):
            refill(self.holder, self.content)

    @property
    def key(self) -> Any:
        """That of no item."""
        return None

    @property
    def identity(self) -> tuple[Any, ...]:
        """What tells it from others, and from what was held before."""
        return id(self.holder), None, type(self.holder), repr(list(map(_shown, flat(self.content))))


@dataclass(frozen=True, slots=True)
class HeldNames:
    """Which of the names that code has were there in a namespace; what they stood for is put back where it is gone."""

    holder: dict[Any, Any]
    words: frozenset[str]
    content: dict[str, Any]

    def put_back(self) -> None:
        """Has the same names be there again."""
        for name in [name for name in self.holder if name in self.words and name not in self.content]:
            del self.holder[name]
        self.complete()

    def complete(self) -> None:
        """Has those be there that are gone."""
        for name, value in self.content.items():
            self.holder.setdefault(name, value)

    def now(self) -> HeldNames:
        """Which of the names are there now."""
        return names_there(self.holder, self.words)

    @property
    def key(self) -> Any:
        """Code with other names knows others of the namespace."""
        return self.words

    @property
    def identity(self) -> tuple[Any, ...]:
        """What tells it from others, and from what was held before; tensors that a call keeps are no news."""
        named = (name for name, value in self.content.items() if not foreign.is_a(value, torch.Tensor))
        return id(self.holder), None, *sorted(named)


Held = HeldValue | HeldContents | HeldNames


def _is_tensor(value: Any) -> bool:
    return foreign.is_a(value, torch.Tensor)


def _shown(value: Any) -> Any:
    return ("tensor", str(value.shape), str(value.dtype)) if _is_tensor(value) else value


def same_contents(now: Any, before: Any) -> bool:
    """Whether a container holds the very objects that it held, in their order; nothing is compared by value."""
    return len(now) == len(before) and all(map(operator.is_, flat(now), flat(before)))


def flat(container: Any) -> list[Any]:
    """What a container holds, keys first."""
    return [*container.keys(), *container.values()] if isinstance(container, dict) else list(container)


def refill(container: Any, content: Any) -> None:
    """Has a container hold what another one of its kind holds."""
    container.clear()
    if isinstance(container, dict):
        for key, value in content.items():
            container[key] = value
    elif isinstance(container, set):
        container.update(content)
    else:
        container.extend(content)


def held_values(
    function: Callable[..., Any], module: torch.nn.Module | None, given: Sequence[Any] = ()
) -> tuple[Held, ...]:
    """What `function`, or the methods of a module's classes, would read now, also by functions that it is `given`."""
    found: dict[tuple[int, Any], Held] = {}
    for code, names, cells in _functions(function, module, given):
        words = _words(code)
        for name in code.co_names:
            if name in names:
                _add(found, _from_item(names, name, words, 0))
        # Other functions of a file have names of their own: nothing else is known of its namespace by this one.
        _add(found, iter([names_there(names, frozenset(code.co_names))]))
        for cell in cells:
            _add(found, _from_cell(cell, words))
    for part in foreign.parts_of(module) if module is not None else ():
        words = frozenset().union(*map(_words, _methods(type(part))))
        _add(found, _from_attributes(part, words, 0))
    return tuple(found.values())


def _add(found: dict[tuple[int, Any], Held], values: Iterator[Held]) -> None:
    for each in values:
        found.setdefault((id(each.holder), each.key), each)


def _functions(
    function: Callable[..., Any], module: torch.nn.Module | None, given: Sequence[Any]
) -> Iterator[tuple[CodeType, dict[str, Any], Sequence[CellType]]]:
    """The user's code that runs, as far as that can be seen without running it, with its globals and closures."""
    kinds = {type(each) for each in foreign.parts_of(module)} if module is not None else set()
    own = [each for each in given if type(each) in (FunctionType, MethodType) and not _is_torchs(each)]
    for found in (function, *(foreign.namespace(kind).get("forward") for kind in kinds), *own):
        code, names = foreign.code_of(found), foreign.globals_of(found)
        bound = found.__func__ if type(found) is MethodType else found
        if code is not None and names:
            yield code, names, (bound.__closure__ or ()) if type(bound) is FunctionType else ()


def _is_torchs(function: Any) -> bool:
    return foreign.module_name(function).partition(".")[0] in _KNOWN


def _methods(kind: type) -> Iterator[CodeType]:
    """The code of a class's own methods; of torch's classes none."""
    if foreign.module_name(kind).partition(".")[0] != "torch":
        yield from (value.__code__ for value in foreign.namespace(kind).values() if type(value) is FunctionType)


def _words(code: CodeType) -> frozenset[str]:
    """The names and keys that code has, and what is defined in it."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    own = {*code.co_names, *(each for each in code.co_consts if type(each) is str)}
    return frozenset(own).union(*map(_words, inner))


def _from_cell(cell: CellType, words: frozenset[str]) -> Iterator[Held]:
    try:
        value = cell.cell_contents
    except ValueError:  # it holds nothing yet
        return
    if type(value) in PLAIN:
        yield HeldValue(cell, "", value)
    else:
        yield from _from(value, words, 0)


def _from_item(holder: dict[Any, Any], key: Any, words: frozenset[str], depth: int) -> Iterator[Held]:
    value = holder[key]
    if type(value) in PLAIN:
        yield HeldValue(holder, key, value)
    else:
        yield from _from(value, words, depth)


def _from(value: Any, words: frozenset[str], depth: int) -> Iterator[Held]:
    if depth >= _DEEPEST:
        return
    if type(value) in CONTAINERS:
        if len(value) <= _LONGEST and all(type(each) in PLAIN or _is_tensor(each) for each in flat(value)):
            yield HeldContents(value, value.copy())
        elif isinstance(value, dict):
            for key in [key for key in value if type(key) is not str or key in words]:
                yield from _from_item(value, key, words, depth + 1)
            yield names_there(value, words)
        elif isinstance(value, list):
            for each in value[:_LONGEST] if not all(type(each) in PLAIN for each in value) else ():
                yield from _from(each, words, depth + 1)
    elif foreign.is_a(value, torch.optim.Optimizer):
        yield from _from_attributes(value, words | _OF_OPTIMIZERS, depth)
    elif _is_users(value):
        yield from _from_attributes(value, words, depth)


def _is_users(value: Any) -> bool:
    """Whether a value is an object of a class of nobody we know: a settings object, a namespace."""
    known = (torch.Tensor, torch.nn.Module, type, ModuleType, FunctionType)
    return not issubclass(type(value), known) and foreign.module_name(type(value)).partition(".")[0] not in _KNOWN


def _from_attributes(value: Any, words: frozenset[str], depth: int) -> Iterator[Held]:
    own = foreign.attribute(value, "__dict__")
    if type(own) is dict:
        for name in [name for name in own if name in words]:
            yield from _from_item(own, name, words, depth + 1)
        yield names_there(own, words)


def names_there(names: dict[Any, Any], words: frozenset[str]) -> HeldNames:
    """Which of the words that code has are there in a namespace."""
    return HeldNames(names, words, {name: value for name, value in names.items() if name in words})
