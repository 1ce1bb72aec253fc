"""What Spyre's compiler says that its kernels do, as `DeviceSpecs`: told by the compiler, not worked out by us.

OpSpecs in the wrapper have the layouts; the SuperDSC file of the same operation adds its padded sizes. Where there are
files without a wrapper, they are all that is told.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from math import prod

from inductor_debug_schema import DeviceLayout
from inductor_debug_schema.kernel_specs import DeviceSpecs, KernelArgument, KernelLoop, KernelSpec, SpecOrigin

from inductor_debug.compiler_output.compiled_graph import CompiledGraph, kernel_of_file
from inductor_debug.compiler_output.debug_handles import DebugHandles
from inductor_debug.compiler_output.files.op_specs import OpArgument, OpSpec, op_specs
from inductor_debug.compiler_output.files.super_dsc import SuperDsc
from inductor_debug.rules.amounts import counted

ACCELERATOR = "spyre"
_STICK_BYTES = 128
_NUMBER = re.compile(r"sdsc_(\d+)")


def device_specs(graphs: list[CompiledGraph], handles: DebugHandles) -> DeviceSpecs | None:
    """What the compiler says of the kernels of one compile; None where it says nothing."""
    specs = [spec for graph in graphs for spec in _of_graph(graph, handles)]
    left_out = ["the host's shapes and dtypes of arguments"] if specs else []
    return DeviceSpecs(ACCELERATOR, SpecOrigin.COMPILER, specs, left_out) if specs else None


def _of_graph(graph: CompiledGraph, handles: DebugHandles) -> list[KernelSpec]:
    lowered = graph.lowered_name
    specs: list[KernelSpec] = []
    files = sorted(graph.device_files.items(), key=lambda item: (item[0].rpartition("/")[0], _number(item[0])))
    for kernel in graph.wrapper.kernels.values() if graph.wrapper is not None else ():
        call = (
            next((call.arguments for call in graph.wrapper.calls if call.name == kernel.name), [])
            if graph.wrapper
            else []
        )
        for spec in op_specs(kernel)[0]:
            nodes = [
                name
                for name in handles.chain_of(spec.handle)
                if graph.lowered is not None and name in graph.lowered.names
            ]
            specs.append(
                KernelSpec(
                    kernel.name,
                    spec.op,
                    lowered,
                    nodes,
                    spec.reduction,
                    _loops(spec),
                    [_argument(argument, spec, call) for argument in spec.arguments],
                    place=handles.place_of(spec.handle),
                )
            )
    own = [(path, dsc) for path, dsc in files if not kernel_of_file(path)]
    joined = [_joined(spec, own[index] if len(own) == len(specs) else None) for index, spec in enumerate(specs)]
    for kernel_name in dict.fromkeys(spec.kernel for spec in specs):
        bundle = [(path, dsc) for path, dsc in files if kernel_of_file(path) == kernel_name]
        at = [index for index, spec in enumerate(specs) if spec.kernel == kernel_name]
        if len(bundle) == len(at):
            for index, file in zip(at, bundle, strict=False):
                joined[index] = _joined(specs[index], file)
    used = {spec.file for spec in joined}
    return joined + [_of_file(path, dsc, graph) for path, dsc in files if path not in used]


def _loops(spec: OpSpec) -> list[KernelLoop]:
    """The loops; of a reduction those are reduced that run over no result."""
    results = [each for argument in spec.arguments if argument.output for each in argument.coordinates]
    return [
        KernelLoop(
            name, extent, reduced=spec.reduction and bool(results) and not _runs_over(name, results), cores=cores
        )
        for name, extent, cores in spec.loops
    ]


def _runs_over(loop: str, coordinates: list[str]) -> bool:
    return any(re.search(rf"\b{re.escape(loop)}\b", each) for each in coordinates)


def _number(path: str) -> int:
    match = _NUMBER.search(path.rpartition("/")[2])
    return int(match[1]) if match is not None and len(match[1]) < 9 else 0


def _argument(argument: OpArgument, spec: OpSpec, names: list[str]) -> KernelArgument:
    name = names[argument.index] if 0 <= argument.index < len(names) else ""
    return KernelArgument(
        name or ("scratch" if argument.index < 0 else f"argument {argument.index}"),
        argument.output,
        None,
        "",
        argument.device_dtype,
        _layout(argument, spec),
        argument.stick_loop,
        argument.coordinates,
        argument.allocation,
    )


def _layout(argument: OpArgument, spec: OpSpec) -> DeviceLayout | None:
    """The layout, where all loops that run over the tensor have known extents; what they do not reach is padding."""
    if not argument.size or argument.size[-1] <= 0:
        return None
    used = [extent for name, extent, _ in spec.loops if _runs_over(name, argument.coordinates)]
    if not all(isinstance(extent, int) for extent in used):
        return None
    held = prod(extent for extent in used if isinstance(extent, int))
    element = _STICK_BYTES // argument.size[-1]
    total = prod(argument.size) * element
    return DeviceLayout(argument.size, argument.stride_map, total, max(0, total - held * element))


def _joined(spec: KernelSpec, file: tuple[str, SuperDsc] | None) -> KernelSpec:
    """An operation with the padded sizes of its kernel file, where its dimensions fit the loops in one way only."""
    if file is None:
        return spec
    path, dsc = file
    dimensions = _matched(spec.loops, dsc)
    if dimensions is not None:
        loops = [replace(loop, padded=dsc.sizes[dimensions[loop.name]]) for loop in spec.loops]
        return replace(spec, loops=loops, file=path)
    sizes = ", ".join(f"{name} {size}" for name, size in dsc.sizes.items())
    remark = f"The kernel file has the padded sizes {sizes}; which loop each belongs to is not told."
    return replace(spec, file=path, remarks=[*spec.remarks, remark])


def _matched(loops: list[KernelLoop], dsc: SuperDsc) -> dict[str, str] | None:
    """The dimension of each loop: equal sizes say it first, then those that padding explains; None where unclear."""
    found: dict[str, str] = {}
    for padding in (0, _STICK_BYTES - 1):
        left = [loop for loop in loops if loop.name not in found]
        free = [name for name in dsc.sizes if name not in found.values()]
        fitting = [(loop.name, name) for loop in left for name in free if _fits(loop, name, dsc, padding)]
        by_loop, by_dimension = Counter(loop for loop, _ in fitting), Counter(name for _, name in fitting)
        found.update((loop, name) for loop, name in fitting if by_loop[loop] == by_dimension[name] == 1)
    return found if len(found) == len(loops) else None


def _fits(loop: KernelLoop, name: str, dsc: SuperDsc, padding: int) -> bool:
    if not isinstance(loop.extent, int) or dsc.slices.get(name, 1) != (loop.cores or 1):
        return False
    return 0 <= dsc.sizes[name] - loop.extent <= padding


def _of_file(path: str, dsc: SuperDsc, graph: CompiledGraph) -> KernelSpec:
    """All that a kernel file alone tells."""
    loops = [KernelLoop(name, size, size, cores=dsc.slices.get(name)) for name, size in dsc.sizes.items()]
    arguments = [
        KernelArgument(
            tensor.name,
            tensor.output,
            None,
            "",
            tensor.device_dtype,
            stick_loop=tensor.stick_dimensions[0] if len(tensor.stick_dimensions) == 1 else "",
            coordinates=tensor.present,
            allocation=" ".join(part for part in (tensor.memory, tensor.address) if part),
        )
        for tensor in dsc.tensors
    ]
    remarks = ["The file has padded sizes only."]
    if dsc.cores is not None:
        remarks.append(f"It runs on {counted(dsc.cores, 'core')}.")
    return KernelSpec(
        kernel_of_file(path), dsc.op, graph.lowered_name, [], False, loops, arguments, remarks=remarks, file=path
    )
