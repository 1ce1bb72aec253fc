"""Sees which function of torch refuses its operands, and which inputs of the call each operand was computed from."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from inductor_debug.capture.failures.conflicts import Conflict, conflict_of, operands_of, sizes_of

Sources = frozenset[int]
"""Tensors among the inputs of the call, by number; none of what is the model's alone."""


class SourceWatch(TorchFunctionMode):
    """Follows what tensors are computed from; changes nothing of a run. `error` is the last that a function raised."""

    def __init__(self) -> None:
        super().__init__()
        self.error: BaseException | None = None
        self.inputs: list[torch.Tensor] = []
        self._sources: dict[int, tuple[torch.Tensor, Sources]] = {}

    @contextlib.contextmanager
    def active(self, args: Any, kwargs: Any) -> Iterator[None]:
        """Watches meanwhile; `args` and `kwargs` are what the model is called with."""
        self.error = None
        self.inputs = tensors_within((args, kwargs))
        self._sources = {id(tensor): (tensor, frozenset([number])) for number, tensor in enumerate(self.inputs)}
        with self:
            yield

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        given = operands_of(args, kwargs)
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            if self.error is not error:
                self.error = error
                self.refuses(function, args, kwargs, given, error)
            raise
        # `x.new_tensor(data)` has nothing of `x` but its dtype and device.
        owners = given[1:] if getattr(function, "__name__", "") == "new_tensor" else given
        sources = Sources().union(*map(self.sources_of, owners))
        if sources:
            # What works in place adds to what its tensor came of.
            made = tensors_within(result)
            self._sources.update((id(tensor), (tensor, sources | self.sources_of(tensor))) for tensor in made)
        self.gives(function, args, given, result)
        return result

    def sources_of(self, tensor: torch.Tensor) -> Sources:
        """What a tensor was computed from."""
        return self._sources[id(tensor)][1] if id(tensor) in self._sources else Sources()

    def refuses(
        self, function: Any, args: Any, kwargs: Mapping[str, Any], given: list[torch.Tensor], error: Exception
    ) -> None:
        """Called where the innermost function raises; `given` are its operands."""

    def gives(self, function: Any, args: Any, given: list[torch.Tensor], result: Any) -> None:
        """Called with what a function has returned."""


@dataclass(frozen=True, slots=True)
class RefusedOperands:
    """What contradicts itself among the operands of a function, what each was computed from, and its dimensions."""

    conflict: Conflict
    sources: tuple[Sources, ...]
    ranks: tuple[int, ...] = ()


class OperandWatch(SourceWatch):
    """Remembers what contradicts itself where a run ends; None where it does not end so."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: RefusedOperands | None = None

    def refuses(
        self, function: Any, args: Any, kwargs: Mapping[str, Any], given: list[torch.Tensor], error: Exception
    ) -> None:
        """Takes down the contradiction, if it is one that is known."""
        conflict = contradiction_in(function, args, kwargs)
        known, ranks = tuple(map(self.sources_of, given)), tuple(len(sizes_of(tensor)) for tensor in given)
        self.refused = RefusedOperands(conflict, known, ranks) if conflict is not None else None

    def refuse_in_module(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """The same for a module of torch that looks at its inputs itself, once the run has ended there."""
        if type(module).__module__.startswith("torch.nn."):
            self.refuses(module, args, {}, operands_of(args, {}), RuntimeError())


def contradiction_in(function: Any, args: Any, kwargs: Mapping[str, Any]) -> Conflict | None:
    """What contradicts itself in a call that was refused; None where nothing is known of it."""
    try:
        return conflict_of(function, args, kwargs)
    except (TypeError, ValueError, RuntimeError):
        return None


def tensors_within(value: Any) -> list[torch.Tensor]:
    """The tensors in a value, in order, through lists, tuples and dictionaries."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in tensors_within(item)]
    return []
