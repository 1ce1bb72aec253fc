"""Python state that a call changes and that the next one does not fit: what it is called, who holds it, how it changes.

A guard's source (`L['self'].step`) is torch's own way to reach an object. Here it becomes what the code calls the
object, as far as that outlives a call, or is a number that calls are given. Sources are evaluated as torch does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

import torch
from inductor_debug_schema import ChangingState, StateChange, StateHolder

from inductor_debug.capture.guards.guard_checks import ABSENT, NOT_SAID, Broken, readable, with_keys
from inductor_debug.capture.runtime.held_values import CONTAINERS

_DEFAULT = re.compile(r"(?P<function>.+)\.__defaults__\[(?P<index>\d+)\]", re.DOTALL)
_KEYWORD_DEFAULT = re.compile(r"(?P<function>.+)\.__kwdefaults__\['(?P<name>\w+)'\]", re.DOTALL)
_CELL = re.compile(r"(?P<function>.+)\.__closure__\[(?P<index>\d+)\]\.cell_contents", re.DOTALL)
_KEY = r"(?P<item>(?:\['[^']*'\]|\[\d+\])*)"
_GLOBAL = re.compile(rf"G\['(?:__import_\w+'\]\.(?P<imported>\w+)|(?P<own>\w+)'\]){_KEY}")
_LOCAL = re.compile(rf"L\['(?P<name>\w+)'\]{_KEY}")
_ATTRIBUTE = re.compile(r"[LG]\['\w+'\].*\.[A-Za-z_]\w*(?:\['[^']*'\]|\[\d+\])*", re.DOTALL)
_CONTAINERS = (*CONTAINERS, frozenset)
_NUMBERS = (bool, int, float, complex)
_LONGEST = 40
_NOT_THERE = "absent"
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class StateSeen:
    """State that a call does not find as the graph relies on it: what it was, and what it is now."""

    name: str
    holder: StateHolder
    change: StateChange
    before: str
    now: str


def states_made(broken: Broken, code: CodeType, scope: dict[str, Any]) -> dict[str, StateSeen]:
    """What is there now of a container that was empty, by its source."""
    items = {item: replace(broken, item=item, expected=ABSENT, made=()) for item in broken.made}
    seen = {item: state_seen(each, code, scope, same_calls=True) for item, each in items.items()}
    return {item: state for item, state in seen.items() if state is not None}


def state_seen(broken: Broken, code: CodeType, scope: dict[str, Any], same_calls: bool) -> StateSeen | None:
    """The state that a broken check is about; None where it is about a tensor, or what comes from nowhere.

    Args:
        broken: the check.
        code: the compiled function.
        scope: what torch evaluates the check's source in.
        same_calls: whether all calls are given equal arguments: a parameter that differs is its default then, and an
            argument otherwise.
    """
    named = _named(with_keys(broken.guarded, scope), code, scope, same_calls)
    if named is None:
        return None
    try:
        now = eval(broken.guarded, {}, scope)
    except Exception:
        return None
    if isinstance(now, torch.Tensor):
        return None
    name, holder = named
    before = broken.expected
    change: StateChange | None
    if before is ABSENT:
        plain = isinstance(now, (*_NUMBERS, str, type(None)))
        change, shown = StateChange.VALUE, (_NOT_THERE, _shown(now) if plain else type(now).__name__)
    elif isinstance(now, _CONTAINERS):
        change = StateChange.LENGTH if isinstance(before, int) and before != len(now) else None
        shown = str(before), str(len(now))
    elif isinstance(now, (*_NUMBERS, str, type(None))):
        change = _of_values(before, now)
        shown = _shown(before), _shown(now)
    else:
        change = StateChange.OBJECT if before is NOT_SAID and "ID_MATCH" in broken.kind.upper() else None
        shown = "", ""
    return StateSeen(name, holder, change, *shown) if change is not None else None


def changing_state(seen: Sequence[StateSeen], every_call: bool, *, by_program: bool = False) -> ChangingState | None:
    """What is to be told of state that calls did not fit, one after the other; None where that is how things start.

    What changes once settles: a cache that is filled, a flag that is set. Only a number that becomes one of another
    type is told of, because nobody means to. Callers may. And a number that the program changes between its calls (a
    learning rate), which torch compiles for as a constant first.

    Args:
        seen: in the order of the calls, not empty.
        every_call: whether all calls but the first did not fit.
        by_program: whether these are calls that the program makes, as it makes them.
    """
    first = seen[0]
    told = next((each for each in seen if each.before != _NOT_THERE), first)
    change = StateChange.TYPE if any(each.change is StateChange.TYPE for each in seen) else told.change
    switched = {first.before, *(each.now for each in seen)} <= {"True", "False"}
    of_object = first.holder in (StateHolder.ATTRIBUTE, StateHolder.GLOBAL) and not switched
    scheduled = by_program and change is StateChange.NUMBER and of_object
    if not every_call and not scheduled and (change is not StateChange.TYPE or first.holder is StateHolder.ARGUMENT):
        return None
    values = [] if change is StateChange.OBJECT else [first.before, *(each.now for each in seen)]
    return ChangingState(first.name, first.holder, change, values, every_call)


def _shown(value: object) -> str:
    text = f"{value:.{_DIGITS}g}" if isinstance(value, float) and len(repr(value)) > _DIGITS else repr(value)
    return text[:_LONGEST]


def _of_values(before: object, now: object) -> StateChange | None:
    if before is NOT_SAID:
        return None
    if not isinstance(before, _NUMBERS) or not isinstance(now, _NUMBERS):
        return StateChange.VALUE
    return StateChange.NUMBER if type(before) is type(now) else StateChange.TYPE


def _named(source: str, code: CodeType, scope: dict[str, Any], same_calls: bool) -> tuple[str, StateHolder] | None:
    """What the code calls the object at a source, and what holds it."""
    if (found := _DEFAULT.fullmatch(source)) is not None:
        function = _function(found["function"], scope)
        if function is None:
            return None
        defaults, inner = function.__defaults__ or (), function.__code__
        parameters = inner.co_varnames[: inner.co_argcount]
        return parameters[len(parameters) - len(defaults) + int(found["index"])], StateHolder.DEFAULT
    if (found := _KEYWORD_DEFAULT.fullmatch(source)) is not None:
        return found["name"], StateHolder.DEFAULT
    if (found := _CELL.fullmatch(source)) is not None:
        function = _function(found["function"], scope)
        return None if function is None else (function.__code__.co_freevars[int(found["index"])], StateHolder.CLOSURE)
    if (found := _GLOBAL.fullmatch(source)) is not None:
        return (found["imported"] or found["own"]) + found["item"], StateHolder.GLOBAL
    if (found := _LOCAL.fullmatch(source)) is not None:
        return _local(found["name"], found["item"], code, same_calls)
    return (readable(source), StateHolder.ATTRIBUTE) if _ATTRIBUTE.fullmatch(source) is not None else None


def _local(name: str, item: str, code: CodeType, same_calls: bool) -> tuple[str, StateHolder] | None:
    if name in code.co_freevars:
        return name + item, StateHolder.CLOSURE
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    # An item of an argument is another matter: whoever called gave another one, or shares the list.
    if name not in parameters or item:
        return None
    return name, StateHolder.DEFAULT if same_calls else StateHolder.ARGUMENT


def _function(source: str, scope: dict[str, Any]) -> Any:
    try:
        found = eval(source, {}, scope)
    except Exception:
        return None
    function = getattr(found, "__func__", found)
    return function if hasattr(function, "__code__") else None
