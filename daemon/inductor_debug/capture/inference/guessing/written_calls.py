"""The calls of a class's instances that a project writes down, as calls to try: `model(torch.randn(1, 3, 224, 224))`.

Sizes are those that are written; which of them are free is found out afterwards, as for any call. Nothing is run here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch

from inductor_debug.capture.inference.specs.call_plan import CallPlan, Parameter
from inductor_debug.capture.inference.specs.spec_changes import of_rank
from inductor_debug.capture.inference.specs.specs import (
    DTYPE_LETTERS,
    ConstantSpec,
    Dimension,
    Guess,
    MappingSpec,
    SequenceSpec,
    Spec,
    SpecArgument,
    TensorSpec,
    tensors_in,
)

_PLAIN = (bool, int, float, str, type(None))
_BATCH = "B"
_MOST = 3
_MOST_ITEMS = 16


class _StrangeError(Exception):
    """Something in a call cannot be written down."""


def written_guesses(
    calls: Iterable[tuple[list[Any], Mapping[str, Any]]], plan: CallPlan, usual: Guess
) -> Iterator[Guess]:
    """The calls that are known whole, the first few of them.

    Args:
        calls: positional and keyword arguments, `UnknownError` for what is not known.
        plan: the arguments of the callable.
        usual: the call that would be tried first; batches are as large as in it where one sample is written.
    """
    found: list[Guess] = []
    for args, kwargs in calls:
        try:
            guess = _Writer(usual).guess(args, kwargs, plan.parameters)
        except _StrangeError:
            continue
        if guess not in found:
            found.append(guess)
            yield guess
        if len(found) == _MOST:
            return


class _Writer:
    """Writes one call down; two dimensions that the plan calls alike have one name while they have one size."""

    def __init__(self, usual: Guess) -> None:
        self._usual = usual
        self._sizes: dict[str, int] = {}

    def guess(self, args: list[Any], kwargs: Mapping[str, Any], parameters: list[Parameter]) -> Guess:
        """The call.

        Raises:
            _StrangeError: it does not fit the arguments, or something in it is not known.
        """
        positional = [item for item in parameters if not item.keyword]
        given: dict[str, Any] = {item.name: value for item, value in zip(positional, args, strict=False)}
        given.update(kwargs)
        names = {item.name for item in parameters}
        if len(args) > len(positional) or not given or not names.issuperset(given):
            raise _StrangeError
        if any(item.required and item.name not in given for item in parameters):
            raise _StrangeError
        arguments, skipped = [], False
        for item in parameters:
            if item.name not in given:
                skipped = True
                continue
            spec = self._spec(given[item.name], item.candidates)
            arguments.append(SpecArgument(item.name, spec, keyword=item.keyword or skipped))
        return replace(self._usual, arguments=tuple(arguments)).with_sizes(**self._sizes)

    def _spec(self, value: Any, candidates: list[Spec]) -> Spec:
        if isinstance(value, torch.Tensor):
            return self._tensor(value, candidates)
        if type(value) in _PLAIN:
            return ConstantSpec(repr(value), value)
        if type(value) in (list, tuple) and 0 < len(value) <= _MOST_ITEMS:
            return SequenceSpec(tuple(self._spec(item, candidates) for item in value), is_list=type(value) is list)
        if type(value) is dict and value and all(type(key) is str for key in value):
            return MappingSpec(tuple((key, self._spec(item, candidates)) for key, item in value.items()))
        raise _StrangeError

    def _tensor(self, value: torch.Tensor, candidates: list[Spec]) -> TensorSpec:
        dtype, rank = str(value.dtype).removeprefix("torch."), value.dim()
        if dtype not in DTYPE_LETTERS or value.numel() == 0:
            raise _StrangeError
        known = [spec for candidate in candidates for spec in tensors_in(candidate)]
        like = next((spec for spec in known if len(spec.dims) == rank), None) or of_rank(TensorSpec(()), rank)
        dims: list[Dimension] = []
        for name, size in zip(like.dims, map(int, value.shape), strict=False):
            dims.append(self._named(name, size) if isinstance(name, str) else size)
        if len(dims) != rank:
            dims = [int(size) for size in value.shape]
        filled = like.filled if like.dtype == dtype else ""
        return TensorSpec(tuple(dims), dtype, filled)

    def _named(self, name: str, size: int) -> Dimension:
        if name == _BATCH and size == 1:
            size = self._usual.size_of().get(name, size)  # one sample says nothing of how many there may be
        return name if self._sizes.setdefault(name, size) == size else size
