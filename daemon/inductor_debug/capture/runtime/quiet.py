"""Keeps torch from writing to the log while a target runs: what goes wrong becomes a finding instead.

With `TORCH_LOGS` set, what its user asks for is logged all the same (`torch_logs`). It also holds the garbage
collector: a trace makes hundreds of thousands of objects that live until its end, and searching them for cycles costs
up to a fifth of the time. Warnings that user code issues still go to its log.
"""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from inductor_debug.capture.runtime.torch_logs import VARIABLE

_get_referrers = gc.get_referrers
_LOGGERS = ("torch._subclasses.fake_tensor", "torch._dynamo", "torch.fx.experimental.symbolic_shapes")
"""Loggers that repeat, as errors with tracebacks, exceptions which the stages catch and explain."""


@dataclass
class HeldGarbage:
    """Whether what was made meanwhile is left out of every later search for garbage. May be changed until the end."""

    freeze: bool


@contextmanager
def quiet(*, freeze: bool = True) -> Iterator[HeldGarbage]:
    """Silences torch's loggers below `CRITICAL` and the garbage collector until it is left.

    Args:
        freeze: leaves what was made meanwhile out of every later search for garbage. Right for a worker, whose life is
            one job; wrong for a process that is somebody else's, and where tensors with values are among it or come to
            be, as they do by an exception, whose frames hold all that their functions ever will: their memory would be
            taken to the end.
    """
    loggers = [] if os.environ.get(VARIABLE) else [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    collecting, held = gc.isenabled(), HeldGarbage(freeze)
    gc.disable()
    gc.get_referrers = _referrers  # for good: what is frozen stays so
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield held
    except BaseException:
        held.freeze = False
        raise
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        if collecting:
            if held.freeze:
                gc.freeze()
            gc.enable()


def _referrers(*objects: Any) -> list[Any]:
    """`gc.get_referrers` that finds what was left out of searches, too, which the collector's own passes over.

    typeguard 2 finds the function that it is called in by who refers to its code: without this it raises a
    `LookupError` wherever code calls `check_argument_types()`.
    """
    gc.unfreeze()
    return _get_referrers(*objects)
