"""Memory of a process that forks others: how little of it each of them has to be given, and to copy."""

import ctypes
import gc
from collections.abc import Iterator

HUGE = 2 << 20
MADV_COLLAPSE = 25
"""Linux 6.1: puts memory into huge pages at once. Older kernels refuse, and all stays as it is."""


def settle() -> None:
    """Takes what is loaded out of the collector's sight, and into huge pages: a fork then copies one entry for 512."""
    gc.collect()
    gc.freeze()
    libc = ctypes.CDLL(None)
    for start, end in _own_memory():
        libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), MADV_COLLAPSE)


def _own_memory() -> Iterator[tuple[int, int]]:
    """Where huge pages fit into memory that is of no file."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        lines = maps.read().splitlines()
    for line in lines:
        place, rights, _, _, _, *name = line.split(None, 5)
        start, end = (int(address, 16) for address in place.split("-"))
        start, end = -(-start // HUGE) * HUGE, end // HUGE * HUGE
        if rights == "rw-p" and start < end and name in ([], ["[heap]"]):
            yield start, end
