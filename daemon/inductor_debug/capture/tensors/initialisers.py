"""Random initial values for tensors that have none: fake tensors are given back as they are.

`torch.nn.init.trunc_normal_` looks at what it has drawn, which no fake tensor lets it, so that every vision transformer
had to be built with real ones. Only what draws is left out: the checks before it are made as ever.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from torch.nn import init

from inductor_debug.capture.tensors.fake_mode import is_fake

_DRAWING = ("_no_grad_uniform_", "_no_grad_normal_", "_no_grad_trunc_normal_")
"""Private functions of `torch.nn.init` that draw (read in torch 2.11-2.13); what a version lacks is left as it is."""


@contextlib.contextmanager
def nothing_drawn() -> Iterator[None]:
    """Meanwhile `torch.nn.init` draws no values for fake tensors."""
    originals = {name: getattr(init, name) for name in _DRAWING if hasattr(init, name)}
    for name, original in originals.items():
        setattr(init, name, _unless_fake(original))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(init, name, original)


def _unless_fake(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def draw(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        return tensor if is_fake(tensor) else original(tensor, *args, **kwargs)

    return draw
