"""How one comparison is made, as plain data for all of its steps. What two tensors are held to is elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from inductor_debug.kerneldiff.judging.streaming import Stream
from inductor_debug.kerneldiff.metrics.comparison_config import ComparisonConfig

Around = Callable[[], contextlib.AbstractContextManager[Any]]


@dataclass(frozen=True)
class ComparisonSettings:
    """How to compare; see `KernelDiffHarness`."""

    config: ComparisonConfig = field(default_factory=ComparisonConfig)
    gradients: bool = False
    runs: int = 1
    seed: int = 0
    nodes: bool = True
    inject: tuple[str, ...] = ()
    time_limit: float = 120.0
    progress: Callable[[str], None] = lambda message: None
    stream: Stream = field(default_factory=Stream)
    """Told of results and operations as they are compared."""
    exact: bool = True
    """Measure from the model in higher precision, which needs twice the memory of a float32 model once more."""
    eagerly: Around = contextlib.nullcontext
    """What surrounds every run of user code that is not compiled."""
    traced: Around = contextlib.nullcontext
    """What surrounds every run that is."""
