"""The same model in higher precision: what both sides are measured from.

The user's code runs as it is, on float64 parameters and inputs, under a mode that keeps every operation in float64
however the code casts. Random numbers are drawn in the model's own precision, so that dropout drops the same elements.
What lies on a device without float64 runs on the CPU, but for random numbers, which only that device draws the same.
Nothing of the model is changed when it is over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree

from inductor_debug.capture.runtime import foreign
from inductor_debug.kerneldiff.execution.higher_order import Mode
from inductor_debug.kerneldiff.metrics.wide_devices import HOST, has_float64, widenable

PRECISE = torch.float64
_LOW = frozenset({torch.float32, torch.float16, torch.bfloat16, *(
    getattr(torch, name) for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
    if hasattr(torch, name)
)})  # fmt: skip
_COMPLEX = {torch.complex64: torch.complex128, torch.complex32: torch.complex128}
_RANDOM = torch.Tag.nondeterministic_seeded


def precise_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype that stands in for `dtype`: float64, complex128, or itself."""
    return PRECISE if dtype in _LOW else _COMPLEX.get(dtype, dtype)


def to_precise(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` in higher precision, on a device that has it; quantised tensors and integers as they are."""
    if tensor.is_quantized or precise_dtype(tensor.dtype) is tensor.dtype:
        return tensor if tensor.is_quantized else widenable(tensor)
    return widenable(tensor.detach()).to(precise_dtype(tensor.dtype)).requires_grad_(tensor.requires_grad)


class Precise(Mode):  # type: ignore[no-untyped-call]
    """Keeps what runs under it in float64.

    `drawn` is the dtype in which random numbers are drawn. Where one of `tensors` lies on a device without float64,
    they are drawn on that device.
    """

    def __init__(self, drawn: torch.dtype, tensors: Iterable[torch.Tensor] = ()) -> None:
        super().__init__()
        self._drawn = drawn
        self._left: torch.device | None = None
        for tensor in tensors:
            self.left(tensor.device)

    def left(self, device: torch.device) -> None:
        """Remembers a device without float64: what would be drawn there still is."""
        if not has_float64(device):
            self._left = device

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = self.with_functions(func, args, dict(kwargs or {}))
        if kwargs.get("dtype") is not None:
            kwargs["dtype"] = precise_dtype(kwargs["dtype"])
        tags = getattr(func, "tags", ())
        if _RANDOM in tags:
            return self._draw(func, args, kwargs)
        if isinstance(kwargs.get("device"), torch.device) and not has_float64(kwargs["device"]):
            self.left(kwargs["device"])
            kwargs["device"] = HOST
        written = _written(func, args, kwargs)
        if written:
            kept = {id(tensor) for tensor in written}

            def fit(leaf: Any) -> Any:
                if not isinstance(leaf, torch.Tensor) or id(leaf) in kept:
                    return leaf
                return self._fitting(leaf, written[0])

            args, kwargs = pytree.tree_map(fit, (args, kwargs))
            return func(*args, **kwargs)
        args, kwargs = pytree.tree_map(self._up, (args, kwargs))
        return pytree.tree_map(self._up, func(*args, **kwargs))

    def _up(self, leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if not has_float64(leaf.device):
            self._left, leaf = leaf.device, leaf.to(HOST)
        return leaf.to(precise_dtype(leaf.dtype)) if leaf.dtype in _LOW or leaf.dtype in _COMPLEX else leaf

    def _fitting(self, leaf: torch.Tensor, written: torch.Tensor) -> torch.Tensor:
        """An argument of an op that writes to `written`, which stays what and where it is."""
        if written.dtype in _LOW and leaf.dtype is PRECISE:
            leaf = leaf.to(written.dtype)
        elif has_float64(written.device):
            leaf = self._up(leaf)
        return leaf if leaf.device == written.device or leaf.dim() == 0 else leaf.to(written.device)

    def _draw(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Runs an op that draws random numbers as it would run in the model's own precision."""
        for leaf in pytree.tree_leaves((args, kwargs)):
            if isinstance(leaf, torch.Tensor):
                self.left(leaf.device)
        if func is torch.ops.aten.native_dropout.default and args[2] is not False:
            source = self._up(args[0])
            kept = func(self._down(torch.ones_like(source)), *args[1:])[1].to(source.device)
            return source * kept / max(1.0 - float(args[1]), 1e-300), kept
        if kwargs.get("dtype") is PRECISE or (kwargs.get("dtype") is None and _makes_defaults(func)):
            kwargs["dtype"] = self._drawn
        written = _written(func, args, kwargs)
        low = pytree.tree_map(self._down, (args, kwargs))
        result = func(*low[0], **low[1])
        drawn = pytree.tree_leaves(result)[0]
        if written and drawn is not written[0]:
            return written[0].copy_(drawn)
        return result if written else pytree.tree_map(self._up, result)

    def _down(self, leaf: Any) -> Any:
        """A tensor as it would be without this mode: in the precision and on the device that numbers are drawn on."""
        if not isinstance(leaf, torch.Tensor):
            return leaf
        leaf = leaf if leaf.dtype is not PRECISE else leaf.to(self._drawn)
        return leaf if self._left is None else leaf.to(self._left)


@contextmanager
def precisely(module: torch.nn.Module | None, drawn: torch.dtype) -> Iterator[None]:
    """Runs what is inside in float64, with float64 copies in place of the parameters and buffers of `module`."""
    mode = Precise(drawn)
    copies: dict[int, Any] = {}
    kept: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def copied(tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in copies:
            mode.left(tensor.device)
            made = to_precise(tensor)
            made = made.clone() if made is tensor else made
            is_parameter = isinstance(tensor, torch.nn.Parameter)
            copies[id(tensor)] = torch.nn.Parameter(made.detach(), tensor.requires_grad) if is_parameter else made
        return copies[id(tensor)]  # type: ignore[no-any-return]

    default = torch.get_default_dtype()
    for part in [] if module is None else foreign.parts_of(module):
        for registry in (part._parameters, part._buffers):
            kept.append((registry, dict(registry)))
            for name, tensor in registry.items():
                if tensor is not None:
                    registry[name] = copied(tensor)  # type: ignore[assignment]
    try:
        with mode:
            torch.set_default_dtype(PRECISE)
            yield
    finally:
        torch.set_default_dtype(default)
        for registry, before in kept:
            registry.clear()
            registry.update(before)


def drawn_dtype(tensors: list[torch.Tensor]) -> torch.dtype:
    """The floating-point dtype that most elements of `tensors` have; the default one where there are none."""
    counts: dict[torch.dtype, int] = {}
    for tensor in tensors:
        if tensor.is_floating_point():
            counts[tensor.dtype] = counts.get(tensor.dtype, 0) + tensor.numel()
    return max(counts, key=lambda dtype: counts[dtype]) if counts else torch.get_default_dtype()


def _makes_defaults(func: Any) -> bool:
    """Whether the op takes its dtype from torch's default, for want of any other (`rand`, but not `rand_like`)."""
    takes_one = any(argument.name == "dtype" for argument in func._schema.arguments)
    return takes_one and func.overloadpacket in _FACTORIES


_FACTORIES = (torch.ops.aten.rand, torch.ops.aten.randn, torch.ops.aten.normal)


def _written(func: Any, args: Any, kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """The tensors that the op writes to."""
    schema = getattr(func, "_schema", None)
    if schema is None or not schema.is_mutable:
        return []
    found = []
    for index, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[index] if index < len(args) else kwargs.get(argument.name)
            found += [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
    return found
