"""Extensions that a file has compiled when it is loaded (`torch.utils.cpp_extension.load`): a check builds none.

What stands for one can be loaded, named and looked at. Calling one of its functions is refused, with its name; code
that calls another function where there is no such device goes on. Public names of `torch.utils.cpp_extension`, torch
2.11 to 2.15: `load` and `load_inline`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Collection
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any, NoReturn

import torch

from inductor_debug.capture.runtime.containment import RefusableDeed, RefusedError

_MODULE = "torch.utils.cpp_extension"
_NEEDED = frozenset((RefusableDeed.SUBPROCESS.value, RefusableDeed.WRITE.value))
"""What has to be allowed for an extension to be compiled."""


class UnbuiltExtensionError(RefusedError):
    """A function was called that is in no library yet."""

    def __init__(self, function: str) -> None:
        super().__init__(RefusableDeed.SUBPROCESS)
        self.args = (
            f"`{function}` is of an extension that is compiled when the file is loaded, which a check does not do; "
            'allow it with `allow = ["subprocess", "write"]`.',
        )


class _Unbuilt(ModuleType):
    """Stands for an extension, or for the operators that one registers under its name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return functools.partial(_refuse, f"{self.__name__}.{name}")


def _refuse(function: str, *_: Any, **__: Any) -> NoReturn:
    raise UnbuiltExtensionError(function)


def leave_unbuilt(allowed: Collection[str]) -> None:
    """From now on, for the rest of this process's life, extensions are not compiled.

    Args:
        allowed: values of `RefusableDeed` that are not refused. Where building is allowed, it is done.
    """
    if set(allowed) >= _NEEDED:
        return
    if (known := sys.modules.get(_MODULE)) is not None:
        _stand_in_for(known)
        return
    execute = SourceFileLoader.exec_module

    def exec_module(loader: SourceFileLoader, module: ModuleType) -> None:
        execute(loader, module)
        if module.__name__ == _MODULE:
            _stand_in_for(module)

    SourceFileLoader.exec_module = exec_module  # type: ignore[method-assign, assignment]


def _stand_in_for(module: ModuleType) -> None:
    for name in ("load", "load_inline"):
        if hasattr(module, name):
            setattr(module, name, functools.wraps(getattr(module, name))(_load))


def _load(name: str, *_: Any, is_python_module: bool = True, **__: Any) -> ModuleType:
    unbuilt = _Unbuilt(str(name))
    if not is_python_module:
        vars(torch.ops).setdefault(unbuilt.__name__, unbuilt)
    return unbuilt
