"""Weights that a constructor would download, or read from a file that is not there: a check needs none.

`torch.hub.load_state_dict_from_url` and `torch.utils.model_zoo.load_url` (public names, torch 2.11 to 2.14) give what
lies in the user's cache; where weights would have to be fetched, which containment refuses, they give an empty
`AbsentWeights`, and so does `torch.load` of a file that does not exist. Code that renames or drops some of them goes
on, and a module takes them as they are.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlparse

import torch
from torch import nn
from torch.utils import model_zoo

from inductor_debug.capture.runtime.containment import refusal_of


class AbsentWeights(dict[str, Any]):
    """A state that nobody has. What is looked up in it is another one; what is taken away from it was not there.

    Args:
        known: what is set in it.
        reason: why it is not there, for code that takes it for something else.
    """

    def __init__(self, known: Mapping[str, Any] = MappingProxyType({}), *, reason: str = "") -> None:
        super().__init__(known)
        self._reason = reason

    def __missing__(self, key: str) -> AbsentWeights:
        return AbsentWeights(reason=self._reason)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(self._reason if not name.startswith("_") else name)

    def __delitem__(self, key: str) -> None:
        if key in self:
            super().__delitem__(key)

    def pop(self, key: str, *default: Any) -> Any:
        """What was never there, or the default."""
        return super().pop(key, *(default or (AbsentWeights(reason=self._reason),)))

    def copy(self) -> AbsentWeights:
        """Another one."""
        return AbsentWeights(self, reason=self._reason)


class _Loading:
    """Stands in for torch's function, also where a library took it by its name; it is torch's outside of checks."""

    def __init__(self, original: Callable[..., Any]) -> None:
        self.original = original
        self.tell: Callable[[str], None] | None = None

    def __call__(self, url: str, *args: Any, **kwargs: Any) -> Any:
        """The weights at `url`, or what stands for them."""
        try:
            return self.original(url, *args, **kwargs)
        except Exception as error:
            if self.tell is None or refusal_of(error) is None:
                raise
        name = os.path.basename(urlparse(url).path) or url
        self.tell(name)
        return AbsentWeights(reason=f"the weights {name} are not on this machine")


class _FileLoading:
    """Stands in for `torch.load`; it is torch's outside of checks."""

    def __init__(self) -> None:
        self.original = torch.load
        self.tell: Callable[[str], None] | None = None

    def __call__(self, file: Any, *args: Any, **kwargs: Any) -> Any:
        """What a file holds, or what stands for it."""
        try:
            return self.original(file, *args, **kwargs)
        except FileNotFoundError as error:
            if self.tell is None or not isinstance(file, str | os.PathLike):
                raise
            reason = str(error)
        self.tell(os.path.basename(file))
        return AbsentWeights(reason=reason)


_LOADING = _Loading(torch.hub.load_state_dict_from_url)


@contextlib.contextmanager
def weights_left_out(notes: list[str]) -> Iterator[None]:
    """Builds models without weights that would have to be fetched.

    Args:
        notes: told which were left out.
    """
    left_out: set[str] = set()
    of_module, before = nn.Module.load_state_dict, _LOADING.tell

    def tell(name: str) -> None:
        note = f"The weights {name} are not on this machine and were left out: a check needs none."
        left_out.add(name)
        if note not in notes:
            notes.append(note)

    def load_state_dict(self: nn.Module, state_dict: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
        # What code copies out of absent weights is empty, and no longer of their class.
        if left_out and not state_dict:
            return type(of_module(self, {}, strict=False))([], [])
        return of_module(self, state_dict, *args, **kwargs)

    hub, of_files, loading = torch.hub.load_state_dict_from_url, torch.load, _FileLoading()
    _replace(_LOADING)
    loading.tell, vars(torch)["load"] = tell, loading
    nn.Module.load_state_dict, _LOADING.tell = load_state_dict, tell  # type: ignore[method-assign]
    try:
        yield
    finally:
        _replace(hub)
        vars(torch)["load"] = of_files
        nn.Module.load_state_dict, _LOADING.tell = of_module, before  # type: ignore[method-assign]


def _replace(load: Callable[..., Any]) -> None:
    torch.hub.load_state_dict_from_url = load
    vars(model_zoo)["load_url"] = load
