"""Has `DataLoader` load in this process, with ordinary tensors: a main program is followed without starting others.

Fake tensors have no values to shuffle or to seed with, so samplers and datasets run outside of every mode; what a batch
holds meets the mode when a model is called with it. Private names of `torch.utils.data.dataloader` (read in torch 2.11
to 2.13): `_SingleProcessDataLoaderIter` with `__init__` and `__next__` of `_BaseDataLoaderIter`. Where they are gone,
loading runs as it stands.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from torch.utils.data import DataLoader, dataloader

from inductor_debug.capture.tensors.fake_mode import without_modes

_ALONE = {
    "num_workers": 0,
    "prefetch_factor": None,
    "persistent_workers": False,
    "multiprocessing_context": None,
    "timeout": 0,
    "pin_memory": False,
}
"""What a loader is given that starts no process and no thread."""


@contextlib.contextmanager
def in_this_process() -> Iterator[None]:
    """Meanwhile loaders load where they are asked."""
    iterator = getattr(dataloader, "_SingleProcessDataLoaderIter", None)
    changed: list[tuple[Any, str, Any, bool]] = []
    for owner, name, change in (
        (DataLoader, "__init__", _alone),
        (iterator, "__init__", _plainly),
        (iterator, "__next__", _plainly),
    ):
        if owner is not None and hasattr(owner, name):
            original = getattr(owner, name)
            changed.append((owner, name, original, name in vars(owner)))
            setattr(owner, name, change(original))
    try:
        yield
    finally:
        for owner, name, original, own in reversed(changed):
            if own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)


def _alone(original: Callable[..., None]) -> Callable[..., None]:
    known = inspect.signature(original)

    @functools.wraps(original)
    def make(*args: Any, **kwargs: Any) -> None:
        try:
            given = known.bind(*args, **kwargs)
        except TypeError:
            original(*args, **kwargs)
            return
        given.arguments.update({name: value for name, value in _ALONE.items() if name in given.arguments})
        original(*given.args, **given.kwargs)

    return make


def _plainly(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def run(*args: Any, **kwargs: Any) -> Any:
        with without_modes():
            return original(*args, **kwargs)

    return run
