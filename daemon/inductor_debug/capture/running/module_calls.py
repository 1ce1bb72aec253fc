"""Notes every call of a module beside the recorder: from where, with which tensors, and which ops ran in it.

A recording alone cannot tell the second call of a shared layer from the first one going on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch

from inductor_debug.capture.runtime import foreign
from inductor_debug.rules.recording.ops import Frame, ModuleCall, Recording


class _Table(Protocol):
    def value(self, tensor: torch.Tensor) -> int:
        """The number of a tensor."""


class _Recorder(Protocol):
    @property
    def recording(self) -> Recording:
        """What has been recorded so far."""

    @property
    def tensors(self) -> _Table:
        """Numbers tensors."""


@dataclass
class CallLog:
    """Writes `Recording.calls`.

    Args:
        recorder: what runs meanwhile.
        stack: the visible frames from a frame outwards.
    """

    recorder: _Recorder
    stack: Callable[[Any], tuple[Frame, ...]]

    def begin(self, path: str, module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int:
        """A module is called by the caller of our caller; returns the number of the call for `end`."""
        recording = self.recorder.recording
        arguments = {
            name: self.recorder.tensors.value(value)
            for name, value in _named(module, args, kwargs)
            if isinstance(value, torch.Tensor)
        }
        ran = len(recording.ops)
        recording.calls.append(ModuleCall(path, self.stack(sys._getframe(2)), arguments, ran, ran))
        return len(recording.calls) - 1

    def end(self, number: int | None) -> None:
        """The call with that number is over."""
        if number is not None:
            recording = self.recorder.recording
            recording.calls[number] = replace(recording.calls[number], last=len(recording.ops))


def _named(module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[tuple[str, object]]:
    """The arguments by the names of `forward`'s parameters, as far as those are known."""
    parameters = _parameters(type(module))
    return [*zip(parameters, args, strict=False), *kwargs.items()]


def _parameters(kind: type) -> list[str]:
    """The names of `forward`'s positional parameters."""
    known = _PARAMETERS.get(kind)
    if known is None:
        found = foreign.parameters(foreign.attribute(kind, "forward")) or []
        positional = [
            parameter.name
            for parameter in found
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        ]
        known = _PARAMETERS[kind] = positional[1:]
    return known


_PARAMETERS: dict[type, list[str]] = {}
