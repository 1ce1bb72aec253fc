"""How many warps of a kernel a multiprocessor of NVIDIA's holds at once, by what the kernel takes of it.

The rules are those of NVIDIA's occupancy calculator (Nsight Compute; `cuda_occupancy.h` of the CUDA Toolkit): registers
are given to whole warps, in units of 256, and a quarter of them to each quarter of the multiprocessor; shared memory
comes in units, and from compute capability 8.0 on every block takes 1 KiB of it for the system.
"""

from __future__ import annotations

from inductor_debug_schema import Occupancy, OccupancyLimit

from inductor_debug.accelerators.gpu import Gpu

_REGISTER_UNIT = 256
_QUARTERS = 4
_MOST_REGISTERS = 255
_AMPERE = (8, 0)
_SYSTEM_SHARED_BYTES = 1024


def occupancy_of(gpu: Gpu, *, warps: int, registers: int, shared_bytes: int) -> Occupancy | None:
    """What one multiprocessor holds; None where the GPU is none of NVIDIA's or figures of it are missing.

    Args:
        gpu: the GPU.
        warps: warps of one block.
        registers: registers of one thread.
        shared_bytes: shared memory of one block, without what the system takes.
    """
    capability, warp, threads = gpu.capability, gpu.warp, gpu.threads_per_multiprocessor
    blocks, file, memory = (
        gpu.blocks_per_multiprocessor,
        gpu.registers_per_multiprocessor,
        gpu.shared_bytes_per_multiprocessor,
    )
    if capability is None or not warp or not threads or not blocks or not file or not memory or warps < 1:
        return None
    most = threads // warp
    fitting = {
        OccupancyLimit.WARPS: most // warps,
        OccupancyLimit.BLOCKS: blocks,
        OccupancyLimit.REGISTERS: _by_registers(file, warp, registers) // warps if registers else blocks,
        OccupancyLimit.SHARED_MEMORY: memory // taken if (taken := _taken(shared_bytes, capability)) else blocks,
    }
    if registers > _MOST_REGISTERS:
        fitting[OccupancyLimit.REGISTERS] = 0
    held = min(fitting.values())
    limits = [limit for limit in OccupancyLimit if fitting[limit] == held]
    return Occupancy(held * warps, most, held, limits)


def _by_registers(file: int, warp: int, registers: int) -> int:
    """The warps that there are registers for."""
    taken = _rounded_up(registers * warp, _REGISTER_UNIT)
    return file // _QUARTERS // taken * _QUARTERS


def _taken(shared_bytes: int, capability: tuple[int, int]) -> int:
    """What a block takes of the shared memory."""
    if capability >= _AMPERE:
        return _rounded_up(shared_bytes + _SYSTEM_SHARED_BYTES, 128)
    return _rounded_up(shared_bytes, 256)


def _rounded_up(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit
