"""The arithmetic of an accelerator that is not there, from what its profile says, one ATen operation at a time.

Exact: the rounding of every input and every result to the compute format, flushing included. Approximate: what happens
inside one operation. Sums are formed in float32 by torch, in its own order, or, where the profile names a shorter
format, by `accumulation`; convolutions, attention, normalisations and softmax take float32 inside and round once.
Values stay tensors of the program's dtypes, so a number that the compute format has and the dtype has not (1-6-9
reaches 2**33, float16 65504) is lost where it leaves an operation, as it would be on its way back to the host.

Nothing here runs on a device, and nothing decides whether a difference matters.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.fx import Node
from torch.utils import _pytree as pytree

from inductor_debug.accelerators.capabilities import Profile
from inductor_debug.accelerators.number_formats import FLOAT32, NumberFormat
from inductor_debug.accelerators.sticks import STICK_BYTES, elements_per_stick
from inductor_debug.capture.tensors.rounding import rounded
from inductor_debug.kerneldiff.emulation.accumulation import Accumulator
from inductor_debug.kerneldiff.emulation.rounded_constants import Constants
from inductor_debug.kerneldiff.execution.higher_order import Mode
from inductor_debug.kerneldiff.execution.node_graphs import plainly

_NARROW = frozenset({torch.float16, torch.bfloat16})


class EmulatedArithmetic:
    """Computes operations with an accelerator's numbers; an `arithmetic.Arithmetic`.

    `unit` is the distance between 1 and the next number of the compute format, `dtypes` are those that are of it there,
    all of them where none is named. `wraps_int64` keeps int64 as int32. `constants` may be told which tensors come
    again and again. `running_totals` is the format in which sums are formed, None for float32.
    """

    def __init__(
        self,
        name: str,
        compute: NumberFormat,
        accumulate: NumberFormat = FLOAT32,
        *,
        piece: int = 64,
        wraps_int64: bool = False,
        dtypes: frozenset[torch.dtype] = frozenset(),
    ) -> None:
        self.name = name
        self.unit = compute.unit
        self.compute_format = compute
        self.piece = piece
        self._wraps_int64 = wraps_int64
        self._dtypes = dtypes
        self.constants = Constants()
        self.running_totals = None if accumulate.mantissa_bits >= FLOAT32.mantissa_bits else accumulate
        self._accumulator = None if self.running_totals is None else Accumulator(accumulate, piece)

    @classmethod
    def from_profile(cls, profile: Profile) -> EmulatedArithmetic:
        """The arithmetic of a profile.

        Raises:
            ValueError: the profile has no `[arithmetic]` table.
        """
        formats = profile.arithmetic
        if formats is None:
            raise ValueError(
                f"the profile {profile.name!r} does not say with which numbers the accelerator computes, so its "
                "arithmetic cannot be emulated; name a backend of torch.compile (inductor), an accelerator whose "
                "profile says it (spyre), or a profile of your own with a table [arithmetic] and the key compute, such "
                "as compute = 'bfloat16'"
            )
        compute, accumulate = formats.compute_format, formats.accumulate_format
        width = max((1 + compute.exponent_bits + compute.mantissa_bits) // 8, 1)
        stored = profile.stored_as.get("int64")
        return cls(
            profile.name,
            compute,
            accumulate,
            piece=elements_per_stick(width, profile.stick_bytes or STICK_BYTES),
            wraps_int64=stored is not None and stored.dtype == "int32",
            dtypes=frozenset(getattr(torch, name) for name in formats.dtypes),
        )

    def compute(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The accelerator's result for one node of a graph, in tensors of the dtypes that eager gives."""
        with self.mode():
            return plainly(node, args, kwargs)

    def ideal(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The best result with this number format: inputs rounded, computed in float64, rounded once."""
        with torch.no_grad(), _Emulation(self, ideal=True):
            return plainly(node, args, kwargs)

    def mode(self) -> Mode:
        """A mode under which every ATen operation is computed as the accelerator would."""
        return _Emulation(self)

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        """The accelerator's result of one ATen operation (an `OpOverload`). Views and factories are as ever.

        Operations that write to an argument write the rounded result.
        """
        return self._run(func, args, kwargs or {}, torch.float32, self._accumulator)

    def run_ideal(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        """As `run`, but computed in float64 where torch can."""
        try:
            return self._run(func, args, kwargs or {}, torch.float64, None)
        except (RuntimeError, NotImplementedError, TypeError):  # Apple's GPUs have no float64, and call it a wrong type
            return self._run(func, args, kwargs or {}, torch.float32, None)

    def accumulated(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], how: Accumulator) -> Any:
        """As `run`, with sums formed as `how` says."""
        return self._run(func, args, kwargs, torch.float32, how)

    def received(self, value: Any) -> Any:
        """Arguments as the accelerator has them, which may be shared."""
        return pytree.tree_map(self._received, value)

    def round(self, value: Any) -> Any:
        """All floating-point tensors in `value` rounded to the compute format, as new tensors."""
        return pytree.tree_map(self._round, value)

    def _run(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], inside: torch.dtype, how: Accumulator | None
    ) -> Any:
        if is_view(func) or not any(isinstance(leaf, Tensor) for leaf in pytree.tree_leaves((args, kwargs))):
            return func(*args, **kwargs)
        dtypes = {leaf.dtype for leaf in pytree.tree_leaves((args, kwargs)) if _floating(leaf)}
        written = written_arguments(func, args, kwargs)
        receive = self._received if not written else self._copied
        inputs = pytree.tree_map(receive, (args, kwargs))
        # A conversion says itself what it makes; operations on mixed dtypes promote by their own rules.
        own = dtypes.pop() if len(dtypes) == 1 and kwargs.get("dtype") is None else None
        if own is not None and (own in _NARROW or (own is torch.float32 and inside is torch.float64)):
            inputs = pytree.tree_map(lambda leaf: _widened(leaf, own, inside), inputs)
        total = None if how is None else how.compute(func, *inputs)
        result = func(*inputs[0], **inputs[1]) if total is None else total
        result = pytree.tree_map(lambda leaf: self._given(leaf, inside, own), result)
        if not written:
            return result
        return self._write(written, result)

    def _received(self, leaf: Any) -> Any:
        """An argument as the accelerator has it, which may be shared."""
        return self.constants.get(leaf, self._round) if _floating(leaf) else self._copied(leaf)

    def _copied(self, leaf: Any) -> Any:
        """An argument as the accelerator has it, as a tensor of its own."""
        if not isinstance(leaf, Tensor):
            return leaf
        if self._wraps_int64 and leaf.dtype is torch.int64:
            return leaf.to(torch.int32).to(torch.int64)
        return self._round(leaf)

    def _given(self, leaf: Any, inside: torch.dtype, own: torch.dtype | None) -> Any:
        """A result as the accelerator stores it, in the dtype that the program expects."""
        if not isinstance(leaf, Tensor):
            return leaf
        if self._wraps_int64 and leaf.dtype is torch.int64:
            return leaf.to(torch.int32).to(torch.int64)
        if own is None or not _floating(leaf) or leaf.dtype is not inside:
            return self._round(leaf)
        return (rounded(leaf, self.compute_format) if self._computes(own) else leaf).to(own)

    def _round(self, leaf: Any) -> Any:
        return rounded(leaf, self.compute_format) if _floating(leaf) and self._computes(leaf.dtype) else leaf

    def _computes(self, dtype: torch.dtype) -> bool:
        """Whether tensors of the dtype are of the compute format on the device."""
        return not self._dtypes or dtype in self._dtypes

    @staticmethod
    def _write(written: list[Tensor], result: Any) -> Any:
        results = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, Tensor)]
        for target, value in zip(written, results, strict=False):
            target.copy_(value)
        return written[0] if isinstance(result, Tensor) else type(result)(written)


class _Emulation(Mode):  # type: ignore[no-untyped-call]
    def __init__(self, arithmetic: EmulatedArithmetic, *, ideal: bool = False) -> None:
        super().__init__()
        self._run = arithmetic.run_ideal if ideal else arithmetic.run

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self._run(func, *self.with_functions(func, args, kwargs or {}))


def is_view(func: Any) -> bool:
    """Whether an ATen operation returns memory of its argument and writes nothing."""
    schema = getattr(func, "_schema", None)
    if schema is None or schema.is_mutable:
        return False
    return any(returned.alias_info is not None for returned in schema.returns)


def written_arguments(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    """The tensors that an ATen operation writes to."""
    schema = getattr(func, "_schema", None)
    if schema is None or not schema.is_mutable:
        return []
    found: list[Tensor] = []
    for index, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[index] if index < len(args) else kwargs.get(argument.name)
            found += [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, Tensor)]
    return found


def _widened(leaf: Any, own: torch.dtype, inside: torch.dtype) -> Any:
    """An argument in the dtype that is computed in; a dtype that names the arguments' own (backward of softmax) too."""
    if leaf is own:
        return inside
    return leaf.to(inside) if _floating(leaf) else leaf


def _floating(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and leaf.dtype.is_floating_point
