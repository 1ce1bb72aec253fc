"""Names that our own modules look up in torch and this torch lacks: told as such, and never held against a model.

torch promises few of the names that an analysis needs. Most look-ups have another way to go where a name is gone; where
one has none, Python raises in a module of ours what it also raises where a model is at fault. `refuse` tells the two
apart wherever an exception is about to be judged, so that no model is blamed and nothing is passed over in silence.
Imports nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from types import ModuleType, TracebackType
from typing import Any

_OURS = "inductor_debug."
_SETTINGS = "torch.utils._config_module"
"""The module that raises of a setting which torch does not have, whoever makes it."""
_IMPORTED = re.compile(
    r"cannot import name '(?P<name>[^']+)' from (?:partially initialized module )?'(?P<owner>torch[^']*)'"
)
_NO_MODULE = re.compile(r"No module named '(?P<owner>torch[^']*)'")
_OF_MODULE = re.compile(r"module '(?P<owner>torch[^']*)' has no attribute '(?P<name>[^']+)'")
_OF_CLASS = re.compile(r"(?:type object )?'(?P<owner>\w+)'(?: object)? has no attribute '(?P<name>[^']+)'")
_SETTING = re.compile(r"(?P<owner>torch[\w.]*)\.(?P<name>\w+) does not exist")

_MESSAGES: tuple[tuple[re.Pattern[str], type[Exception] | None], ...] = (
    (_IMPORTED, ImportError),
    (_NO_MODULE, ImportError),
    (_OF_MODULE, AttributeError),
    (_SETTING, AttributeError),
    (_OF_CLASS, None),
)
"""What says that a name is not there, and in which exceptions; of objects, which have no name of torch's, in none."""


class TorchDiffersError(BaseException):
    """This torch lacks a name by which we look at it; the message says so.

    Not an `Exception`: whatever is on the way would take it for a fault of the model's.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"torch {_version()} has no `{name}`, which inductor-debug needs for this")
        self.name = name


def _version() -> str:
    return str(getattr(sys.modules.get("torch"), "__version__", "")) or "here"


def lacked_by_torch(error: BaseException) -> str | None:
    """The name of torch's that a module of ours has looked up in vain, if that is what was raised."""
    for raised in _causes(error):
        if isinstance(raised, TorchDiffersError):
            return raised.name
        if (name := _asked_by_us(raised)) is not None:
            return name
    return None


def refuse(error: BaseException) -> None:
    """Called with what is about to be judged.

    Raises:
        TorchDiffersError: it is nobody's fault but torch's, or ours.
    """
    if (name := lacked_by_torch(error)) is not None:
        raise TorchDiffersError(name) from error


def with_settings(config: Any, **wanted: Any) -> contextlib.AbstractContextManager[Any]:
    """Around it a module of torch's settings has these; one that this torch does not have is left out."""
    known = {name: value for name, value in wanted.items() if hasattr(config, name)}
    patched: contextlib.AbstractContextManager[Any] = config.patch(known)
    return patched


@contextlib.contextmanager
def told_apart() -> Iterator[None]:
    """Around our own work.

    Raises:
        TorchDiffersError: in place of what a look-up in vain raises.
    """
    try:
        yield
    except Exception as error:
        refuse(error)
        raise


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and those that it was raised from. What was handled when it was raised says nothing of it."""
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__


def _asked_by_us(error: BaseException) -> str | None:
    """The name in the message of what was raised in a module of ours, or by torch's settings for one.

    Dynamo wraps what it cannot explain, in another class with the same traceback, and repeats its words.
    """
    at, above = _innermost(error.__traceback__)
    if not at.startswith(_OURS) and not (at == _SETTINGS and above.startswith(_OURS)):
        return None
    owner = getattr(error, "obj", None)
    if isinstance(error, AttributeError) and owner is not None and error.name:
        path = _path_of(owner)
        return f"{path}.{error.name}" if path.partition(".")[0] == "torch" else None
    said = str(error)
    wrapped = type(error).__module__.startswith("torch.")
    for pattern, kind in _MESSAGES:
        found = pattern.search(said)
        if found is not None and (wrapped or (kind is not None and isinstance(error, kind))):
            return ".".join(filter(None, map(found.groupdict().get, ("owner", "name"))))
    return None


def _path_of(owner: object) -> str:
    if isinstance(owner, ModuleType):
        return owner.__name__
    home = owner if isinstance(owner, type) else type(owner)
    return f"{home.__module__}.{home.__qualname__}"


def _innermost(traceback: TracebackType | None) -> tuple[str, str]:
    """The modules in which an exception was raised: of the last frame, and of the last that is of another module.

    A frame that only passes on what another asks for, as an import of the user's, is none: it has a variable
    `__tracebackhide__`, as pytest calls such.
    """
    names: list[str] = []
    while traceback is not None:
        name = str(traceback.tb_frame.f_globals.get("__name__", ""))
        passed_on = "__tracebackhide__" in traceback.tb_frame.f_code.co_varnames
        if not passed_on and (not names or names[-1] != name):
            names.append(name)
        traceback = traceback.tb_next
    at = names[-1] if names else ""
    others = [name for name in names if name not in (at, "contextlib")]
    return at, others[-1] if others else ""
