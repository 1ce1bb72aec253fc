"""What arithmetic on sizes gives that are symbols, found again: each new tensor asks torch the same of the same sizes.

Whoever makes a tensor of such sizes has torch work out its memory and whether it is contiguous, some twenty additions,
products and comparisons, in Python. Nearly all have been worked out for another tensor of the run. They are pure: what
they give depends on the two operands and on what is known of the symbols, which has a version, and to compare is not to
decide, which alone leaves a guard. They are asked of torch where they leave a trace: in a graph that is being written,
in a log, for a proof.

Private names of `torch.fx.experimental.sym_node` and `proxy_tensor`, read in torch 2.13: with another torch, nothing
is remembered.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.fx.experimental import proxy_tensor, sym_node

_KNOWN = ("2.13.",)
_ARITHMETIC = ("_add", "_sub", "_mul", "_sym_max", "_sym_min")
_COMPARISONS = ("_eq", "_ne", "_lt", "_le", "_gt", "_ge", "_and_", "_or_")
_REMEMBERED = (*_ARITHMETIC, *_COMPARISONS)
"""What gives the same for the same operands. `_mod` and divisions are left out: they ask for the bounds of symbols."""

Binary = Callable[[Any, Any], Any]


@contextlib.contextmanager
def remembering_sizes() -> Iterator[None]:
    """Has torch asked once for each sum, product and comparison of sizes; what was remembered is forgotten after it."""
    if not torch.__version__.startswith(_KNOWN) or _is_logged():
        yield
        return
    size: Any = sym_node.SymNode
    asked: dict[str, Binary] = {name: getattr(size, name) for name in _REMEMBERED}
    of_numbers = size.wrap_int
    try:
        for name, ask in asked.items():
            setattr(size, name, _remembering(ask))
        size.wrap_int = _remembering_numbers(of_numbers)
        yield
    finally:
        for name, ask in asked.items():
            setattr(size, name, ask)
        size.wrap_int = of_numbers


def _is_logged() -> bool:
    """Whether somebody reads of each operation."""
    return bool(torch._logging._internal.GET_DTRACE_STRUCTURED or sym_node.sym_node_log.isEnabledFor(logging.DEBUG))


def _is_written_down() -> bool:
    """Whether a graph is made of what is asked for: two sums that are one object would be one node of it."""
    return proxy_tensor._CURRENT_MAKE_FX_TRACER is not None or proxy_tensor.get_proxy_mode() is not None


def _remembering(ask: Binary) -> Binary:
    known: dict[Any, Any] = {}

    def find(one: Any, other: Any) -> Any:
        environment = one.shape_env
        if environment is None or environment._translation_validation_enabled or _is_written_down():
            return ask(one, other)
        # All that the result may depend on; no function of its own, for it is asked for tens of thousands of times.
        key = (
            environment,
            environment._replacements_version_counter,
            one._expr,
            one._hint,
            one.pytype,
            one.constant,
            one._optimized_summation,
            other._expr,
            other._hint,
            other.pytype,
            other.constant,
            other._optimized_summation,
        )
        try:
            found = known.get(key)
        except TypeError:  # a size of nested tensors is known by a symbol, which has no hash
            return ask(one, other)
        if found is None:
            found = known[key] = ask(one, other)
        return found

    return find


def _remembering_numbers(wrap: Binary) -> Binary:
    known: dict[Any, Any] = {}

    def find(one: Any, number: Any) -> Any:
        if _is_written_down():
            return wrap(one, number)
        key = (one.shape_env, type(number), number)
        found = known.get(key)
        if found is None:
            found = known[key] = wrap(one, number)
        return found

    return find
