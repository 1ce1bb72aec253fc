"""Operations that take functions (`cond`, `while_loop`, `scan`, `flex_attention`) under a dispatch mode of ours.

torch refuses them under a mode that does not say that it knows them, and runs their functions outside of the mode. Here
the functions run inside of it, so that what they compute is computed as everything else is. Reads the private
`torch._ops.HigherOrderOperator` (2.11 to 2.13).
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

_OPERATOR: type = torch._ops.HigherOrderOperator


class Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A dispatch mode that is asked about operations with functions, too."""

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def with_functions(self, func: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
        """The arguments of an operation, the functions among them run under this mode again."""
        if not takes_functions(func):
            return args, kwargs
        return tuple(
            pytree.tree_map(lambda leaf: self._under(leaf) if _runs(leaf) else leaf, part) for part in (args, kwargs)
        )

    def _under(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return run


def takes_functions(func: Any) -> bool:
    """Whether an operation is one of these."""
    return isinstance(func, _OPERATOR)


def _runs(leaf: Any) -> bool:
    """Whether it is Python code, and no operation of torch's, which some of these take as well."""
    return isinstance(leaf, (types.FunctionType, types.MethodType, functools.partial, torch.nn.Module))
