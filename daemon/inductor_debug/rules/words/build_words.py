"""What a compiler made of a kernel, in words for readers of a terminal or a page."""

from __future__ import annotations

from inductor_debug_schema import KernelBuild, MemoryAccess, Occupancy

from inductor_debug.rules.amounts import counted, in_bytes


def build_lines(build: KernelBuild) -> list[str]:
    """One line for the configuration, one for what it takes, and one for the problem, as far as there is any."""
    lines = []
    if build.configuration:
        choice = f" (the first of {build.configurations} to choose from)" if build.configurations > 1 else ""
        lines.append(f"{build.architecture}, {build.configuration}{choice}")
    taken = _taken(build)
    if taken:
        lines.append("; ".join(taken))
    if build.problem:
        lines.append(build.problem)
    return lines


def _taken(build: KernelBuild) -> list[str]:
    taken = []
    if build.registers is not None:
        spilled = f"{in_bytes(build.spilled_bytes)} spilled" if build.spilled_bytes else "no spills"
        taken.append(f"{counted(build.registers, 'register')}, {spilled}")
    if build.shared_bytes:
        taken.append(f"{in_bytes(build.shared_bytes)} of shared memory")
    if build.occupancy is not None:
        taken.append(occupancy_words(build.occupancy))
    if build.accesses:
        taken.append(access_words(build.accesses))
    if build.matrix_instructions:
        taken.append(f"matrix units by {', '.join(build.matrix_instructions)}")
    return taken


def occupancy_words(occupancy: Occupancy) -> str:
    """`48 of 64 warps (75 %), limited by registers`."""
    share = round(100 * occupancy.warps / occupancy.most_warps)
    limited = f", limited by {' and '.join(limit.value for limit in occupancy.limits)}" if occupancy.limits else ""
    return f"{occupancy.warps} of {occupancy.most_warps} warps ({share} %){limited if share < 100 else ''}"


def access_words(accesses: list[MemoryAccess]) -> str:
    """`loads of 128 and 32 bits, stores of 128 bits`; of global memory alone."""
    parts = []
    for store, word in ((False, "loads"), (True, "stores")):
        widths = [access.bits for access in accesses if access.store is store and access.space == "global"]
        if widths:
            parts.append(f"{word} of {' and '.join(map(str, widths))} bits")
    return ", ".join(parts)
