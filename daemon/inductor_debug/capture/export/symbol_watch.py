"""What torch decides about symbols while a target is exported, by the expression that asks for it.

It wraps `ShapeEnv.evaluate_expr`, which refuses what only a tensor's value could decide, `ShapeEnv._set_replacement`,
by which a symbol becomes a number or another one, and the methods that make a symbol for a value. Private names, read
against torch 2.13 alone; where one is gone, nothing is told of what goes through it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv

from inductor_debug.capture.tensors.size_symbols import example_values
from inductor_debug.rules.recording.ops import Frame

Stack = Callable[[FrameType], tuple[Frame, ...]]
_MAKERS = ("create_unbacked_symint", "create_unbacked_symfloat", "create_unbacked_symbool")
_PLAUSIBLE = 2
"""What an unknown value is taken to be where its range allows it: neither 0 nor 1, which torch treats apart."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """A question about values that torch cannot answer while it exports.

    `condition` is what was asked in names of the code's variables, "" where they have none, or no yes or no was asked.
    `made` is where the value was read from a tensor.
    """

    condition: str
    frames: tuple[Frame, ...]
    made: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Replaced:
    """A size that became a number, or the same as another. Sources are how torch reaches sizes (`L['x'].size()[0]`)."""

    source: str
    number: int | None
    other: str
    frames: tuple[Frame, ...]


@dataclass
class SymbolEvents:
    """What was seen, in the order in which it happened; `made` says where each symbol for a value comes from."""

    undecided: list[Undecided] = field(default_factory=list)
    replaced: list[Replaced] = field(default_factory=list)
    made: dict[str, tuple[Frame, ...]] = field(default_factory=dict)


@contextmanager
def watched_symbols(stack: Stack, own: Callable[[str], bool], *, go_on: bool = False) -> Iterator[SymbolEvents]:
    """Notes what torch decides until it is left.

    Args:
        stack: reads the visible frames from one outwards.
        own: whether a file is the user's.
        go_on: has what cannot be decided answered by plausible values, so that the run goes on to the next of these.
    """
    events = SymbolEvents()
    with ExitStack() as replacing:
        replacing.enter_context(_replaced("_set_replacement", _noting_replacements(events, stack)))
        for name in _MAKERS:
            replacing.enter_context(_replaced(name, _noting_makers(events, stack)))
        if go_on:
            replacing.enter_context(_replaced("evaluate_expr", _answering(events, stack, own)))
        yield events


@contextmanager
def _replaced(name: str, wrap: Callable[[Any], Any]) -> Iterator[None]:
    original = getattr(ShapeEnv, name, None)
    if original is None:
        yield
        return
    setattr(ShapeEnv, name, wrap(original))
    try:
        yield
    finally:
        setattr(ShapeEnv, name, original)


def _noting_replacements(events: SymbolEvents, stack: Stack) -> Callable[[Any], Any]:
    def wrap(original: Any) -> Any:
        def replaced(self: Any, a: Any, tgt: Any, *args: Any, **kwargs: Any) -> Any:
            known = a in self.replacements
            original(self, a, tgt, *args, **kwargs)
            if known or self.replacements.get(a) != tgt:
                return
            number = int(tgt) if getattr(tgt, "is_Integer", False) else None
            others = _sources_of(self, tgt) if number is None else []
            frames = stack(sys._getframe(1))
            for source in _sources_of(self, a):
                events.replaced.append(Replaced(source, number, others[0] if others else "", frames))

        return replaced

    return wrap


def _noting_makers(events: SymbolEvents, stack: Stack) -> Callable[[Any], Any]:
    def wrap(original: Any) -> Any:
        def made(self: Any, *args: Any, **kwargs: Any) -> Any:
            symbol = original(self, *args, **kwargs)
            for each in getattr(getattr(getattr(symbol, "node", None), "expr", None), "free_symbols", ()):
                events.made[str(each)] = stack(sys._getframe(1))
            return symbol

        return made

    return wrap


def _answering(events: SymbolEvents, stack: Stack, own: Callable[[str], bool]) -> Callable[[Any], Any]:
    def wrap(original: Any) -> Any:
        def evaluated(self: Any, asked: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return original(self, asked, *args, **kwargs)
            except GuardOnDataDependentSymNode:
                answer = _plausible(self, asked)
                frames = stack(sys._getframe(1))
                if answer is None or not any(frame.in_project for frame in frames):
                    raise
                made = next((events.made[str(each)] for each in asked.free_symbols if str(each) in events.made), ())
                events.undecided.append(Undecided(_in_words(self, asked, sys._getframe(1), own), frames, made))
                return answer

        return evaluated

    return wrap


def _plausible(environment: Any, asked: Any) -> Any:
    """An answer that agrees with the others: each symbol stands for one value all the time."""
    known = example_values(environment)
    values = {symbol: known.get(symbol, _value_in(environment, symbol)) for symbol in asked.free_symbols}
    answer = asked.xreplace(values)
    return answer if not getattr(answer, "free_symbols", True) else None


def _value_in(environment: Any, symbol: Any) -> Any:
    limits = getattr(environment, "var_to_range", {}).get(symbol)
    lower, upper = getattr(limits, "lower", None), getattr(limits, "upper", None)
    value = symbol - symbol + _PLAUSIBLE  # a number of sympy
    try:
        value = min(max(value, lower), upper) if lower is not None and upper is not None else value
    except TypeError:
        return symbol - symbol + _PLAUSIBLE
    return value


def _in_words(environment: Any, asked: Any, frame: FrameType | None, own: Callable[[str], bool]) -> str:
    """A comparison in the names of the innermost frame of the user's; "" where a part of it has none."""
    if not getattr(asked, "is_Relational", False):
        return ""
    while frame is not None and not own(frame.f_code.co_filename):
        frame = frame.f_back
    names = {
        value.node.expr: name
        for name, value in (frame.f_locals.items() if frame is not None else ())
        if name.isidentifier() and hasattr(value, "node") and hasattr(value.node, "expr")
    }
    values = example_values(environment)
    if not all(symbol in names for symbol in asked.free_symbols if symbol not in values):
        return ""
    if any(symbol in values for symbol in asked.free_symbols):
        return ""  # a size of an input, which the code calls `x.shape[0]` or nothing
    named = asked.xreplace({symbol: type(symbol)(names[symbol], integer=True) for symbol in asked.free_symbols})
    return f"{named.lhs} {named.rel_op} {named.rhs}" if getattr(named, "is_Relational", False) else ""


def _sources_of(environment: Any, expression: Any) -> list[str]:
    found = []
    for source in getattr(environment, "var_to_sources", {}).get(expression, ()):
        name = getattr(source, "name", "")
        found.append(name() if callable(name) else str(name))
    return found
