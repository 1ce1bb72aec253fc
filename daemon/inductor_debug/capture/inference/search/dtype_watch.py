"""Notes that torch would refuse the dtypes of a model that runs without values: kernels without values take any."""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode

from inductor_debug.capture.tensors.schemas import operator_info
from inductor_debug.rules.recording import operators


class DtypeWatch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Entered around a run; changes nothing of it. `mixed` says whether an operation was given dtypes that differ."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.mixed = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not self.mixed and not isinstance(func, HigherOrderOperator):
            self.mixed = _mixes(func, args, kwargs)
        return func(*args, **kwargs)


def _mixes(func: Any, args: Any, kwargs: Any) -> bool:
    alike = operators.of_one_dtype(str(func))
    if not alike:
        return False
    given = {**dict(zip(operator_info(func).names, args, strict=False)), **kwargs}
    found = (given.get(name) for name in alike)
    return len({value.dtype for value in found if isinstance(value, torch.Tensor)}) > 1
