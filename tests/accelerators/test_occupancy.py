"""How many warps a multiprocessor holds: what NVIDIA's occupancy calculator says for the same figures."""

from __future__ import annotations

import pytest
from inductor_debug.accelerators.gpu import Gpu
from inductor_debug.accelerators.occupancy import occupancy_of
from inductor_debug.accelerators.profile import load_document, read_profile
from inductor_debug_schema import Occupancy
from inductor_debug_schema import OccupancyLimit as Limit


def gpu(name: str) -> Gpu:
    found = read_profile(load_document(name)).gpu
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "warps", "registers", "shared_bytes", "expected"),
    [
        ("a100-40gb", 8, 32, 0, Occupancy(64, 64, 8, [Limit.REGISTERS, Limit.WARPS])),
        ("a100-40gb", 8, 65, 0, Occupancy(24, 64, 3, [Limit.REGISTERS])),
        ("a100-40gb", 8, 128, 0, Occupancy(16, 64, 2, [Limit.REGISTERS])),
        ("a100-40gb", 8, 255, 0, Occupancy(8, 64, 1, [Limit.REGISTERS])),
        ("a100-40gb", 1, 16, 0, Occupancy(32, 64, 32, [Limit.BLOCKS])),
        ("a100-40gb", 4, 32, 48 * 1024, Occupancy(12, 64, 3, [Limit.SHARED_MEMORY])),
        ("h100", 4, 40, 16, Occupancy(48, 64, 12, [Limit.REGISTERS])),
        ("h100", 4, 32, 48 * 1024, Occupancy(16, 64, 4, [Limit.SHARED_MEMORY])),
        ("t4", 8, 64, 0, Occupancy(32, 32, 4, [Limit.REGISTERS, Limit.WARPS])),
        ("t4", 4, 32, 32 * 1024, Occupancy(8, 32, 2, [Limit.SHARED_MEMORY])),
        ("rtx-4090", 8, 40, 0, Occupancy(48, 48, 6, [Limit.REGISTERS, Limit.WARPS])),
        ("rtx-3090", 32, 32, 0, Occupancy(32, 48, 1, [Limit.WARPS])),
    ],
)
def test_it_is_the_calculators(name: str, warps: int, registers: int, shared_bytes: int, expected: Occupancy) -> None:
    held = occupancy_of(gpu(name), warps=warps, registers=registers, shared_bytes=shared_bytes)
    assert held == expected


def test_a_block_that_does_not_fit_is_not_held() -> None:
    held = occupancy_of(gpu("h100"), warps=4, registers=32, shared_bytes=1 << 20)
    assert held is not None
    assert (held.warps, held.limits) == (0, [Limit.SHARED_MEMORY])


@pytest.mark.parametrize("name", ["mi300x", "cuda", "mps"])
def test_what_is_not_known_is_not_guessed(name: str) -> None:
    assert occupancy_of(gpu(name), warps=4, registers=32, shared_bytes=0) is None
