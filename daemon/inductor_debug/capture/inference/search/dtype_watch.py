"""Notes that torch would refuse the dtypes of a model that runs without values: kernels without values take any."""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode

from inductor_debug.capture.tensors.schemas import operator_info
from inductor_debug.rules.recording import operators


class DtypeWatch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Entered around a run; changes nothing of it. `dtypes` are those of the first operation that may not mix them."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.dtypes: list[torch.dtype] = []

    @property
    def mixed(self) -> bool:
        """Whether an operation was given dtypes that it may not mix."""
        return bool(self.dtypes)

    @property
    def mixed_floats(self) -> bool:
        """Whether all of them are floating."""
        return self.mixed and all(dtype.is_floating_point for dtype in self.dtypes)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not self.mixed and not isinstance(func, HigherOrderOperator):
            self.dtypes = _mixed(func, args, kwargs)
        return func(*args, **kwargs)


def _mixed(func: Any, args: Any, kwargs: Any) -> list[torch.dtype]:
    alike = operators.of_one_dtype(str(func))
    if not alike:
        return []
    given = {**dict(zip(operator_info(func).names, args, strict=False)), **kwargs}
    found = (given.get(name) for name in alike)
    dtypes = [value.dtype for value in found if isinstance(value, torch.Tensor)]
    return [] if operators.may_mix(str(func), [str(dtype).removeprefix("torch.") for dtype in dtypes]) else dtypes
