"""An accelerator's profile as a page in Markdown: what it can do, and what that was learned from. For `explain`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from inductor_debug.accelerators.capabilities import Dimensions, Profile, Speed
from inductor_debug.accelerators.execution import Execution
from inductor_debug.accelerators.gpu import Gpu
from inductor_debug.rules.amounts import in_bytes, in_rate, in_seconds


def profile_page(profile: Profile) -> str:
    """The page: what the accelerator can do, and where its own software, installed here, changed what was known."""
    sections = [f"# {profile.name}", profile.title]
    if profile.read_in:
        sections += ["## Read in", _items(f"{key}: {value}" for key, value in profile.read_in.items())]
    sections += ["## Numbers and memory", _items(_limits(profile))]
    if profile.speed is not None:
        sections += ["## At best", _items(_rates(profile.speed))]
    if profile.gpu is not None:
        sections += ["## GPU", _items(_gpu(profile.gpu))]
    if profile.backends:
        sections += ["## Backends of torch.compile", _items(_backends(profile))]
    if profile.execution is not None:
        sections += _operators(profile.execution)
    if profile.operators:
        sections += ["## Conditions", _items(_conditions(profile))]
    if profile.sources:
        sections += ["## Sources", _items(f"{title}: {_names(keys)}" for title, keys in profile.sources.items())]
    if profile.differences:
        sections += ["## Where the installed software differs", _items(profile.differences)]
    return "\n\n".join(section for section in sections if section) + "\n"


def _limits(profile: Profile) -> list[str]:
    found = []
    if profile.dtypes:
        found.append(f"dtypes: {', '.join(sorted(profile.dtypes))}")
    if profile.emulated:
        found.append(f"runs by way of another dtype, slowly: {', '.join(sorted(profile.emulated))}")
    for name, stored in profile.stored_as.items():
        found.append(f"{name} is stored as {stored.dtype}{f': {stored.reason}' if stored.reason else ''}")
    found += [f"{name} takes {width} bytes an element" for name, width in profile.element_bytes.items()]
    if profile.alignment is not None:
        unit = "bytes" if profile.alignment.in_bytes else "elements"
        which = "the innermost dimension" if profile.alignment.dimensions is Dimensions.LAST else "every dimension"
        found.append(f"sizes of {which}: multiples of {profile.alignment.amount} {unit}")
    if profile.max_rank is not None:
        found.append(f"tensors of at most {profile.max_rank} dimensions")
    if profile.stick_bytes is not None:
        found.append(f"memory in sticks of {profile.stick_bytes} bytes")
    if profile.arithmetic is not None:
        which = ", ".join(sorted(profile.arithmetic.dtypes)) or "all floating-point numbers"
        found.append(f"{which}: computed in {profile.arithmetic.compute}, added up in {profile.arithmetic.accumulate}")
        if not profile.arithmetic.infinite_constants:
            found.append("infinite constants become NaN")
    if profile.memory_bytes is not None:
        found.append(f"memory: {in_bytes(profile.memory_bytes)}")
    if profile.tensor_bytes is not None:
        found.append(f"one tensor: at most {in_bytes(profile.tensor_bytes)}")
    if profile.span_bytes is not None:
        found.append(f"{profile.cores or 1} cores, each reaching {in_bytes(profile.span_bytes)} of a tensor")
    return found


def _rates(speed: Speed) -> list[str]:
    found = [] if speed.bytes_per_second is None else [f"memory: {in_rate(speed.bytes_per_second, 'B')}"]
    by_unit = (
        ("", speed.operations_per_second),
        (", matrix units", speed.matrix_operations_per_second),
        (
            ", matrix units",
            {} if speed.tf32_operations_per_second is None else {"TF32": speed.tf32_operations_per_second},
        ),
        (", matrix units with sparse weights", speed.sparse_operations_per_second),
    )
    return found + [f"{name}{unit}: {in_rate(rate, 'FLOP')}" for unit, rates in by_unit for name, rate in rates.items()]


def _gpu(gpu: Gpu) -> list[str]:
    platform = f"{gpu.platform.value} {gpu.architecture}".rstrip()
    figures: tuple[tuple[str, int | None, Callable[[int], str]], ...] = (
        ("multiprocessors", gpu.multiprocessors, _plain),
        ("threads in a warp", gpu.warp, _plain),
        ("threads of a multiprocessor", gpu.threads_per_multiprocessor, _plain),
        ("blocks of a multiprocessor", gpu.blocks_per_multiprocessor, _plain),
        ("32-bit registers of a multiprocessor", gpu.registers_per_multiprocessor, _plain),
        ("shared memory of a multiprocessor", gpu.shared_bytes_per_multiprocessor, in_bytes),
        ("shared memory of a block, at most", gpu.shared_bytes_per_block, in_bytes),
        ("L2 cache", gpu.l2_bytes, in_bytes),
        ("cache line", gpu.cache_line_bytes, in_bytes),
        ("smallest read of memory", gpu.memory_sector_bytes, in_bytes),
    )
    found = [platform, *(f"{name}: {shown(value)}" for name, value, shown in figures if value is not None)]
    if gpu.clock_hertz is not None:
        found.append(f"clock: {gpu.clock_hertz / 1e6:,.0f} MHz")
    if gpu.launch_seconds is not None:
        found.append(f"launch of a kernel: at least {in_seconds(gpu.launch_seconds)}")
    multiples = dict.fromkeys(gpu.matrix_multiple_bytes.values())
    for multiple in multiples:
        names = [name for name, size in gpu.matrix_multiple_bytes.items() if size == multiple]
        found.append(f"matrix units want multiples of {in_bytes(multiple)} in {', '.join(names)}")
    return found


def _plain(count: int) -> str:
    return f"{count:,}"


def _backends(profile: Profile) -> list[str]:
    return [
        f"`{name}`: front end {', '.join(stack.front_end) or 'not known'}, "
        f"back end {', '.join(stack.back_end) or 'not known'}"
        for name, stack in profile.backends.items()
    ]


def _operators(execution: Execution) -> list[str]:
    told = (
        ("On the device", execution.device),
        ("On the device where compiled", execution.compiled),
        ("On the CPU, with two transfers", execution.cpu),
    )
    sections = [text for title, names in told if names for text in (f"## {title}", _names(names))]
    if execution.parts:
        sections += ["## Taken apart", _items(f"{name}: {_names(parts)}" for name, parts in execution.parts.items())]
    if execution.computes:
        only = (f"{dtype}: {_names(names)}" for dtype, names in execution.computes.items())
        sections += ["## Dtypes in which only some compute", _items(only)]
    if execution.conversions:
        pairs = (f"{source}: to {', '.join(sorted(targets))}" for source, targets in execution.conversions.items())
        sections += ["## Conversions on the device", _items(pairs)]
    return sections


def _conditions(profile: Profile) -> list[str]:
    return [
        f"{_names(limit.match)}: {limit.runs.value}{f' ({limit.reason})' if limit.reason else ''}"
        for limit in profile.operators
    ]


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _items(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
