"""The kernels of a statistics document as rows: their order, and whose they are."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema.answers.statistics_document import KernelTraffic


def in_order(kernels: Sequence[KernelTraffic]) -> list[KernelTraffic]:
    """What takes longest first; without a known speed, what moves most."""
    return sorted(kernels, key=lambda kernel: (-(kernel.seconds or 0.0), -_moved(kernel)))


def pass_of(kernel: KernelTraffic) -> str:
    """Whose kernel it is."""
    return "backward" if ".backward" in kernel.graph else "forward"


def _moved(kernel: KernelTraffic) -> int:
    return (kernel.bytes_read or 0) + (kernel.bytes_written or 0)
