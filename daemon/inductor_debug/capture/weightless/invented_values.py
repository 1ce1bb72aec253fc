"""Plausible values for small integers and masks that were computed from tensors without values.

A mixture of experts asks which experts were chosen before it goes on, and the choice comes from weights that nobody has
loaded. Any choice that the code could make shows what the code does with it: indices in range, no expert twice for a
token, masks that are true here and there. The values are drawn from a seed, so the same code gets the same ones.
Floating-point results never get a value: code that branches on a loss is not answered with a number of ours.
"""

from __future__ import annotations

from typing import Any

import torch

MOST_ELEMENTS = 1 << 22
"""Elements up to which a tensor is given values: the masks of 4096 tokens that choose 8 of 128 experts."""

_ALONG = {"topk": 2, "sort": 1, "argsort": 1, "argmax": 1, "argmin": 1, "max": 1, "min": 1, "kthvalue": 2, "mode": 1}
"""Operators whose integers are positions along a dimension, and where that dimension stands among the arguments."""
_ABSENT = frozenset(("isnan", "isinf", "isneginf", "isposinf"))
_PRESENT = frozenset(("isfinite", "isreal"))
_BOUNDARIES = {"bucketize": 1, "searchsorted": 0}


class Inventor:
    """Draws values, from a seed."""

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)
        self.used = False
        """Whether any value was invented."""

    def wanted(self, out: Any) -> bool:
        """Whether a result is one that gets values: whole numbers or truths, few, of a size that is known."""
        return (
            isinstance(out, torch.Tensor)
            and not out.dtype.is_floating_point
            and not out.dtype.is_complex
            and all(type(size) is int for size in out.shape)
            and 0 < out.numel() <= MOST_ELEMENTS
        )

    def values(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: torch.Tensor) -> torch.Tensor:
        """Values for `out`, which `func` gave for `args` and `kwargs`; same shape and dtype, real, on the CPU."""
        self.used = True
        name = func.overloadpacket.__name__.rstrip("_")
        if out.dtype is torch.bool:
            return self._truths(name, out)
        if name == "multinomial":
            return self._positions(out, -1, args[0].size(-1))
        if name in _ALONG:
            return self._along(_ALONG[name], args, kwargs, out)
        if name in _BOUNDARIES:
            return self._below(out, args[_BOUNDARIES[name]].size(-1) + 1)
        return self._below(out, 2)

    def _truths(self, name: str, out: torch.Tensor) -> torch.Tensor:
        if name in _ABSENT or name in _PRESENT:
            return torch.full(out.shape, name in _PRESENT)
        return torch.rand(out.shape, generator=self._generator) < 0.5

    def _along(self, position: int, args: tuple[Any, ...], kwargs: dict[str, Any], out: torch.Tensor) -> torch.Tensor:
        given, dim = args[0], kwargs.get("dim", args[position] if len(args) > position else -1)
        if dim is None:
            return self._below(out, given.numel())
        length = given.size(dim) if given.dim() else 1
        # Reduced away, or kept with one position: nothing to be distinct from.
        if out.dim() < given.dim() or out.dim() == 0 or out.size(dim) == 1:
            return self._below(out, length)
        return self._positions(out, dim, length)

    def _positions(self, out: torch.Tensor, dim: int, length: int) -> torch.Tensor:
        """Positions below `length`, none twice along `dim`."""
        rows = out.movedim(dim, -1).shape
        drawn = torch.rand((*rows[:-1], length), generator=self._generator).argsort(dim=-1)
        return drawn[..., : rows[-1]].movedim(-1, dim).to(out.dtype).contiguous()

    def _below(self, out: torch.Tensor, bound: int) -> torch.Tensor:
        return torch.randint(0, max(bound, 1), out.shape, generator=self._generator).to(out.dtype)
