"""An accelerator's profile as a page in Markdown: what it can do, and what that was learned from. For `explain`."""

from __future__ import annotations

from collections.abc import Iterable

from inductor_debug.accelerators.capabilities import Dimensions, Profile
from inductor_debug.accelerators.execution import Execution
from inductor_debug.rules.amounts import in_bytes


def profile_page(profile: Profile) -> str:
    """The page: what the accelerator can do, and where its own software, installed here, changed what was known."""
    sections = [f"# {profile.name}", profile.title]
    if profile.read_in:
        sections += ["## Read in", _items(f"{key}: {value}" for key, value in profile.read_in.items())]
    sections += ["## Numbers and memory", _items(_limits(profile))]
    if profile.backends:
        sections += ["## Backends of torch.compile", _items(_backends(profile))]
    if profile.execution is not None:
        sections += _operators(profile.execution)
    if profile.operators:
        sections += ["## Conditions", _items(_conditions(profile))]
    if profile.differences:
        sections += ["## Where the installed software differs", _items(profile.differences)]
    return "\n\n".join(section for section in sections if section) + "\n"


def _limits(profile: Profile) -> list[str]:
    found = []
    if profile.dtypes:
        found.append(f"dtypes: {', '.join(sorted(profile.dtypes))}")
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
    if profile.speed is not None:
        if profile.speed.bytes_per_second is not None:
            found.append(f"at best {profile.speed.bytes_per_second:.3g} bytes a second")
        for name, operations in profile.speed.operations_per_second.items():
            found.append(f"at best {operations:.3g} operations a second in {name}")
    if profile.span_bytes is not None:
        found.append(f"{profile.cores or 1} cores, each reaching {in_bytes(profile.span_bytes)} of a tensor")
    return found


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
