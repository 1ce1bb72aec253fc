"""Notes when tensors and their memory go away while a recorder runs, by weak references to them.

torch keeps the Python object of a tensor or storage as long as anything in C++ holds on to it, so that what autograd
saved is seen to live on, too (torch 2.11 to 2.14).
"""

from __future__ import annotations

import weakref
from collections.abc import Sized

import torch

from inductor_debug.rules.recording.ops import Lifetimes


class LifetimeWatch:
    """Fills `lifetimes`; a number that was given out is watched until it goes away or the watch does."""

    def __init__(self) -> None:
        self.lifetimes = Lifetimes()
        self._ran: Sized = ()
        self._references: dict[tuple[str, int], weakref.ref[object]] = {}

    def count(self, ran: Sized) -> None:
        """Time is the length of `ran` from now on."""
        self._ran = ran

    def tensor(self, tensor: torch.Tensor, number: int) -> None:
        """Watches a tensor."""
        self._watch(tensor, "tensor", number, self.lifetimes.values)

    def storage(self, storage: torch.UntypedStorage, number: int) -> None:
        """Watches the memory of tensors."""
        self._watch(storage, "storage", number, self.lifetimes.storages)

    def _watch(self, watched: object, kind: str, number: int, ends: dict[int, int]) -> None:
        # References hold this method's variables and not the watch, which holds them.
        references, clock = self._references, weakref.ref(self)

        def gone(_: object) -> None:
            references.pop((kind, number), None)
            watch = clock()
            if watch is not None:
                ends[number] = len(watch._ran)

        references[kind, number] = weakref.ref(watched, gone)
