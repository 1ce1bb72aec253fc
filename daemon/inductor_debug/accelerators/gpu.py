"""What a GPU is made of, as far as its compiler, occupancy and the bounds of kernels need it: the table `[gpu]`.

Figures that nobody published are None, never guessed. How fast a GPU is stands in `Speed`, beside other accelerators.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

from inductor_debug.accelerators.document import Table

_CAPABILITY = re.compile(r"sm_(\d+)(\d)[a-f]?")
_ARCHITECTURES = {"cuda": r"sm_\d{2,3}[af]?", "hip": r"gfx[0-9a-f]{3,4}", "mps": r"apple"}


class GpuPlatform(str, Enum):
    """The software that a GPU is programmed with, as torch calls it."""

    CUDA = "cuda"
    HIP = "hip"
    MPS = "mps"

    @property
    def device_type(self) -> str:
        """The type of torch's devices there: AMD's are "cuda" as well."""
        return "mps" if self is GpuPlatform.MPS else "cuda"


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU, or what all of a family have in common.

    Attributes:
        platform: what it is programmed with.
        architecture: the compiler's name of its instruction set: `sm_90`, `gfx942`, `apple`.
        clock_hertz: the highest clock that its makers state for compute.
        multiprocessors: streaming multiprocessors (NVIDIA), compute units (AMD), GPU cores (Apple).
        warp: threads that run in lock step.
        threads_per_multiprocessor: how many threads one multiprocessor holds at once.
        blocks_per_multiprocessor: how many blocks one multiprocessor holds at once.
        registers_per_multiprocessor: 32-bit registers of one multiprocessor.
        shared_bytes_per_multiprocessor: shared memory (AMD: LDS) of one multiprocessor.
        shared_bytes_per_block: the most that one block gets, where it asks for more than the default.
        l2_bytes: the last cache that all multiprocessors share before the memory's own.
        launch_seconds: what one kernel's launch takes at least where launches follow each other in a stream.
        host_bytes_per_second: the peak rate of its link to the host, in one direction.
        memory_sector_bytes: the smallest piece that is read from memory.
        cache_line_bytes: a line of the L2 cache.
        matrix_multiple_bytes: what the innermost sizes of a product's operands are a multiple of where its matrix units
            are used in full, by dtype; other dtypes have no such rule.
        device_names: what torch calls it (`torch.cuda.get_device_name`), as patterns like those of file names.
    """

    platform: GpuPlatform
    architecture: str = ""
    clock_hertz: float | None = None
    multiprocessors: int | None = None
    warp: int | None = None
    threads_per_multiprocessor: int | None = None
    blocks_per_multiprocessor: int | None = None
    registers_per_multiprocessor: int | None = None
    shared_bytes_per_multiprocessor: int | None = None
    shared_bytes_per_block: int | None = None
    l2_bytes: int | None = None
    launch_seconds: float | None = None
    host_bytes_per_second: int | None = None
    memory_sector_bytes: int | None = None
    cache_line_bytes: int | None = None
    matrix_multiple_bytes: dict[str, int] = field(default_factory=dict)
    device_names: tuple[str, ...] = ()

    @property
    def capability(self) -> tuple[int, int] | None:
        """NVIDIA's compute capability, (9, 0) of `sm_90`; None of other GPUs."""
        found = _CAPABILITY.fullmatch(self.architecture)
        return None if found is None else (int(found[1]), int(found[2]))


def read_gpu(table: Table, dtypes: frozenset[str]) -> Gpu | None:
    """The table `gpu` of a document; None where it is missing.

    Args:
        table: the document.
        dtypes: the dtypes that it may name.

    Raises:
        ProfileError: the platform is missing, the architecture none of its platform's, or a figure of the wrong type.
    """
    section = table.table("gpu")
    if section is None:
        return None
    if not section.has("platform"):
        raise section.error("platform", "is missing: 'cuda', 'hip' or 'mps'")
    platform = section.member("platform", GpuPlatform, GpuPlatform.CUDA)
    architecture = section.text("architecture")
    if architecture and not re.fullmatch(_ARCHITECTURES[platform.value], architecture):
        raise section.error("architecture", f"must be one of {platform.value}, such as 'sm_90', 'gfx942' or 'apple'")
    multiples = section.table("matrix_multiple_bytes")
    gpu = Gpu(
        platform,
        architecture,
        clock_hertz=section.optional_rate("clock_hertz"),
        multiprocessors=section.number("multiprocessors", minimum=1),
        warp=section.number("warp", minimum=1),
        threads_per_multiprocessor=section.number("threads_per_multiprocessor", minimum=1),
        blocks_per_multiprocessor=section.number("blocks_per_multiprocessor", minimum=1),
        registers_per_multiprocessor=section.number("registers_per_multiprocessor", minimum=1),
        shared_bytes_per_multiprocessor=section.size("shared_bytes_per_multiprocessor"),
        shared_bytes_per_block=section.size("shared_bytes_per_block"),
        l2_bytes=section.size("l2_bytes"),
        launch_seconds=section.optional_rate("launch_seconds"),
        host_bytes_per_second=section.size("host_bytes_per_second"),
        memory_sector_bytes=section.size("memory_sector_bytes"),
        cache_line_bytes=section.size("cache_line_bytes"),
        matrix_multiple_bytes={} if multiples is None else multiples.sizes_by_dtype(dtypes),
        device_names=section.strings("device_names"),
    )
    section.finish()
    return gpu
