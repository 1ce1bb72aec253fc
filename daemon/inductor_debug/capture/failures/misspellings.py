"""Names that are not there, and the nearest that are: for `AttributeError` and `NameError`, without running anything.

Names are read from dictionaries alone: neither `dir` nor any attribute of the user's objects is asked for.
"""

from __future__ import annotations

import builtins
import difflib
from types import FrameType, ModuleType, TracebackType
from typing import Any

from inductor_debug_schema import UnknownName
from torch import nn


def unknown_name(error: BaseException) -> UnknownName | None:
    """What an exception says of a missing name; None of any other exception."""
    name = getattr(error, "name", None)
    if not isinstance(name, str) or not name:
        return None
    if isinstance(error, AttributeError):
        owner = error.obj
        return UnknownName(
            name, _title(owner), _nearest(name, _attributes(owner), _read_beside(name, error.__traceback__))
        )
    if isinstance(error, NameError):
        frame = _innermost(error.__traceback__)
        if frame is None:
            return UnknownName(name, "")
        owner = frame.f_locals.get("self")
        if owner is not None and name in _attributes(owner):
            return UnknownName(name, "", f"self.{name}")
        return UnknownName(name, "", _nearest(name, {*frame.f_locals, *frame.f_globals, *vars(builtins)}))
    return None


def _nearest(name: str, known: set[str], read: frozenset[str] = frozenset()) -> str | None:
    """The name that is most like it; of equals the first one that is not `read` already where this one stands."""
    found = difflib.get_close_matches(name, sorted(known - {name}), n=5, cutoff=0.7)
    alike = {other: difflib.SequenceMatcher(None, other, name).ratio() for other in found}
    return min(found, key=lambda other: (-alike[other], other in read), default=None)


def _read_beside(name: str, traceback: TracebackType | None) -> frozenset[str]:
    """The names that the function reads which asked for this one."""
    while traceback is not None:
        names = traceback.tb_frame.f_code.co_names
        if name in names:
            return frozenset(names)
        traceback = traceback.tb_next
    return frozenset()


def _title(owner: Any) -> str:
    named = owner if isinstance(owner, type) else type(owner)
    return str(owner.__name__) if isinstance(owner, ModuleType) else named.__name__.replace("FakeTensor", "Tensor")


def _attributes(owner: Any) -> set[str]:
    kinds = owner.__mro__ if isinstance(owner, type) else type(owner).__mro__
    found = {name for kind in kinds for name in vars(kind)}
    own = _own_dict(owner)
    found.update(own)
    if isinstance(owner, nn.Module):
        for group in ("_modules", "_parameters", "_buffers"):
            found.update(own.get(group, ()))
    return {name for name in found if isinstance(name, str) and not name.startswith("__")}


def _own_dict(owner: Any) -> dict[str, Any]:
    try:
        own = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    return own if isinstance(own, dict) else dict(own)


def _innermost(traceback: TracebackType | None) -> FrameType | None:
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return None if traceback is None else traceback.tb_frame
