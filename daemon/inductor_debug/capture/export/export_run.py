"""One target through `torch.export.export`, in both of its modes; says what was seen, judges nothing.

The target is exported as a module that takes its tensors as one list: so sizes are named alike for functions, methods
and modules, whatever they are given. Every size is left to torch (`Dim.AUTO`) but those that the user marked.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from inductor_debug_schema import Location
from torch.export import Dim, ExportedProgram
from torch.fx import Node
from torch.utils import _pytree as pytree

from inductor_debug.capture.dynamo.dynamo_breaks import stack_of_error
from inductor_debug.capture.dynamo.dynamo_positions import TracedStack, hooked_positions, last_stack
from inductor_debug.capture.export.export_positions import noted_frames, number_at
from inductor_debug.capture.export.symbol_watch import SymbolEvents, watched_symbols
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failures import innermost
from inductor_debug.capture.running.modules import Snapshot
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.rules.recording.ops import Frame
from inductor_debug.system.torch_names import refuse

_MARKS = "_dynamo_"
"""What the attributes begin with in which torch keeps on a tensor which of its sizes are open."""


@dataclass
class ExportAttempt:
    """What came of an export: a program or an error, where Dynamo was, and what was decided on the way.

    `frames` are those that nodes of the program come from, by the numbers that they were given.
    """

    program: ExportedProgram | None = None
    error: BaseException | None = None
    traced: TracedStack = ()
    frames: dict[int, tuple[Frame, ...]] = field(default_factory=dict)
    events: SymbolEvents = field(default_factory=SymbolEvents)

    def place_of(self, node: Node) -> Location | None:
        """The user's expression that a node of the program comes from; None where that is not known."""
        number = number_at(node)
        frames = self.frames.get(number, ()) if number is not None else ()
        index = innermost(frames)
        return frames[index].location if index is not None else None


class ListedArguments(torch.nn.Module):
    """The target as a module that is given its tensors in one list, as `tensors_of` gives them."""

    def __init__(self, target: BuiltTarget) -> None:
        super().__init__()
        self.function = target.function
        if target.module is not None and target.module is not target.function:
            self.owner = target.module
        leaves, spec = pytree.tree_flatten((target.args, target.kwargs))
        self._rest = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self._places = [number for number, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self._spec = spec

    def forward(self, tensors: list[torch.Tensor]) -> Any:
        """Calls the target."""
        leaves = list(self._rest)
        for place, tensor in zip(self._places, tensors, strict=True):
            leaves[place] = tensor
        args, kwargs = pytree.tree_unflatten(leaves, self._spec)
        return self.function(*args, **kwargs)


def tensors_of(target: BuiltTarget) -> list[torch.Tensor]:
    """The tensors among the arguments of a target's first call, in order."""
    return [leaf for leaf in pytree.tree_leaves((target.args, target.kwargs)) if isinstance(leaf, torch.Tensor)]


def exported(
    target: BuiltTarget,
    sources: SourceMap,
    *,
    strict: bool = False,
    go_on: bool = False,
    fixed: bool = False,
    options: Mapping[str, Any] | None = None,
) -> ExportAttempt:
    """Exports a target once and leaves it as it was.

    Args:
        target: it is called with its first set of inputs.
        sources: turns places into frames.
        strict: has Dynamo trace it.
        go_on: answers what torch cannot decide, so that later questions are asked as well: what comes of it proves
            nothing else.
        fixed: has every size be the one that it is.
        options: how a file exports it, which is then done as there.
    """

    def stack(frame: FrameType) -> tuple[Frame, ...]:
        return sources.stack(frame, ListedArguments.forward.__code__)

    def program() -> ExportedProgram:
        if options is not None:
            assert target.module is not None
            return torch.export.export(target.module, target.args, target.kwargs, **{**options, "strict": strict})
        shapes = None if fixed else {"tensors": [_dims(tensor) for tensor in tensors]}
        return torch.export.export(ListedArguments(target), (tensors,), dynamic_shapes=shapes, strict=strict)

    attempt = ExportAttempt()
    snapshot = Snapshot(target)
    tensors = tensors_of(target)
    marks = [
        (tensor, {name: copy.copy(value) for name, value in vars(tensor).items() if name.startswith(_MARKS)})
        for tensor in tensors
    ]
    ambient = target.fake_mode or contextlib.nullcontext()
    watching = watched_symbols(stack, sources.in_project, go_on=go_on)
    with quiet(), hooked_positions(), noted_frames(stack) as attempt.frames, ambient, watching as attempt.events:
        try:
            attempt.program = program()
        except (Exception, SystemExit) as error:
            refuse(error)
            attempt.error = error
            attempt.traced = (stack_of_error(error) or last_stack()) if strict else ()
        snapshot.restore()
    for tensor, before in marks:
        # Torch marks what is given to it as the sizes say that are asked for.
        for name in [name for name in vars(tensor) if name.startswith(_MARKS) and name not in before]:
            delattr(tensor, name)
        vars(tensor).update(before)
    torch._dynamo.reset()
    return attempt


def _dims(tensor: torch.Tensor) -> dict[int, Any]:
    """What is asked of each dimension: as torch finds it, but for what the user marked."""
    marked = set(getattr(tensor, "_dynamo_dynamic_indices", ()))
    static = set(getattr(tensor, "_dynamo_static_indices", ()))
    return {
        number: Dim.STATIC if number in static else Dim.DYNAMIC if number in marked else Dim.AUTO
        for number in range(tensor.dim())
    }
