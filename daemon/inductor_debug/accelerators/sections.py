"""The tables of an accelerator profile, each read strictly into what `Profile` keeps of it. Never reads a file."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from inductor_debug_schema import Severity

from inductor_debug.accelerators.capabilities import (
    ELEMENT_BYTES,
    Alignment,
    CompilerStack,
    Dimensions,
    Layout,
    MatmulOperands,
    OperatorLimit,
    Speed,
    StoredAs,
)
from inductor_debug.accelerators.document import Table
from inductor_debug.accelerators.execution import Execution, RunsOn


class Dtypes(NamedTuple):
    """What `Profile` keeps of the table `dtypes`."""

    supported: frozenset[str]
    stored_as: dict[str, StoredAs]
    element_bytes: dict[str, int]
    emulated: frozenset[str]


def read_dtypes(table: Table) -> Dtypes:
    """What is supported, stored as something else, of other bytes than on the host, or emulated."""
    section = table.table("dtypes")
    if section is None:
        return Dtypes(frozenset(), {}, {}, frozenset())
    supported = section.dtypes("supported", ELEMENT_BYTES)
    stored: dict[str, StoredAs] = {}
    entries = section.table("stored_as")
    for name, entry in (entries.entries() if entries is not None else {}).items():
        assert entries is not None
        target = entry.text("dtype")
        stored[entries.dtype_name(name, name, ELEMENT_BYTES)] = StoredAs(
            entry.dtype_name("dtype", target, ELEMENT_BYTES),
            entry.member("severity", Severity, Severity.WARNING),
            entry.text("reason"),
        )
        entry.finish()
    widths, emulated = section.table("bytes"), section.dtypes("emulated", ELEMENT_BYTES)
    section.finish()
    return Dtypes(supported, stored, {} if widths is None else widths.sizes_by_dtype(ELEMENT_BYTES), emulated)


def read_alignment(table: Table) -> Alignment | None:
    """What sizes must be multiples of; None where anything goes."""
    section = table.table("alignment")
    if section is None:
        return None
    elements, in_bytes = section.number("elements", minimum=1), section.number("bytes", minimum=1)
    dimensions = section.member("dimensions", Dimensions, Dimensions.ALL)
    section.finish()
    if elements is not None and in_bytes is not None:
        raise section.error("bytes", "say either `elements` or `bytes`, not both")
    amount = elements if elements is not None else in_bytes
    if amount is None or amount == 1:
        return None
    return Alignment(amount, in_bytes is not None, dimensions)


def read_backends(table: Table) -> dict[str, CompilerStack]:
    """What the accelerator's backends of `torch.compile` are made of; empty where nobody says."""
    section = table.table("backends")
    found: dict[str, CompilerStack] = {}
    for name, entry in (section.entries() if section is not None else {}).items():
        found[name] = CompilerStack(entry.strings("front_end"), entry.strings("back_end"))
        entry.finish()
    return found


def read_layout(table: Table) -> Layout | None:
    """What is asked of strides; None where anything goes."""
    section = table.table("layout")
    if section is None:
        return None
    required = section.flag("contiguous")
    operands = section.member("matmul_operands", MatmulOperands, MatmulOperands.STRIDED)
    section.finish()
    return Layout(operands) if required else None


class MemoryLimits(TypedDict, total=False):
    """What `Profile` keeps of the table `memory`, by its names."""

    tensor_bytes: int | None
    memory_bytes: int | None
    span_bytes: int | None
    cores: int | None


def read_memory(table: Table) -> MemoryLimits:
    """The limits of memory; nothing where there is no such table."""
    section = table.table("memory")
    if section is None:
        return {}
    limits: MemoryLimits = {
        "tensor_bytes": section.size("tensor_bytes"),
        "memory_bytes": section.size("device_bytes"),
        "span_bytes": section.size("span_bytes"),
        "cores": section.number("cores", minimum=1),
    }
    section.finish()
    return limits


def read_speed(table: Table) -> Speed | None:
    """How fast the accelerator is at best; None where nobody says."""
    section = table.table("speed")
    if section is None:
        return None
    speed = Speed(
        section.size("bytes_per_second"),
        _rates(section, "operations_per_second"),
        _rates(section, "matrix_operations_per_second"),
        section.optional_rate("tf32_operations_per_second"),
        _rates(section, "sparse_operations_per_second"),
    )
    section.finish()
    return speed


def _rates(table: Table, key: str) -> dict[str, float]:
    """Rates by dtype; none where the table is missing."""
    rates = table.table(key)
    return {} if rates is None else rates.rates_by_dtype(ELEMENT_BYTES)


def read_number(table: Table, name: str, key: str) -> int | None:
    """A number of at least 1 that is alone in its table; None where it is missing."""
    section = table.table(name)
    if section is None:
        return None
    value = section.number(key, minimum=1)
    section.finish()
    return value


def read_execution(table: Table) -> Execution | None:
    """The list of what is known to run; None where there is none."""
    section = table.table("execution")
    if section is None:
        return None
    parts, computes, conversions = section.table("parts"), section.table("computes"), section.table("conversions")
    execution = Execution(
        device=section.strings("device"),
        compiled=section.strings("compiled"),
        cpu=section.strings("cpu"),
        parts={name: parts.strings(name) for name in parts.raw()} if parts is not None else {},
        computes={
            computes.dtype_name(name, name, ELEMENT_BYTES): computes.strings(name)
            for name in (computes.raw() if computes is not None else {})
            if computes is not None
        },
        conversions={
            conversions.dtype_name(name, name, ELEMENT_BYTES): conversions.dtypes(name, ELEMENT_BYTES)
            for name in (conversions.raw() if conversions is not None else {})
            if conversions is not None
        },
    )
    section.finish()
    return execution


def read_texts(table: Table, name: str) -> dict[str, str]:
    """A table of texts by keys that anybody may choose."""
    section = table.table(name)
    return {} if section is None else {key: section.text(key) for key in section.raw()}


def read_sources(table: Table) -> dict[str, tuple[str, ...]]:
    """Documents by title, each with the keys of the figures that stand in it."""
    section = table.table("sources")
    return {} if section is None else {title: section.strings(title) for title in section.raw()}


def read_operator(entry: Table) -> OperatorLimit:
    """One limit of operators."""
    patterns = entry.strings("match")
    if not patterns:
        raise entry.error("match", "is missing: name at least one operator, such as 'aten.prelu'")
    for pattern in patterns:
        if "." not in pattern:
            raise entry.error("match", f"{pattern!r} has no namespace; did you mean 'aten.{pattern}'?")
    arguments, exceptions = entry.table("arguments"), entry.table("except_arguments")
    limit = OperatorLimit(
        match=patterns,
        inplace=entry.flag("inplace"),
        dtypes=entry.dtypes("dtypes", ELEMENT_BYTES),
        input_ranks=entry.numbers("input_ranks"),
        output_ranks=entry.numbers("output_ranks"),
        arguments=arguments.raw() if arguments is not None else {},
        autograd=entry.strings("autograd"),
        mutates_inputs=entry.flag("mutates_inputs"),
        except_arguments=exceptions.raw() if exceptions is not None else {},
        partial_stick=entry.flag("partial_stick"),
        stick_arguments=entry.strings("stick_arguments"),
        varies_along_stick=entry.strings("varies_along_stick"),
        runs=entry.member("runs", RunsOn, RunsOn.REFUSED),
        reason=entry.text("reason"),
        instead=entry.text("instead"),
        severity=entry.member("severity", Severity, Severity.WARNING),
    )
    entry.finish()
    return limit
