"""Names that are not there, and the nearest that are: for `AttributeError` and `NameError`, without running anything.

Names are read from dictionaries alone: neither `dir` nor any attribute of the user's objects is asked for.
"""

from __future__ import annotations

import builtins
import difflib
import sys
from dataclasses import replace
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

from inductor_debug_schema import UnknownName
from torch import nn

from inductor_debug.capture.runtime import foreign

_READ = 0.15
"""How much less alike a name counts that the code reads elsewhere: one that is set and never read is rather meant."""


def asked_of_module(error: BaseException) -> tuple[ModuleType, str] | None:
    """The module and the name of an `AttributeError` that leaves them out, as it says itself what is meant.

    So NumPy says that `np.float` is gone, and what to use in its place.
    """
    frame = _innermost(error.__traceback__)
    if not isinstance(error, AttributeError) or error.name or frame is None or frame.f_code.co_name != "__getattr__":
        return None
    module = sys.modules.get(str(frame.f_globals.get("__name__")))
    name = frame.f_locals.get(frame.f_code.co_varnames[0]) if frame.f_code.co_argcount == 1 else None
    if module is None or vars(module) is not frame.f_globals or not isinstance(name, str):
        return None
    return module, name


def unknown_name(error: BaseException) -> UnknownName | None:
    """What an exception says of a missing name; None of any other exception."""
    if (asked := asked_of_module(error)) is not None:
        return UnknownName(asked[1], _title(asked[0]))
    name = getattr(error, "name", None)
    if not isinstance(name, str) or not name:
        return None
    if isinstance(error, AttributeError):
        owner = error.obj
        read = _read_beside(name, error.__traceback__) | _read_by_methods(owner)
        return _near(UnknownName(name, _title(owner)), _attributes(owner), read)
    if isinstance(error, NameError):
        frame = _innermost(error.__traceback__)
        missing = UnknownName(name, "")
        if frame is None:
            return missing
        owner = frame.f_locals.get("self")
        if owner is not None and name in _attributes(owner):
            return replace(missing, suggestion=f"self.{name}")
        return _near(missing, {*frame.f_locals, *frame.f_globals, *vars(builtins)})
    return None


def _near(missing: UnknownName, known: set[str], read: frozenset[str] = frozenset()) -> UnknownName:
    """With the names that are most like it; those that are `read` already are meant less often."""
    name = missing.missing_name
    found = difflib.get_close_matches(name, sorted(known - {name}), n=5, cutoff=0.7)
    alike = {other: difflib.SequenceMatcher(None, other, name).ratio() - _READ * (other in read) for other in found}
    nearest = sorted(found, key=lambda other: -alike[other])
    return replace(missing, suggestion=nearest[0] if nearest else None, others=nearest[1:])


def _read_beside(name: str, traceback: TracebackType | None) -> frozenset[str]:
    """The names that the function reads which asked for this one."""
    while traceback is not None:
        names = traceback.tb_frame.f_code.co_names
        if name in names:
            return frozenset(names)
        traceback = traceback.tb_next
    return frozenset()


def _read_by_methods(owner: Any) -> frozenset[str]:
    """The names that the methods of an object read, of its classes' own; constructors write theirs."""
    kinds = owner.__mro__ if isinstance(owner, type) else type(owner).__mro__
    read = [
        frozenset(method.__code__.co_names)
        for kind in kinds
        if kind is not nn.Module
        for name, method in vars(kind).items()
        if isinstance(method, FunctionType) and name != "__init__"
    ]
    return frozenset().union(*read)


def _title(owner: Any) -> str:
    named = owner if isinstance(owner, type) else type(owner)
    return str(owner.__name__) if isinstance(owner, ModuleType) else named.__name__.replace("FakeTensor", "Tensor")


def _attributes(owner: Any) -> set[str]:
    kinds = owner.__mro__ if isinstance(owner, type) else type(owner).__mro__
    found = {name for kind in kinds for name in vars(kind)}
    found.update(foreign.members_of(owner) if isinstance(owner, nn.Module) else foreign.namespace(owner))
    return {name for name in found if isinstance(name, str) and not name.startswith("__")}


def _innermost(traceback: TracebackType | None) -> FrameType | None:
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return None if traceback is None else traceback.tb_frame
