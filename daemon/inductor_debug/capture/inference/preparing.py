"""Methods that are called on an object once it is built, because a run ends at what they give: `set_head("flowers")`.

A run ends so where something is still None, is missing or has nothing in it. They are given what the project's calls
of them give as far as that is plain, else what the class holds already (`name in self.names`), else made-up values; an
argument has one value in all of them. What trains, loads, saves or downloads is never called, and nothing is kept that
was not seen to give what was missing. What other code sets (`net.mode = "test"`) is set where no method gives it.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from inductor_debug.capture.inference.construction.demand import Demand
from inductor_debug.capture.inference.construction.demands import demands
from inductor_debug.capture.inference.construction.invention import constructor_value
from inductor_debug.capture.inference.construction.reconciling import Changes
from inductor_debug.capture.inference.construction.signatures import spelled
from inductor_debug.capture.inference.giving_methods import (
    Giver,
    compared_with,
    givers,
    is_unset,
    looked_up_in,
    unset_at,
)
from inductor_debug.capture.inference.specs.argument_names import DEFAULT_SIZES, is_batch
from inductor_debug.capture.inference.values.guarded_execution import TooLongError, at_most
from inductor_debug.capture.inference.values.symbolic_values import is_known
from inductor_debug.capture.runtime import foreign

Written = Callable[[str], Iterator[tuple[list[Any], dict[str, Any]]]]
"""The project's calls of a method of that name."""
SetElsewhere = Callable[[type, str], tuple[bool, Any]]

_CALL = "()"
_SECONDS = 2.0
"""What such methods may take: one that trains a model is none of them."""
_ALTERNATIVES = 2
_MOST_WRITTEN = 2
_MOST_GIVERS = 4
_DEEPEST = 2
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_PLAIN = (bool, int, float, str, type(None))


class NotReadyError(Exception):
    """A method that was called to make an object ready refused, or is no longer there: nobody's fault."""


@dataclass(frozen=True, slots=True)
class PreparingCall:
    """One call of a method on every part of a model that is of a class; `guessed` nobody wrote down.

    Where there is no `method`, the values are those of attributes.
    """

    kind: str
    method: str
    values: Mapping[str, Any]
    guessed: tuple[str, ...] = ()

    def text(self, kind: str) -> str:
        """As people know it: `set_head(name='flowers')`, for a part of a model of the class `kind` with its class."""
        owner = "" if self.kind == kind else f"{self.kind}."
        if not self.method:
            return ", ".join(f"{owner}{name} = {value!r}" for name, value in self.values.items())
        return f"{owner}{self.method}({', '.join(f'{name}={value!r}' for name, value in self.values.items())})"

    @property
    def made_up(self) -> list[str]:
        """What of it nobody wrote down, in words."""
        return [f"{name} of {self.method or self.kind}" for name in self.guessed]

    @property
    def change(self) -> tuple[str, Any]:
        """Among the changes of a way."""
        return f"{self.kind}.{self.method}{_CALL}", [dict(self.values), list(self.guessed)]

    def on(self, built: Any) -> None:
        """Calls it, or sets it.

        Raises:
            NotReadyError: it is not there, or refused.
        """
        parts = [part for part in foreign.parts_of(built) if _is_of(part, self.kind)]
        if not parts:
            raise NotReadyError(f"there is no {self.kind} in it")
        try:
            with at_most(_SECONDS):
                for part in parts:
                    if self.method:
                        getattr(part, self.method)(**self.values)
                    for name, value in self.values.items() if not self.method else ():
                        setattr(part, name, value)
        except (Exception, SystemExit, TooLongError) as error:
            raise NotReadyError(f"{self.method} of {self.kind} could not be called") from error


def apart(changes: Changes) -> tuple[dict[str, Any], tuple[PreparingCall, ...]]:
    """The arguments of a constructor among changes, and the calls after it."""
    arguments = {name: value for name, value in changes if not name.endswith(_CALL)}
    calls = []
    for name, value in changes:
        kind, _, method = name.removesuffix(_CALL).rpartition(".")
        if name.endswith(_CALL):
            calls.append(PreparingCall(kind, method, dict(value[0]), tuple(value[1])))
    return arguments, tuple(calls)


def prepared(build: Callable[[], Any], calls: tuple[PreparingCall, ...]) -> Any:
    """What `build` makes, made ready."""
    built = build()
    for call in calls:
        call.on(built)
    return built


def is_unready(error: BaseException, model: Any) -> bool:
    """Whether a run ended right at what a method that was not called gives."""
    return any(True for owner, name in unset_at(error, model, callers=False) for _ in givers(model, owner, name))


def settings(error: BaseException, model: Any, elsewhere: SetElsewhere) -> Iterator[Changes]:
    """What other code sets of that which a run ended at, and no method gives.

    Args:
        error: what the run raised.
        model: what was run.
        elsewhere: whether other code sets an attribute of objects of a class, and the value where that is plain.
    """
    for owner, name in unset_at(error, model, callers=False):
        is_set, value = elsewhere(type(owner), name)
        if not is_set or any(True for _ in givers(model, owner, name)):
            continue
        is_written = is_known(value) and value is not None and _is_plain(value)
        for given in [value] if is_written else compared_with(model, name)[:_ALTERNATIVES]:
            guessed = () if is_written else (name,)
            yield (PreparingCall(type(owner).__name__, "", {name: given}, guessed).change,)


def preparations(error: BaseException, model: Any, build: Callable[[], Any], written: Written) -> Iterator[Changes]:
    """Calls of methods that give what a run ended at, likeliest first, each seen to give it.

    Args:
        error: what the run raised.
        model: what was run.
        build: makes another one.
        written: the project's calls of a method.
    """
    known = functools.cache(lambda name: list(itertools.islice(_plain_calls(written, name), _MOST_WRITTEN)))
    told: list[list[tuple[str, Mapping[str, Any]]]] = []
    for owner, name in unset_at(error, model):
        found = sorted(givers(model, owner, name), key=lambda giver: not known(giver.name))
        for giver in found[:_MOST_GIVERS]:
            for alternative in range(len(known(giver.name)) + _ALTERNATIVES):
                try:
                    attempt = _Attempt(build(), name, known, alternative)
                except Exception:
                    return
                if not attempt.give(giver) or not attempt.has_given(type(owner), name):
                    continue
                calls = [(call.method, call.values) for call in attempt.calls]
                if calls not in told:
                    told.append(calls)
                    yield tuple(call.change for call in attempt.calls)


def _is_of(part: nn.Module, kind: str) -> bool:
    """Whether a part is of a class of that name, or of one that is derived from it."""
    return any(base.__name__ == kind for base in type(part).__mro__)


def _is_plain(value: Any) -> bool:
    return all(map(_is_plain, value)) if isinstance(value, list) else isinstance(value, _PLAIN)


def _plain_calls(written: Written, name: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """The project's calls that give something plain; an empty text is what an option is that nobody sets."""
    for args, kwargs in written(name):
        given = (*args, *kwargs.values())
        if not given or any(is_known(value) and value != "" for value in given):
            yield args, kwargs


@dataclass
class _Attempt:
    """One object that is being made ready, and the calls so far; `alternative` is how often this failed before."""

    model: Any
    wanted: str
    written: Callable[[str], list[tuple[list[Any], dict[str, Any]]]]
    alternative: int
    calls: list[PreparingCall] = field(default_factory=list)
    shared: dict[str, Any] = field(default_factory=dict)
    """Arguments by name: a key that one method is given is the key for the others."""

    def give(self, giver: Giver, depth: int = 0) -> bool:
        """Calls a method, and before it what it turns out to need; whether it ended."""
        call = self._call_of(giver)
        if call is None:
            return False
        for _ in range(_DEEPEST):
            try:
                call.on(self.model)
            except NotReadyError as error:
                if depth >= _DEEPEST or error.__cause__ is None or not self._give_before(error.__cause__, depth):
                    return False
                continue
            self.calls.append(call)
            return True
        return False

    def has_given(self, kind: type, name: str) -> bool:
        """Whether the parts of a class have an attribute now."""
        return not any(type(part) is kind and is_unset(part, name) for part in foreign.parts_of(self.model))

    def _give_before(self, error: BaseException, depth: int) -> bool:
        """Calls the methods that give what another one found missing."""
        called = {call.method for call in self.calls}
        wanted = unset_at(error, self.model, also_filled=True)
        found = (giver for owner, name in wanted for giver in givers(self.model, owner, name))
        others = [giver for giver in found if giver.name not in called]
        return any(self.give(giver, depth + 1) for giver in others[:_MOST_GIVERS])

    def _call_of(self, giver: Giver) -> PreparingCall | None:
        """The call of a method with values for its arguments; None where some of them would not be plain."""
        parameters = (foreign.parameters(giver.function) or [])[1:]
        named = [item for item in parameters if item.kind in _NAMED]
        written = self._written(giver.name, named)
        values: dict[str, Any] = {}
        guessed: list[str] = []
        for parameter in named:
            name = parameter.name
            if name in self.shared:
                values[name] = self.shared[name]
            elif name in written:
                values[name] = written[name]
            elif parameter.default is parameter.empty:
                held = looked_up_in(giver.function, name, next(iter(self._parts(giver.kind)), None))
                values[name] = held[0] if held else self._made_up(giver, parameter, values)
                guessed += [] if held else [name]
        if not all(map(_is_plain, values.values())):
            return None
        self.shared.update(values)
        return PreparingCall(giver.kind.__name__, giver.name, values, tuple(guessed))

    def _written(self, method: str, parameters: list[inspect.Parameter]) -> dict[str, Any]:
        """What a call of the project gives a method, as far as that is plain."""
        calls = self.written(method)
        if self.alternative >= len(calls):
            return {}
        args, kwargs = calls[self.alternative]
        names = [item.name for item in parameters]
        given = {**dict(zip(names, args, strict=False)), **{name: kwargs[name] for name in names if name in kwargs}}
        return {name: value for name, value in given.items() if is_known(value) and value != ""}

    def _made_up(self, giver: Giver, parameter: inspect.Parameter, known: dict[str, Any]) -> Any:
        name, alternative = parameter.name, max(0, self.alternative - len(self.written(giver.name)))
        if is_batch(name):
            return DEFAULT_SIZES["B"]
        asked = demands(giver.kind, method=giver.name).get(name, Demand())
        texts = compared_with(self.model, self.wanted) if not asked.roles and not asked.texts else []
        if texts:
            return texts[min(alternative, len(texts) - 1)]
        return constructor_value(name, spelled(parameter.annotation), dict(known), alternative, asked)

    def _parts(self, kind: type) -> Iterator[nn.Module]:
        return (part for part in foreign.parts_of(self.model) if isinstance(part, kind))
