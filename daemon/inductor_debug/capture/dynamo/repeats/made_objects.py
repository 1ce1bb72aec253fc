"""What calls of modules read and change of objects that the trace has made, as a cache with a place for each layer.

Such an object hangs on nothing but the trace, so all that a call sees of it is seen here. A layer that takes its own
place out of it, by a number that it holds for nothing else, does to that place what another one does to another, if the
places were alike. Whatever else calls do to such objects nobody is held to do again. Private names of Dynamo's, read
against torch 2.13.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from inductor_debug.capture.dynamo.repeats.module_sources import of_another
from inductor_debug.capture.dynamo.repeats.replaced_methods import replaced

_IDENTITY = ("hash_impl", "get_id", "is_python_equal")


@dataclass(frozen=True, slots=True)
class Read:
    """An attribute was read, and that was in it."""

    owner: Any
    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class Pick:
    """An item was taken out of a list, by a number that nothing else was asked of; `look` is how it was then."""

    owner: Any
    source: Any
    item: Any
    look: Any


@dataclass(frozen=True, slots=True)
class Store:
    """An attribute was set; `more` is what else Dynamo was told."""

    owner: Any
    name: str
    value: Any
    more: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Touch:
    """Something else was done to it."""

    owner: Any


Event = Read | Pick | Store | Touch


@dataclass(frozen=True, slots=True)
class Footprint:
    """What one call read and changed: `stores` of the items that it picked, by the number of the pick.

    `fixed` are the objects that it must find again, each with the names of its attributes, `reads` what it must find in
    them.
    """

    fixed: tuple[tuple[Any, Any], ...] = ()
    reads: tuple[Read, ...] = ()
    picks: tuple[Pick, ...] = ()
    stores: tuple[tuple[int, Store], ...] = ()

    @classmethod
    def of(cls, given: Sequence[Any], events: Sequence[Event], effects: Any) -> Footprint | None:
        """That of a call that was given these objects; None where it did what another call may do otherwise."""
        fixed = {id(each): each for each in given}
        reads: list[Read] = []
        picks: list[Pick] = []
        stores: list[tuple[int, Store]] = []
        numbers: dict[int, int] = {}
        for event in events:
            owner = id(event.owner)
            if isinstance(event, Touch):
                return None
            if isinstance(event, Store):
                if owner not in numbers:
                    return None
                stores.append((numbers[owner], event))
            elif isinstance(event, Pick):
                if owner not in fixed or id(event.item) in fixed or not is_made(event.item):
                    return None
                numbers.setdefault(id(event.item), len(picks))
                picks.append(event)
            elif owner in numbers:
                if not is_plain(event.value):
                    return None
            elif owner not in fixed or id(event.value) in numbers:
                return None
            else:
                reads.append(event)
                if not is_plain(event.value):
                    fixed[id(event.value)] = event.value
        return cls(
            tuple((each, _names(each, effects)) for each in fixed.values()), tuple(reads), tuple(picks), tuple(stores)
        )

    def reachable(self) -> list[Any]:
        """What the call may do something to, and others that are called alike."""
        from torch._dynamo import variables

        lists = [each for each, _ in self.fixed if type(each) is variables.ListVariable]
        return [*(each for each, _ in self.fixed), *(item for each in lists for item in vars(each)["items"])]

    def picked(self, base: Any, other: Any, output: Any) -> list[Any] | None:
        """What a call of another module takes in place of each item; None where it may see or do something else.

        Args:
            base: the source of the module that was called.
            other: that of the one that is to be called.
            output: Dynamo's, which knows what sources stand for, and what objects hold now.
        """
        effects = output.side_effects
        if any(_names(each, effects) != names for each, names in self.fixed):
            return None
        if any(effects.store_attr_mutations[each.owner].get(each.name) is not each.value for each in self.reads):
            return None
        held = {id(each) for each, _ in self.fixed}
        found: dict[int, Any] = {}
        taken = []
        for pick in self.picks:
            number = output.resolve_source_value(of_another(pick.source, base, other))
            items = vars(pick.owner)["items"]
            if type(number) is not int or not 0 <= number < len(items) or id(items[number]) in held:
                return None
            item = items[number]
            if found.setdefault(id(pick.item), item) is not item:
                return None
            taken.append(item)
        if len({id(item) for item in found.values()}) != len(found):
            return None
        first = {id(pick.item): pick for pick in reversed(self.picks)}
        alike = all(is_made(item) and look_of(item, effects) == first[known].look for known, item in found.items())
        return taken if alike else None


def is_made(tracker: Any) -> bool:
    """Whether something is an object that the trace has made, and all that is known of it is what the trace did."""
    from torch._dynamo import variables
    from torch._dynamo.variables.base import AttributeMutationNew

    return (
        type(tracker) is variables.UserDefinedObjectVariable
        and type(tracker.mutation_type) is AttributeMutationNew
        and tracker.source is None
    )


def is_plain(tracker: Any) -> bool:
    """Whether something is a value that nobody can change."""
    from torch._dynamo import variables

    return type(tracker) in (variables.ConstantVariable, variables.TensorVariable)


def look_of(item: Any, effects: Any) -> Any:
    """All that can be seen of an object that the trace has made."""
    from torch._dynamo import variables

    held = effects.store_attr_mutations.get(item, {})
    return type(item.value), tuple(
        (name, type(value.value), repr(value.value)) if type(value) is variables.ConstantVariable else (name, value, "")
        for name, value in held.items()
    )


def _names(tracker: Any, effects: Any) -> Any:
    return tuple(effects.store_attr_mutations.get(tracker, ())) if is_made(tracker) else None


class MadeObjects:
    """The objects of one trace that calls of modules were given, and what is done to them.

    Args:
        on_asked: called where traced code asks which of them it has.
    """

    def __init__(self, on_asked: Callable[[], None]) -> None:
        self._on_asked = on_asked
        self._watched: dict[int, Any] = {}
        self._events: list[Event] = []
        self._open = 0

    def begin(self, given: Sequence[Any]) -> int:
        """A call begins that is given these; says where its events will begin."""
        self._watched.update((id(each), each) for each in given)
        self._open += 1
        return len(self._events)

    def end(self, start: int) -> list[Event]:
        """The call that began last is over; what happened in it."""
        events = self._events[start:]
        self._open -= 1
        if not self._open:
            self._events.clear()
        return events

    def follows(self, tracker: Any) -> bool:
        """Whether what is done to an object is noted here."""
        return bool(self._open) and id(tracker) in self._watched

    def add(self, events: Sequence[Event]) -> None:
        """What a copied call would have done beside setting attributes."""
        for event in events:
            self._note(event)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Takes note of what is done to them while it is entered."""
        from torch._dynamo import variables
        from torch._dynamo.side_effects import SideEffects
        from torch._dynamo.variables.dicts import SideEffectsProxyDict
        from torch._dynamo.variables.lists import BaseListVariable

        objects = variables.UserDefinedObjectVariable
        with contextlib.ExitStack() as stack:
            stack.enter_context(replaced(SideEffects, "load_attr", self._reading))
            stack.enter_context(replaced(SideEffects, "store_attr", self._storing))
            stack.enter_context(replaced(variables.BuiltinVariable, "call_function", self._calling))
            stack.enter_context(replaced(SideEffectsProxyDict, "side_effects_table", self._listing))
            for name in _IDENTITY:
                stack.enter_context(replaced(objects, name, self._asking))
            # Lists are read in many ways, but all of them read this.
            BaseListVariable.items = property(self._items, _set_items)  # type: ignore[assignment]
            stack.callback(delattr, BaseListVariable, "items")
            yield
        self._watched.clear()
        self._events.clear()

    def _note(self, event: Event) -> None:
        if self._open:
            self._events.append(event)
            for value in (getattr(event, "value", None), getattr(event, "item", None)):
                if value is not None and not is_plain(value):
                    self._watched[id(value)] = value

    def _items(self, tracker: Any) -> Any:
        if self.follows(tracker):
            self._note(Touch(tracker))
        return vars(tracker)["items"]

    def _reading(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def load(effects: Any, item: Any, name: str, *args: Any, **kwargs: Any) -> Any:
            value = original(effects, item, name, *args, **kwargs)
            if self.follows(item):
                self._note(Read(item, name, value) if is_made(value) or _is_followed(value) else Touch(item))
            return value

        return load

    def _storing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def store(effects: Any, item: Any, name: str, value: Any, *more: Any, **kwargs: Any) -> Any:
            if self.follows(item):
                self._note(Store(item, name, value, more) if is_plain(value) and not kwargs else Touch(item))
            return original(effects, item, name, value, *more, **kwargs)

        return store

    def _calling(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call_function(builtin: Any, translator: Any, args: Any, kwargs: Any) -> Any:
            if self._open and builtin.fn is operator.getitem and len(args) == 2 and not kwargs:
                owner, number = args
                picked = self._picked(owner, number, translator.output)
                if picked is not None:
                    return picked
            return original(builtin, translator, args, kwargs)

        return call_function

    def _picked(self, owner: Any, number: Any, output: Any) -> Any:
        """The item that a number of a module's takes out of a list; None where it is to be taken as ever."""
        from torch._dynamo import variables
        from torch._dynamo.variables.lazy import LazyConstantVariable

        if getattr(type(owner), "_no_implicit_realize", False) or type(owner) is not variables.ListVariable:
            return None
        if type(number) is not LazyConstantVariable or number.is_realized() or number.peek_type() is not int:
            return None
        base = getattr(number.source, "base", None)
        if not self.follows(owner) or base is None:
            return None
        items, index = vars(owner)["items"], number.peek_value()
        if not 0 <= index < len(items) or not isinstance(output.resolve_source_value(base), torch.nn.Module):
            return None
        item = items[index]
        self._note(Pick(owner, number.source, item, look_of(item, output.side_effects) if is_made(item) else None))
        return item

    def _listing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def table(attributes: Any) -> Any:
            if self.follows(attributes.item):
                self._note(Touch(attributes.item))
            return original(attributes)

        return table

    def _asking(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def ask(tracker: Any, *args: Any, **kwargs: Any) -> Any:
            if id(tracker) in self._watched:
                self._on_asked()
            return original(tracker, *args, **kwargs)

        return ask


def _is_followed(value: Any) -> bool:
    """Whether all that is done to a value is noted, or nothing can be done to it."""
    from torch._dynamo import variables

    return is_plain(value) or type(value) is variables.ListVariable


def _set_items(tracker: Any, items: Any) -> None:
    vars(tracker)["items"] = items
