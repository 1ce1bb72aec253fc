"""Whether what a constructor raised is the fault of the code: it asked for no arguments, or names what is not there."""

from __future__ import annotations

import inspect
import traceback
from typing import Any

from inductor_debug.capture.failures.set_up import NotSetUpError
from inductor_debug.capture.inference.construction import signatures
from inductor_debug.capture.inference.construction.given_arguments import Construction
from inductor_debug.capture.inference.judging.blame import KnownNames, is_evident
from inductor_debug.capture.inference.judging.fallbacks import comes_of_a_fallback
from inductor_debug.capture.inference.search.trial import user_frames
from inductor_debug.capture.inference.values.guarded_execution import SideEffectError

_OF_CODE = (TypeError, ValueError, AssertionError, RuntimeError, LookupError, ArithmeticError)
"""What a constructor that is given nothing raises by its own fault; other exceptions speak of files and machines."""
_OF_MACHINES = ("torch.distributed", "torch.cuda", "torch.accelerator")
"""Parts of torch whose refusals speak of processes that a launcher starts, and of what a machine has."""
_COLLECTIONS = (dict, list, tuple, set)
_PLAIN = (bool, int, float, str, list, tuple, dict, set)
"""Types whose attributes no machine changes."""


def is_constructors_fault(error: BaseException, kind: Any, made: Construction, names: KnownNames) -> bool:
    """Whether the code alone is to blame for `error`.

    Args:
        error: what building `kind` raised.
        kind: the class.
        made: what its constructor was given.
        names: of the file that defines it.
    """
    if isinstance(error, NotSetUpError):
        return True
    if isinstance(error, TypeError | LookupError) and any(signatures.takes_more(kind)):
        return False  # what is handed on as `*args`, or looked up in `kwargs["width"]`, nobody wrote down
    if is_evident(error, names, None, invented=bool(made.invented), kinds=made.invented_kinds):
        return True
    plain = isinstance(error, _OF_CODE) and not isinstance(error, SideEffectError | MemoryError)
    if isinstance(error, LookupError | ArithmeticError) and names.counts_devices:
        return False  # there are none here
    if _is_of_machine(error):
        return False
    plain |= isinstance(error, AttributeError) and type(error.obj) in _PLAIN
    plain = plain and not made.arguments and _asks_for_nothing(kind) and bool(user_frames(error))
    return plain and not comes_of_a_fallback(error)


def _is_of_machine(error: BaseException) -> bool:
    modules = (str(frame.f_globals.get("__name__")) for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(module == part or module.startswith(f"{part}.") for module in modules for part in _OF_MACHINES)


def _asks_for_nothing(kind: Any) -> bool:
    """Whether a class can be built without arguments, and none of its defaults stands for something missing."""
    parameters = signatures.parameters(kind) if isinstance(kind, type) else None
    return parameters is not None and not any(_is_missing(item.default) for item in parameters)


def _is_missing(default: Any) -> bool:
    """Whether a default is none, or is there to be replaced: None, or a collection with nothing in it."""
    return default is None or default is inspect.Parameter.empty or (type(default) in _COLLECTIONS and not default)
