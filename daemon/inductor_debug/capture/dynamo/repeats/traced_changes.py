"""Which of the objects that code can see a trace of Dynamo changes, and whether a call changes more than its own.

What a call makes and changes itself is its own affair. A change of what was there before it is one that others see, and
whatever was seen of the trace before is then of no use. Objects that were made by the trace count as being there before
it, once they hang on something that was. Private names of Dynamo's, read against torch 2.13.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch

from inductor_debug.capture.dynamo.repeats.replaced_methods import replaced

_BORN = "_inductor_debug_born"
_CHANGES = ("store_attr", "mutation", "store_global", "store_cell", "register_hook")
"""What `SideEffects` is told of each change by."""
_OF_NEW = ("store_attr", "mutation", "store_cell")
_NEW = ("ValueMutationNew", "AttributeMutationNew")


class TracedChanges:
    """The changes of one trace.

    Args:
        on_change: called where something changes that code beside the call which changes it may see.
        on_unknown: called where something changes of which nobody can say who sees it.
        is_followed: whether somebody else knows which calls see what is done to an object.
    """

    def __init__(
        self, on_change: Callable[[], None], on_unknown: Callable[[], None], is_followed: Callable[[Any], bool]
    ) -> None:
        self._on_change, self._on_unknown, self._is_followed = on_change, on_unknown, is_followed
        self._born = 0
        self._calls: list[tuple[int, bool]] = []
        self._escaped: list[Any] = []

    def begin(self) -> None:
        """A call begins."""
        self._calls.append((self._born, False))

    def end(self) -> bool:
        """Whether the call that began last, and is over, changed something that was there before."""
        return self._calls.pop()[1]

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Takes note of changes while it is entered."""
        from torch._dynamo.side_effects import SideEffects
        from torch._dynamo.variables import base

        with contextlib.ExitStack() as stack:
            for name in _NEW:
                stack.enter_context(replaced(getattr(base, name), "__init__", self._making))
            for name in _CHANGES:
                stack.enter_context(replaced(SideEffects, name, self._changing(name)))
            yield

    def _making(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def init(mutation: Any, *args: Any, **kwargs: Any) -> None:
            original(mutation, *args, **kwargs)
            self._born += 1
            setattr(mutation, _BORN, self._born)

        return init

    def _changing(self, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def replacing(original: Callable[..., Any]) -> Callable[..., Any]:
            def change(effects: Any, *args: Any, **kwargs: Any) -> Any:
                self._note(name, effects, args)
                return original(effects, *args, **kwargs)

            return change

        return replacing

    def _note(self, name: str, effects: Any, args: tuple[Any, ...]) -> None:
        changed = args[0] if args else None
        kind = getattr(changed, "mutation_type", None)
        if name in _OF_NEW and type(kind).__name__ in _NEW:
            born = getattr(kind, _BORN, 0)
            if name != "store_attr" or not self._is_followed(changed):
                self._calls = [(since, seen or born <= since) for since, seen in self._calls]
            if self.has_escaped(changed, effects):
                self._seen_by_others()
        elif name == "store_attr" and not isinstance(getattr(changed, "value", None), torch.nn.Module):
            self._escaped.append(args[2] if len(args) > 2 else None)
            self._seen_by_others()
        else:
            # A module, or a container that one may hold.
            self._on_unknown()

    def _seen_by_others(self) -> None:
        self._calls = [(since, True) for since, _ in self._calls]
        self._on_change()

    def has_escaped(self, made: Any, effects: Any) -> bool:
        """Whether something that was made by the trace can be found by way of something that was there before it."""
        from torch._dynamo.variables.base import VariableTracker

        found = False

        def look(tracker: Any) -> None:
            nonlocal found
            found = found or tracker is made or tracker.mutation_type is made.mutation_type

        if self._escaped:
            VariableTracker.visit(look, self._escaped, None, effects)
        return found
