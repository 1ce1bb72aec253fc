"""States as a method of the class makes them: `init_hidden(batch)`, `initial_state()`, `zero_state(batch, device)`.

The method is called with two batches, on whatever tensors the mode around makes; the dimensions that differ are the
batch. Everything else of what it gives is taken as it is: numbers, nesting, dtypes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from inductor_debug.capture.inference.specs import argument_names
from inductor_debug.capture.inference.specs.specs import (
    ConstantSpec,
    MappingSpec,
    SequenceSpec,
    Spec,
    TensorSpec,
    map_tensors,
    tensors_in,
)
from inductor_debug.capture.inference.values.guarded_execution import TooLongError, at_most
from inductor_debug.capture.runtime import foreign

_MAKES = re.compile(
    r"_*(?:get|make|create|build)?_?(?:init(?:ial(?:i[sz]e)?)?|zeros?|empty|begin|start|new)(?P<what>(?:_|[A-Z]|$)\w*)"
)
_STATES = frozenset(
    ("", "h", "hidden", "hiddens", "hidden_state", "hidden_states", "state", "states", "memory", "rnn_state")
)
_FORMER = re.compile(r"^(prev|previous|last|old|init|initial)_|_(prev|previous|last|old|in|t|0)$")
_BATCHES = (11, 13)
"""Two batches that are no sizes of any model."""
_SECONDS = 0.5


def made_by(owner: nn.Module, name: str) -> Iterator[Spec]:
    """What the argument `name` of `owner.forward` is, as methods of its class make it, likeliest first.

    A method that knows no batch makes one row, which may stand for any number.
    """
    for method in _methods(owner, name):
        made = [_called(method, batch) for batch in _BATCHES]
        spec = _spec_of(made[0], made[1])
        if spec is not None:
            if not any("B" in tensor.dims for tensor in tensors_in(spec)):
                yield map_tensors(spec, _of_any_batch)
            yield spec


def _of_any_batch(spec: TensorSpec) -> TensorSpec:
    """The same for any batch, where the dimension before the last is one."""
    return replace(spec, dims=(*spec.dims[:-2], "B", spec.dims[-1])) if spec.dims[-2:-1] == (1,) else spec


def _methods(owner: nn.Module, name: str) -> Iterator[Any]:
    """Methods of the class that are called like what makes such a state."""
    plain = _FORMER.sub("", name)
    for attribute in dict.fromkeys(item for kind in type(owner).__mro__ for item in vars(kind)):
        match = _MAKES.fullmatch(attribute)
        if match is None or attribute.startswith("__") or foreign.module_name(type(owner)).startswith("torch."):
            continue
        what = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", match["what"]).strip("_").lower()
        if what == plain or (what in _STATES and argument_names.is_state(plain)):
            method = foreign.attribute(owner, attribute)
            if inspect.ismethod(method) or inspect.isfunction(method):
                yield method


def _called(method: Any, batch: int) -> Any:
    """What a method gives for a batch; None where that cannot be said."""
    signature = foreign.signature_of(method)
    if signature is None:
        return None
    required = [item for item in signature.parameters.values() if item.default is item.empty]
    named = [item.name for item in signature.parameters.values() if argument_names.is_batch(item.name)]
    asked = {item.name for item in required if item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD)}
    given: dict[str, Any] = dict.fromkeys(named[:1], batch)
    if "device" in asked:
        given["device"] = torch.device("cpu")
    if len(asked - given.keys()) == 1 and not named:
        given[(asked - given.keys()).pop()] = batch
    if asked - given.keys():
        return None
    try:
        with at_most(_SECONDS), torch.no_grad():
            return method(**given)
    except (Exception, TooLongError):  # whatever a method raises that was not made to be called so
        return None


def _spec_of(first: Any, second: Any) -> Spec | None:
    """What two states of two batches have in common; None for what is no state."""
    if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor) and first.dim() == second.dim():
        dims = tuple(int(one) if one == other else "B" for one, other in zip(first.shape, second.shape, strict=True))
        return TensorSpec(dims, str(first.dtype).removeprefix("torch."))
    if type(first) is not type(second):
        return None
    if type(first) in (list, tuple) and len(first) == len(second) and first:
        items = [_spec_of(one, other) for one, other in zip(first, second, strict=True)]
        known = tuple(item for item in items if item is not None)
        return SequenceSpec(known, type(first) is list) if len(known) == len(items) else None
    if type(first) is dict and first.keys() == second.keys() and all(isinstance(key, str) for key in first):
        pairs = [(key, _spec_of(item, second[key])) for key, item in first.items()]
        found = tuple((key, item) for key, item in pairs if item is not None)
        return MappingSpec(found) if found and len(found) == len(pairs) else None
    return ConstantSpec(repr(first), first) if isinstance(first, int | float | bool) else None
