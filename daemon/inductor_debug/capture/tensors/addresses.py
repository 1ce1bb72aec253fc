"""Code that asks a tensor without values where it lies in memory is told that it lies nowhere, as its values are.

Torch gives such a tensor the address zero, behind which C code reads and writes all the same, and ends the process.
Libraries compare addresses to find tensors that share memory, which zero serves; only the user's own code is told.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from torch._subclasses.fake_tensor import FakeTensor

from inductor_debug.capture.runtime.loading import is_installed, is_standard


@contextlib.contextmanager
def no_addresses() -> Iterator[None]:
    """Has `data_ptr` of fake tensors raise what torch raises itself where their storage is asked for its address."""
    if "data_ptr" in vars(FakeTensor):
        yield  # an outer context's
        return
    FakeTensor.data_ptr = _data_ptr  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        del FakeTensor.data_ptr


def _data_ptr(self: FakeTensor) -> int:
    file = sys._getframe(1).f_code.co_filename
    if is_installed(file) or is_standard(file):
        return 0
    raise RuntimeError("Cannot access data pointer of Tensor (e.g. FakeTensor, FunctionalTensor): it has no memory.")
