"""Recurrent layers without values: one step of a sequence stands for all of them.

Torch takes a GRU apart into a dozen operations for every step, layer and direction, so that one trial on a sequence of
two hundred took seconds. No size, dtype or refusal depends on which step it is. Computes nothing that has values, and
leaves packed sequences as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.tensors.fake_mode import is_fake

_LAYERS = frozenset((torch.gru, torch.lstm, torch.rnn_relu, torch.rnn_tanh))
_ARGUMENTS = 9
"""Input, state, weights, biases, layers, dropout, training, directions, whether the batch comes first."""


class OneStep(TorchFunctionMode):
    """Gives the output of a recurrent layer for a whole sequence from its first step."""

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if not _is_sequence(function, args) or kwargs:
            return function(*args, **(kwargs or {}))
        sequence, *others, batch_first = args
        steps = 1 if batch_first else 0
        output, *states = function(sequence.narrow(steps, 0, 1), *others, batch_first)
        # As torch lays it out: step after step in memory, also where the batch comes first.
        by_step = output.transpose(0, 1) if batch_first else output
        whole = by_step.expand(sequence.shape[steps], *by_step.shape[1:]).contiguous()
        return whole.transpose(0, 1) if batch_first else whole, *states


def has_recurrent_layers(subject: Any) -> bool:
    """Whether a model has layers that take a sequence step by step."""
    return isinstance(subject, nn.Module) and any(
        isinstance(module, nn.RNNBase) for module in foreign.parts_of(subject)
    )


def _is_sequence(function: Callable[..., Any], args: Any) -> bool:
    if function not in _LAYERS or len(args) != _ARGUMENTS or not isinstance(args[-1], bool):
        return False
    sequence = args[0]
    without_values = isinstance(sequence, torch.Tensor) and (sequence.is_meta or is_fake(sequence))
    return without_values and sequence.dim() == 3 and sequence.shape[1 if args[-1] else 0] > 1
