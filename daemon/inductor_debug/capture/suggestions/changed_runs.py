"""A target as it runs under other settings: in another precision, memory format, or with less kept for the backward.

Only what users can do to their own model with a line of torch's public interface is done here, and to a target that
was built for this alone: it is changed in place.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils.checkpoint import checkpoint

from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime import foreign

_IMAGE_RANK = 4
_COUNTING = ((torch.nn.Linear, "out_features"), (torch.nn.Embedding, "num_embeddings"))
"""Layers whose parameters have a first dimension that the user counts, and what the count is called."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a target is run: None and False leave it as it is.

    Attributes:
        autocast: what products are computed in under `torch.autocast`.
        dtype: what floating-point parameters, buffers and inputs are converted to.
        channels_last: whether parameters and inputs of four dimensions lie with their channels innermost.
        recompute: the dotted paths of modules whose insides are computed again in the backward pass.
        padded: numbers of outputs of linear layers and of rows of tables, each with what they become.
    """

    autocast: torch.dtype | None = None
    dtype: torch.dtype | None = None
    channels_last: bool = False
    recompute: tuple[str, ...] = ()
    padded: tuple[tuple[int, int], ...] = ()

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        """What a run needs around it. Fake tensors are on the CPU, so it is the CPU's autocast that is asked."""
        with torch.autocast("cpu", dtype=self.autocast, enabled=self.autocast is not None):
            yield

    def applied(self, target: BuiltTarget) -> BuiltTarget:
        """The target as it is run; its module is changed."""
        if self.dtype is not None or self.channels_last:
            with target.fake_mode or contextlib.nullcontext():
                target = self._converted(target)
        if self.padded and target.module is not None:
            with target.fake_mode or contextlib.nullcontext():
                _pad(target.module, dict(self.padded))
        for path in self.recompute:
            assert target.module is not None
            module = target.module.get_submodule(path)
            module.forward = partial(checkpoint, module.forward, use_reentrant=False)
        return target

    def _converted(self, target: BuiltTarget) -> BuiltTarget:
        if target.module is not None:
            _convert(target.module, self._as_wanted)
        args, kwargs = pytree.tree_map_only(torch.Tensor, self._as_wanted, (target.args, target.kwargs))
        return replace(target, args=args, kwargs=kwargs)

    def _as_wanted(self, tensor: torch.Tensor) -> torch.Tensor:
        dtype = self.dtype if self.dtype is not None and tensor.is_floating_point() else tensor.dtype
        if self.channels_last and tensor.dim() == _IMAGE_RANK:
            return tensor.to(dtype, memory_format=torch.channels_last)
        return tensor.to(dtype)


AS_IT_IS = RunSettings()


def _convert(module: torch.nn.Module, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Replaces parameters and buffers; what is shared stays shared. `Module.to` refuses some fake tensors."""
    known: dict[int, torch.Tensor] = {}
    for part in foreign.parts_of(module):
        owners: Sequence[dict[str, Any]] = (part._parameters, part._buffers)
        for owner in owners:
            for name, tensor in owner.items():
                if tensor is None:
                    continue
                if id(tensor) not in known:
                    new = change(tensor.detach())
                    wraps = isinstance(tensor, torch.nn.Parameter)
                    known[id(tensor)] = torch.nn.Parameter(new, tensor.requires_grad) if wraps else new
                owner[name] = known[id(tensor)]


def _pad(module: torch.nn.Module, sizes: Mapping[int, int]) -> None:
    """Gives linear layers more outputs and tables more rows; what is shared stays shared."""
    known: dict[int, torch.nn.Parameter] = {}
    for part in foreign.parts_of(module):
        counting = next((name for kind, name in _COUNTING if isinstance(part, kind)), None)
        if counting is None or getattr(part, counting) not in sizes:
            continue
        old = getattr(part, counting)
        setattr(part, counting, sizes[old])
        for name, tensor in part._parameters.items():
            if tensor is not None and tensor.dim() and tensor.shape[0] == old:
                new = tensor.detach().new_empty((sizes[old], *tensor.shape[1:]))
                known.setdefault(id(tensor), torch.nn.Parameter(new, tensor.requires_grad))
                part._parameters[name] = known[id(tensor)]


def repeated_blocks(module: torch.nn.Module) -> tuple[str, ...]:
    """The dotted paths of blocks that follow one another in a list and are of one class: the outermost such list."""
    for path, part in module.named_modules():
        if isinstance(part, (torch.nn.ModuleList, torch.nn.Sequential)) and len(part) > 1:
            kinds = {type(child) for child in part}
            if len(kinds) == 1 and any(True for _ in next(iter(part)).children()):
                return tuple(f"{path}.{name}" if path else name for name, _ in part.named_children())
    return ()
