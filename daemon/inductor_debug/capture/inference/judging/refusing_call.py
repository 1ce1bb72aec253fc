"""The call of torch that refuses, when a model is run on a guess: what it was given, and what contradicts itself there.

Runs the model under a mode that sees every function of torch before it is taken apart; changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from inductor_debug.capture.failures.conflicts import Conflict, ConflictKind, conflict_of, sizes_of
from inductor_debug.capture.failures.contradictions.call_facts import Side
from inductor_debug.capture.inference.judging.doubts import is_plain, may_want_other_inputs, speaks_of_unset
from inductor_debug.capture.inference.judging.misplaced_names import gives_a_tensor_to_torch
from inductor_debug.capture.inference.search.operand_watch import SourceWatch, contradiction_in, tensors_within
from inductor_debug.capture.inference.search.trial import TrialOutcome, Trials
from inductor_debug.capture.inference.specs.specs import Guess
from inductor_debug.capture.inference.usage.module_inputs import accepted

Pair = tuple["int | str", "int | str"]


@dataclass
class RefusedCall:
    """A call that torch refused; one of Python's own has no `function`.

    `sources` tells for each tensor that it was given which tensors of the call that was computed from, by number; those
    of none are the model's parameters, buffers and constants, or made of those. `shapes` are theirs, `declared` the
    sizes that they got of the model by broadcasting, by picking with an index of its own, or of its data. `kind` is the
    type of what it raised. `is_doubtful` says that there are no facts, and that other inputs may be taken.
    """

    function: str
    kind: str
    conflict: Conflict | None
    sources: list[frozenset[int]] = field(default_factory=list)
    shapes: list[tuple[int, ...]] = field(default_factory=list)
    declared: list[frozenset[int]] = field(default_factory=list)
    is_doubtful: bool = False

    def is_like(self, other: RefusedCall) -> bool:
        """Whether both are refused by the same function for the same kind of reason."""
        reason, others = (call.conflict.kind if call.conflict is not None else call.kind for call in (self, other))
        return self.function == other.function and reason == others

    @property
    def is_about_rank(self) -> bool:
        """Whether a tensor has too many dimensions, or too few."""
        return self.conflict is not None and self.conflict.kind in (ConflictKind.RANK, ConflictKind.INDEX)

    @property
    def is_about_kind(self) -> bool:
        """Whether a tensor has a wrong rank, dtype or device, whatever its sizes are."""
        kinds = (ConflictKind.DTYPE, ConflictKind.DEVICE)
        return self.is_about_rank or (self.conflict is not None and self.conflict.kind in kinds)

    @property
    def is_about_sizes(self) -> bool:
        """Whether two sizes, or numbers of elements, should be equal."""
        return self.conflict is not None and self.conflict.kind in (ConflictKind.SIZE, ConflictKind.VOLUME)

    @property
    def is_about_volume(self) -> bool:
        """Whether a tensor has another number of elements than its new shape."""
        return self.conflict is not None and self.conflict.kind is ConflictKind.VOLUME

    def is_past(self, other: RefusedCall) -> bool:
        """Whether the sizes agree for which the other is refused, so that something else is wrong here."""
        conflict = other.conflict
        if self.conflict is None or conflict is None or self.function != other.function or not other.is_about_sizes:
            return False
        left = self._size_of(conflict.left)
        wanted = conflict.wanted if conflict.right is None else self._size_of(conflict.right)
        return left is not None and left == wanted

    def _size_of(self, side: Side) -> int | None:
        """The size of a dimension of this call's tensors; None where a whole volume is meant, or it has no such."""
        shape = self.shapes[side.operand] if side.operand < len(self.shapes) else ()
        return shape[side.dim] if side.dim is not None and side.dim < len(shape) else None

    @property
    def sources_of_sides(self) -> list[frozenset[int]]:
        """What both sides were computed from; nothing for a number of the call."""
        sides = [self.conflict.left, self.conflict.right] if self.conflict is not None else []
        known = dict(enumerate(self.sources))
        return [known.get(side.operand, frozenset()) if side is not None else frozenset() for side in sides]

    @property
    def declared_sides(self) -> list[bool]:
        """Of both sides, whether the model declares the size."""
        sides = [self.conflict.left, self.conflict.right] if self.conflict is not None else []
        known = dict(enumerate(self.declared))
        return [side is not None and side.size in known.get(side.operand, ()) for side in sides]

    @property
    def rests_on_ranks(self) -> bool:
        """Whether its sides differ in rank and come of different tensors of the call, whose ranks are guesses."""
        if self.conflict is None or self.conflict.right is None:
            return False
        known = dict(enumerate(self.shapes))
        left, right = (len(known.get(side.operand, ())) for side in (self.conflict.left, self.conflict.right))
        sources = self.sources_of_sides
        return left != right and all(sources) and sources[0].isdisjoint(sources[1])

    @property
    def is_of_stacks(self) -> bool:
        """Whether it is how many matrices there are that differs, and no size of a matrix."""
        right = self.conflict.right if self.conflict is not None else None
        if self.conflict is None or right is None:
            return False
        known = dict(enumerate(self.shapes))
        sides = (self.conflict.left, right)
        return all(side.dim is not None and side.dim < len(known.get(side.operand, ())) - 2 for side in sides)

    @property
    def left_shape(self) -> tuple[int, ...]:
        """The shape of what is refused; empty where that is not known."""
        known = dict(enumerate(self.shapes))
        return known.get(self.conflict.left.operand, ()) if self.conflict is not None else ()

    @property
    def rows(self) -> int:
        """How many rows of the refused size there are."""
        size = self.conflict.left.size if self.conflict is not None else 0
        return math.prod(self.left_shape) // size if size else 0

    @property
    def pair(self) -> Pair | None:
        """The two sides that should be equal, as numbers, or as names of dtypes; None where there are no such two."""
        conflict = self.conflict
        if conflict is None:
            return None
        if conflict.kind in (ConflictKind.DTYPE, ConflictKind.DEVICE):
            return ("", str(conflict.wanted))
        wanted = conflict.wanted if conflict.wanted is not None else conflict.right.size if conflict.right else None
        return (conflict.left.size, wanted) if wanted is not None else None


_BROADENING = frozenset(("expand", "repeat", "tile", "broadcast_to"))
_PICKING = frozenset(("__getitem__", "index_select"))
_BY_PYTHON = (TypeError, IndexError)
"""What operators of Python's own objects raise. That an attribute is missing may ask for another kind of object."""


def refused_call(trials: Trials, guess: Guess) -> RefusedCall | None:
    """The call of torch, or of Python's own, that ends a run of `guess`; None where the run ends otherwise."""
    watch = _Watch()
    outcome = trials.watched(guess, watch.active)
    if outcome.error is None:
        return None
    by_torch = watch.refused if watch.error is outcome.error else None
    if by_torch is not None and by_torch.conflict is not None:
        refused = by_torch
    elif (by_module := _refused_by_module(outcome)) is not None:
        refused = by_module
    elif by_torch is not None:
        refused = by_torch
    elif isinstance(outcome.error, _BY_PYTHON):
        doubtful = speaks_of_unset(outcome.error, watch.inputs) or gives_a_tensor_to_torch(outcome.error)
        refused = RefusedCall("", type(outcome.error).__name__, None, is_doubtful=doubtful)
    else:
        return None
    if any(0 in shape for shape in refused.shapes):
        # No input is empty: values of ours chose nothing, such as a range from 0 to 0, and others may choose more.
        refused.conflict, refused.is_doubtful = None, True
    refused.is_doubtful |= refused.conflict is None and not is_plain(guess)
    return refused


def _refused_by_module(outcome: TrialOutcome) -> RefusedCall | None:
    """A module of torch that looks at its input itself, and refuses its dtype or a size: recurrent ones do."""
    module = outcome.module
    if module is None or not type(module).__module__.startswith("torch.nn.") or not outcome.received:
        return None
    given = outcome.received[0]
    tensors = {
        item.position: torch.empty(item.shape, dtype=getattr(torch, item.dtype), device="meta")
        for item in outcome.received
    }
    conflict = conflict_of(module, tuple(map(tensors.get, range(max(tensors) + 1))), {})
    if conflict is not None:
        # Of an input of the model's comes what its layers are given.
        sources = [frozenset(range(len(outcome.guess.tensors())))] * len(tensors)
        shapes = [item.shape for item in outcome.received]
        return RefusedCall(type(module).__name__, type(outcome.error).__name__, conflict, sources, shapes)
    for spec in accepted(module, given.position):
        if len(spec.dims) == len(given.shape):
            for dim, (size, wanted) in enumerate(zip(given.shape, spec.dims, strict=True)):
                if isinstance(wanted, int) and wanted != size:
                    conflict = Conflict(ConflictKind.SIZE, Side(0, dim, size), None, wanted)
                    return RefusedCall(type(module).__name__, type(outcome.error).__name__, conflict)
    return None


class _Watch(SourceWatch):
    """Remembers the innermost function of torch that raises, and which sizes of its tensors the model declares."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: RefusedCall | None = None
        self._declared: dict[int, tuple[torch.Tensor, frozenset[int]]] = {}

    def gives(self, function: Any, args: Any, given: list[torch.Tensor], result: Any) -> None:
        """Takes down the sizes that a result has of the model."""
        declared = frozenset[int]().union(*map(self._declared_of, given), self._sizes_made(function, args, result))
        if declared:
            self._declared.update((id(tensor), (tensor, declared)) for tensor in tensors_within(result))

    def _declared_of(self, tensor: torch.Tensor) -> frozenset[int]:
        return self._declared[id(tensor)][1] if id(tensor) in self._declared else frozenset()

    def _sizes_made(self, function: Any, args: Any, result: Any) -> frozenset[int]:
        """Sizes that a result has of the model: of dimensions that were one, and of an index that no input made."""
        name = str(getattr(function, "__name__", ""))
        if name == "new_tensor" and isinstance(result, torch.Tensor):
            return frozenset() if self.sources_of(result) else frozenset(result.shape)
        if name in _BROADENING and isinstance(result, torch.Tensor):
            before = tuple(args[0].shape)
            after = tuple(result.shape)
            before = (1,) * (len(after) - len(before)) + before
            return frozenset(now for one, now in zip(before, after, strict=False) if one == 1 and now != 1)
        if name not in _PICKING:
            return frozenset()
        indices = [tensor for tensor in tensors_within(list(args[1:])) if not self.sources_of(tensor)]
        return frozenset(size for tensor in indices for size in tensor.shape)

    def refuses(
        self, function: Any, args: Any, kwargs: Mapping[str, Any], given: list[torch.Tensor], error: Exception
    ) -> None:
        """Takes down what the function was given, and what contradicts itself there."""
        conflict = contradiction_in(function, args, kwargs)
        self.refused = RefusedCall(
            str(getattr(function, "__name__", function)),
            type(error).__name__,
            conflict,
            list(map(self.sources_of, given)),
            [tuple(sizes_of(tensor)) for tensor in given],
            list(map(self._declared_of, given)),
            is_doubtful=conflict is None and may_want_other_inputs(error, args, kwargs, self._sources),
        )
