"""What the texts of machine code say of a kernel: registers, spills, widths of loads, matrix instructions.

Formats, not messages: PTX (its ISA, 7.0 to 9.0), what `cuobjdump --dump-resource-usage` prints (CUDA 12 and 13), and
the metadata of AMD's code objects (version 5) with LLVM's remarks beside it. What a text does not say is None.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from inductor_debug_schema import MemoryAccess

_USAGE = re.compile(r"\b(?P<name>REG|STACK|SHARED|LOCAL):(?P<amount>\d+)")
_PTX_ACCESS = re.compile(
    r"^\s*(?:@!?%\w+ )?(?P<kind>ld|st)\.(?P<space>global|shared)(?:\.[\w:]+?)*?"
    r"(?:\.v(?P<count>\d))?\.[bsuf](?P<bits>\d+)\s",
    re.MULTILINE,
)
_PTX_MATRIX = re.compile(r"^\s*(?:@!?%\w+ )?(?P<name>wgmma|mma|tcgen05)\.(?:mma_async|sync|mma)\b", re.MULTILINE)
_AMD_NUMBER = re.compile(r"^\s+\.(?P<name>\w+):\s+(?P<amount>\d+)\s*$", re.MULTILINE)
_AMD_OCCUPANCY = re.compile(r"^; Occupancy: (?P<waves>\d+)\s*$", re.MULTILINE)
_AMD_ACCESS = re.compile(
    r"^\s+(?P<space>global|buffer|flat|ds)_(?P<kind>load|store|read|write)_(?P<what>[a-z]+\d*(?:x\d)?)\b", re.MULTILINE
)
_AMD_MATRIX = re.compile(r"^\s+v_(?P<name>mfma|wmma|smfmac)_", re.MULTILINE)
_AMD_BITS = {
    "dword": 32, "dwordx2": 64, "dwordx3": 96, "dwordx4": 128, "b8": 8, "b16": 16, "b32": 32, "b64": 64, "b96": 96,
    "b128": 128, "u8": 8, "u16": 16, "i8": 8, "i16": 16, "ubyte": 8, "sbyte": 8, "byte": 8, "ushort": 16,
    "sshort": 16, "short": 16,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """Registers and spilled bytes of a thread, shared bytes of a block, and warps of a SIMD unit (AMD's alone)."""

    registers: int | None = None
    spilled_bytes: int | None = None
    shared_bytes: int | None = None
    waves: int | None = None


def usage_of_cubin(printed: str) -> ResourceUsage:
    """What `cuobjdump` prints of a cubin with one kernel; shared memory that is given at its launch is not in it."""
    amounts = {found["name"]: int(found["amount"]) for found in _USAGE.finditer(printed)}
    if "REG" not in amounts:
        return ResourceUsage()
    return ResourceUsage(amounts["REG"], amounts.get("STACK", 0) + amounts.get("LOCAL", 0))


def usage_of_amdgcn(text: str) -> ResourceUsage:
    """What the metadata at the end of an assembly text of LLVM's says; vector registers are meant."""
    amounts = {found["name"]: int(found["amount"]) for found in _AMD_NUMBER.finditer(text)}
    waves = _AMD_OCCUPANCY.search(text)
    return ResourceUsage(
        amounts.get("vgpr_count"),
        amounts.get("private_segment_fixed_size"),
        amounts.get("group_segment_fixed_size"),
        int(waves["waves"]) if waves is not None else None,
    )


def accesses_of_ptx(text: str) -> list[MemoryAccess]:
    """Loads and stores, the widest of each kind first."""
    counted = Counter(
        (found["kind"] == "st", found["space"], int(found["count"] or 1) * int(found["bits"]))
        for found in _PTX_ACCESS.finditer(text)
    )
    return _in_order(counted)


def accesses_of_amdgcn(text: str) -> list[MemoryAccess]:
    """Loads and stores, the widest of each kind first."""
    counted = Counter(
        (found["kind"] in ("store", "write"), "shared" if found["space"] == "ds" else "global", bits)
        for found in _AMD_ACCESS.finditer(text)
        if (bits := _AMD_BITS.get(found["what"])) is not None
    )
    return _in_order(counted)


def matrix_instructions_of(text: str) -> list[str]:
    """The kinds of matrix instructions in a text of PTX or AMDGCN."""
    found = [*_PTX_MATRIX.finditer(text), *_AMD_MATRIX.finditer(text)]
    return sorted({each["name"] for each in found})


def _in_order(counted: Counter[tuple[bool, str, int]]) -> list[MemoryAccess]:
    ordered = sorted(counted.items(), key=lambda item: (item[0][1], item[0][0], -item[0][2]))
    return [MemoryAccess(store, space, bits, count) for (store, space, bits), count in ordered]
