"""What the recorder needs to know of an ATen operator, read from its schema once and kept.

Only `torch._C._dispatch_has_kernel_for_dispatch_key` is private here (torch 2.11 to 2.13); without it no operator is
taken for a composite, and composites are then recorded whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class OperatorInfo:
    """An operator as the recorder sees it.

    `names` are its argument names in order, `defaults` the plain values of those that have one; `written` the names of
    the arguments that it writes in place. `may_view` says that the schema lets an output alias an input unchanged.
    `composite` operators are only a Python-visible wrapping of others, and run as those.
    """

    overload: str
    names: tuple[str, ...]
    defaults: dict[str, Any]
    written: frozenset[str]
    may_view: bool
    composite: bool


_KNOWN: dict[Any, OperatorInfo] = {}


def operator_info(function: Any) -> OperatorInfo:
    """The schema of the operator overload `function`, from the cache or read now."""
    info = _KNOWN.get(function)
    if info is None:
        info = _KNOWN[function] = _read(function)
    return info


def _read(function: Any) -> OperatorInfo:
    schema = function._schema
    written = frozenset(
        argument.name
        for argument in schema.arguments
        if argument.alias_info is not None and argument.alias_info.is_write
    )
    return OperatorInfo(
        overload=str(function),
        names=tuple(argument.name for argument in schema.arguments),
        defaults={
            argument.name: plain(argument.default_value)
            for argument in schema.arguments
            if argument.has_default_value()
        },
        written=written,
        may_view=bool(getattr(function, "is_view", False)),
        composite=_is_composite(schema.name + ("." + schema.overload_name if schema.overload_name else "")),
    )


def _is_composite(name: str) -> bool:
    has_kernel = getattr(torch._C, "_dispatch_has_kernel_for_dispatch_key", None)
    try:
        return bool(has_kernel is not None and has_kernel(name, "CompositeImplicitAutograd"))
    except RuntimeError:
        # An operator of TorchScript alone (`prim::device`), which the dispatcher does not know.
        return False


def plain(value: Any) -> Any:
    """A literal argument as the rules see it: numbers, strings, bools, None, lists; dtypes and devices as strings."""
    if value is None or isinstance(value, (bool, int, float, str, complex)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value).removeprefix("torch.")
