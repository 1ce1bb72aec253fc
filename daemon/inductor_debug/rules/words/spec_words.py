"""What kernels ask of an accelerator, as text: for terminals, the texts of the graph page, and bug reports alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from inductor_debug_schema import (
    DeviceLayout,
    DeviceSpecs,
    InsertedKind,
    KernelArgument,
    KernelInsertion,
    KernelLoop,
    KernelSpec,
    LinePlace,
    SpecOrigin,
)

from inductor_debug.rules.amounts import in_bytes

_ORIGINS = {
    SpecOrigin.DERIVED: "derived from Inductor's IR and the profile of {}, whose compiler was not asked",
    SpecOrigin.COMPILER: "as the compiler of {} wrote them",
}
_LEFT_OUT = {
    SpecOrigin.DERIVED: "not known without that compiler",
    SpecOrigin.COMPILER: "not in its files",
}


def heading(specs: DeviceSpecs) -> list[str]:
    """Who says so, and what is not said."""
    lines = [f"kernel specs, {_ORIGINS[specs.origin].format(specs.accelerator)}"]
    lines += [f"{_LEFT_OUT[specs.origin]}: {words}" for words in specs.left_out]
    return lines + [f"note: {note}" for note in specs.notes]


def spec_text(specs: DeviceSpecs, shown: Iterable[KernelSpec]) -> tuple[str, list[LinePlace]]:
    """Some of the specs as one text, with the place of each at its first line."""
    lines = heading(specs)
    places = []
    for spec, words in spec_lines(shown):
        if spec is not None and spec.place is not None:
            places.append(LinePlace(len(lines), spec.place))
        lines.append(words)
    return "\n".join(lines) + "\n", places


def spec_lines(shown: Iterable[KernelSpec]) -> Iterator[tuple[KernelSpec | None, str]]:
    """The lines of specs under the names of their kernels; the first line of each comes with the spec."""
    kernel: tuple[str, str] | None = None
    for spec in shown:
        if (spec.graph, spec.kernel) != kernel:
            kernel = (spec.graph, spec.kernel)
            yield None, ""
            yield None, f"kernel {spec.kernel}, graph {spec.graph}" if spec.kernel else "in no kernel"
        yield spec, f"  {_title(spec)}"
        yield from ((None, f"    {line}") for line in _details(spec))


def _title(spec: KernelSpec) -> str:
    told = [f"%{name}" for name in spec.nodes]
    told += [spec.step] if spec.step else []
    told += ["reduction"] if spec.reduction else []
    told += [spec.file] if spec.file else []
    return f"{spec.op}  # {', '.join(told)}" if told else spec.op


def _details(spec: KernelSpec) -> Iterator[str]:
    if spec.loops:
        yield f"loops     {', '.join(map(loop_words, spec.loops))}"
    for argument in spec.arguments:
        yield f"{'output' if argument.output else 'input':9} {argument_words(argument)}"
    for insertion in spec.inserted:
        yield f"inserted  {insertion_words(insertion, spec.arguments)}"
    yield from (f"remark    {remark}" for remark in spec.remarks)


def loop_words(loop: KernelLoop) -> str:
    """`d1 = 65 (padded to 128, reduced)`."""
    told = [f"padded to {loop.padded}"] if loop.padded not in (None, loop.extent) else []
    told += ["padding not known"] if loop.padded is None else []
    told += ["reduced"] if loop.reduced else []
    told += [f"over {loop.cores} cores"] if loop.cores is not None else []
    return f"{loop.name} = {loop.extent}" + (f" ({', '.join(told)})" if told else "")


def argument_words(argument: KernelArgument) -> str:
    """A tensor on the host and as it lies on the device."""
    told = [argument.name or "a constant"]
    if argument.shape is not None:
        told[0] += f": {argument.dtype}[{', '.join(map(str, argument.shape))}]"
    if argument.layout is not None:
        told[0] += f" -> {argument.device_dtype}[{_numbers(argument.layout.size)}]"
        told += layout_words(argument.layout, argument.stick_loop)
    else:
        known = argument.shape is not None and all(isinstance(size, int) for size in argument.shape)
        told[0] += f" -> {argument.device_dtype}, {'no layout of its own' if known else 'device size not known'}"
    told += [f"coordinates [{', '.join(argument.coordinates)}]"] if argument.coordinates else []
    told += [f"in {argument.allocation}"] if argument.allocation else []
    return ", ".join(told)


def layout_words(layout: DeviceLayout, loop: str) -> list[str]:
    """The stride map, the sticks and the padding of a layout."""
    told = [f"stride map [{_numbers(layout.stride_map)}]"]
    if layout.sparse:
        told.append("one element a stick")
    elif layout.stick_dimension is not None:
        told.append(f"sticks along dimension {layout.stick_dimension}{f' ({loop})' if loop else ''}")
    padding = f" of which {in_bytes(layout.padding_bytes)} padding" if layout.padding_bytes else ""
    return [*told, in_bytes(layout.bytes) + padding]


def insertion_words(insertion: KernelInsertion, arguments: Sequence[KernelArgument]) -> str:
    """What is copied before the operation, and how the copy lies."""
    named = arguments[insertion.argument].name if insertion.argument < len(arguments) else ""
    name = named or f"argument {insertion.argument}"
    along = "" if insertion.dimension is None else f" dimension {insertion.dimension}"
    if insertion.kind is InsertedKind.RESTICKIFY:
        words = f"restickify of {name}, sticks along{along or ' another dimension'}"
    else:
        words = f"padding of {name} with zeros behind{along or ' a dimension'}"
    if insertion.layout is None:
        return words
    return f"{words}: [{_numbers(insertion.layout.size)}], {in_bytes(insertion.layout.bytes)}"


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(map(str, values))
