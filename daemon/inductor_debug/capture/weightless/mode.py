"""The fake mode of all analyses: torch's own, where it suffices.

`FakeTensorMode`, its converter, `CONSTANT_NUMEL_LIMIT` and `registered_hop_fake_fns` are private; read in torch 2.11 to
2.14. Where the constants of fake tensors are gone, nothing is invented, and code that looks at values stops as it does
under torch's own mode.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._higher_order_ops import utils as operator_rules
from torch._ops import HigherOrderOperator
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils import _pytree as pytree
from torch.utils._mode_utils import no_dispatch

from inductor_debug.capture.weightless.dimension_checks import check_dimensions
from inductor_debug.capture.weightless.false_refusals import RefusedWithoutValuesError, is_taken_with_values
from inductor_debug.capture.weightless.grouped_products import GROUPED_PRODUCT, grouped_product
from inductor_debug.capture.weightless.invented_values import MOST_ELEMENTS, Inventor
from inductor_debug.capture.weightless.remembered_answers import UNKNOWN, RememberingMode
from inductor_debug.capture.weightless.tensor_copies import mend_copies

_FACTORIES = frozenset(
    getattr(torch.ops.aten, name)
    for name in (
        *("linspace", "logspace", "arange", "range", "zeros", "ones", "full", "eye", "scalar_tensor"),
        *("tril_indices", "triu_indices", "rand", "randn", "randint", "randperm", "normal"),
        *("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window"),
    )
)
_FAKE_RULES: dict[Any, Any] = getattr(operator_rules, "registered_hop_fake_fns", {})
"""Operators with functions for arguments whose rule torch's own mode looks up."""
_INDEXED = frozenset(("index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put"))


class WeightlessMode(RememberingMode):  # type: ignore[no-untyped-call]
    """Tensors without storage; real ones that meet it are taken as fake.

    Args:
        inventor: gives small integers and masks values that they cannot have otherwise; None to leave them without.
    """

    supports_higher_order_operators = True
    """`torch.cond` and the like have a rule for torch's own class alone, which is asked for below."""

    def __init__(self, inventor: Inventor | None = None) -> None:
        super().__init__(allow_non_fake_inputs=True)
        check_dimensions()
        mend_copies()
        self.inventor = inventor
        self._most_constant = MOST_ELEMENTS if inventor is not None else 0

    @contextlib.contextmanager
    def keeping_constants(self, most: int) -> Iterator[None]:
        """Inside, tensors of up to `most` elements that are made from numbers alone, random ones too, have values."""
        before, self._most_constant = self._most_constant, max(most, self._most_constant)
        try:
            yield
        finally:
            self._most_constant = before

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if isinstance(func, HigherOrderOperator):
            if func in _FAKE_RULES:
                # Their entry in the table asks the mode, which is this one.
                mode: Any = super()
                return mode.__torch_dispatch__(func, types, args, kwargs)
            return func.python_key_table[FakeTensorMode](self, *args, **kwargs)
        if func is GROUPED_PRODUCT:
            made = grouped_product(*args, **kwargs)
            if made is not None:
                return made
        if not self._most_constant:
            return self._without_values(func, types, args, kwargs)
        with _constant_limit(self._most_constant):
            if self.inventor is not None:
                args = self._by_positions(func, args)
            out = self._without_values(func, types, args, kwargs)
            if func.overloadpacket in _FACTORIES and not func._schema.is_mutable:
                return self._made_of_numbers(func, args, kwargs, out)
            return out if self.inventor is None else self._with_values(self.inventor, func, args, kwargs, out)

    def at_once(self, func: Any, args: Any, kwargs: Any) -> Any:
        """As of torch's mode, where no values are kept."""
        return UNKNOWN if self._most_constant else super().at_once(func, args, kwargs)

    def _without_values(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """What torch's own mode gives.

        Raises:
            RefusedWithoutValuesError: it refuses what real tensors of the same sizes would not be refused for.
        """
        try:
            return self.answer(func, types, args, kwargs)
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            if type(error).__module__ != fake_tensor.__name__ and is_taken_with_values(func, args, kwargs):
                raise RefusedWithoutValuesError(str(error)) from error
            raise

    def _made_of_numbers(self, func: Any, args: Any, kwargs: Any, out: Any) -> Any:
        if not isinstance(out, FakeTensor) or out.device.type != "cpu" or not 0 < out.numel() <= self._most_constant:
            return out
        try:
            with no_dispatch():
                values = func(*args, **kwargs)
            return self._constant(values)
        except (AttributeError, RuntimeError, TypeError):
            return out

    def _by_positions(self, func: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Masks among indices, as the positions where they are true: how many there are is known by their values."""
        if func.overloadpacket.__name__ not in _INDEXED or len(args) < 2:
            return args
        indices = [part for index in args[1] for part in self._positions(index)]
        return (args[0], indices, *args[2:])

    def _positions(self, index: Any) -> list[Any]:
        values = getattr(index, "constant", None)
        if values is None or values.dtype not in (torch.bool, torch.uint8):
            return [index]
        with no_dispatch():
            found = values.nonzero(as_tuple=True)
        return [self._constant(part) for part in found]

    def _with_values(self, inventor: Inventor, func: Any, args: Any, kwargs: Any, out: Any) -> Any:
        # What is written to keeps its identity; views share what they look at.
        if func._schema.is_mutable or any(returned.alias_info is not None for returned in func._schema.returns):
            return out

        def valued(result: Any) -> Any:
            if not isinstance(result, FakeTensor) or result.constant is not None or not inventor.wanted(result):
                return result
            with no_dispatch():
                values = inventor.values(func, args, kwargs, result)
            return self._constant(values)

        return pytree.tree_map(valued, out)

    def _constant(self, values: torch.Tensor) -> torch.Tensor:
        return self.fake_tensor_converter.from_real_tensor(self, values, make_constant=True)


@contextlib.contextmanager
def _constant_limit(limit: int) -> Iterator[None]:
    """Inside, tensors of up to `limit` elements that are computed from constants are constants themselves."""
    before = getattr(fake_tensor, "CONSTANT_NUMEL_LIMIT", None)
    if before is None:
        yield
        return
    fake_tensor.CONSTANT_NUMEL_LIMIT = limit
    try:
        yield
    finally:
        fake_tensor.CONSTANT_NUMEL_LIMIT = before
