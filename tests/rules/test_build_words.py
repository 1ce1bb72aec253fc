"""What a reader of a terminal is told of a compiled kernel."""

from __future__ import annotations

from inductor_debug.rules.words.build_words import build_lines
from inductor_debug_schema import KernelBuild, MemoryAccess, Occupancy, OccupancyLimit


def test_what_a_kernel_takes() -> None:
    build = KernelBuild(
        architecture="sm_90",
        kernel="triton_poi_0",
        graph="0.forward.post_grad",
        configuration="XBLOCK=512, 4 warps",
        configurations=2,
        warps=4,
        registers=40,
        spilled_bytes=16,
        shared_bytes=1024,
        occupancy=Occupancy(48, 64, 12, [OccupancyLimit.REGISTERS]),
        accesses=[
            MemoryAccess(False, "global", 128, 2),
            MemoryAccess(False, "global", 32, 1),
            MemoryAccess(True, "shared", 32, 1),
        ],
        matrix_instructions=["wgmma"],
    )
    assert build_lines(build) == [
        "sm_90, XBLOCK=512, 4 warps (the first of 2 to choose from)",
        "40 registers, 16 B spilled; 1 KiB of shared memory; 48 of 64 warps (75 %), limited by registers; "
        "loads of 128 and 32 bits; matrix units by wgmma",
    ]


def test_a_kernel_that_was_not_compiled_says_why() -> None:
    build = KernelBuild("sm_90", "triton_poi_0", "0.forward.post_grad", problem="Triton is not installed.")
    assert build_lines(build) == ["Triton is not installed."]


def test_what_limits_nothing_is_not_said() -> None:
    full = Occupancy(64, 64, 8, [OccupancyLimit.REGISTERS, OccupancyLimit.WARPS])
    build = KernelBuild("sm_90", "k", "g", registers=32, spilled_bytes=0, occupancy=full)
    assert build_lines(build) == ["32 registers, no spills; 64 of 64 warps (100 %)"]
