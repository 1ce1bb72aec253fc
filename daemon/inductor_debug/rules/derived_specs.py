"""What the operations of Inductor's kernels would ask of an accelerator: loops in padded sizes, arguments as they lie.

Derived, and said to be: from the operations that Inductor is left with, the loops that it lowered them to, the layouts
that `StickFlow` follows through them, and the profile. Layouts, and where a tensor is laid out anew, are those that the
rules tell of; nothing here decides on them. What only the accelerator's own compiler knows is named (`LEFT_OUT`) and
never guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from inductor_debug_schema import (
    DeviceLayout,
    DeviceSpecs,
    InsertedKind,
    KernelArgument,
    KernelInsertion,
    KernelLoop,
    KernelSpec,
    Location,
    SpecOrigin,
)

from inductor_debug.accelerators.device_memory import layout_in_sticks
from inductor_debug.accelerators.execution import RunsOn
from inductor_debug.accelerators.guarded_adapter import adapter_of
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.iteration import Iteration, Walk, iteration_of
from inductor_debug.rules.recording.ops import Op, Size, TensorMeta, as_written

LEFT_OUT = (
    "how the work of each operation is divided over the cores",
    "where tensors lie in scratchpad and memory, and so what crosses between them",
    "the compiler's own decompositions, fusion and names of operations (these are stock Inductor's, which computes "
    "softmax and norms of 16-bit numbers in float32)",
)
"""What a derived spec cannot say, in words that follow "not known without the accelerator's compiler:"."""
_EXTERNAL = "Inductor calls {} for it, whose loops are its own."
_OTHER_LOOPS = "Which loop walks along which dimension is not known."
_SYMBOLIC = "Device sizes depend on sizes that are not fixed."
_ON_HOST = "It, or a part of it, runs on the host."
_ELSEWHERE = "Inductor computes it again here: it is in {} as well."


@dataclass(frozen=True, slots=True)
class LoweredLoops:
    """The loops that Inductor lowered an operation to: those of the result, and those that it does not have."""

    ranges: tuple[int | str, ...]
    reduced: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class LoweredOperation:
    """What became of one operation of a recording in Inductor.

    `graph` and `node` are where it stands, `kernels` what computes it, `step` the scheduler node; `operands` and
    `results` are what its tensors are called there. `loops` are None where it has none of its own: because it was
    inlined into others, or because a library's kernel has them (`external`).
    """

    graph: str
    node: str
    kernels: tuple[str, ...]
    results: tuple[str, ...]
    operands: tuple[str, ...] = ()
    step: str = ""
    place: Location | None = None
    loops: LoweredLoops | None = None
    external: bool = False


def specs_of(run: JudgedRun, lowered: Mapping[int, LoweredOperation]) -> DeviceSpecs:
    """The specs of all kernels, each kernel's in the order in which its operations run.

    Args:
        run: the operations that Inductor is left with, and the accelerator.
        lowered: for operations by their index what Inductor made of them; views, which compute nothing, have no spec.
    """
    deriving = _Deriving(run, lowered)
    kernels: dict[tuple[str, str], list[KernelSpec]] = {}
    for op in run.recording.ops:
        for spec in deriving.of(op):
            kernels.setdefault((spec.graph, spec.kernel), []).append(spec)
    specs = [spec for computed in kernels.values() for spec in computed]
    adapter = adapter_of(run.profile)
    problems = list(adapter.problems) if adapter is not None else []
    return DeviceSpecs(run.profile.name, SpecOrigin.DERIVED, specs, list(LEFT_OUT), problems)


@dataclass(slots=True)
class _Operand:
    """One tensor of an operation. Its sticks run along `lies_along`, and along `dimension` when it is read."""

    meta: TensorMeta
    walk: Walk | None
    layout: DeviceLayout | None
    lies_along: int | None
    dimension: int | None

    def loop_along(self, dimension: int | None) -> int | None:
        """The loop that walks along a dimension; an adapter may name one that there is not."""
        if self.walk is None or dimension is None or not 0 <= dimension < len(self.walk):
            return None
        return self.walk[dimension]


@dataclass(slots=True)
class _Deriving:
    run: JudgedRun
    lowered: Mapping[int, LoweredOperation]
    _names: dict[int, str] = field(default_factory=dict)
    _wanted: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        recording = self.run.recording
        self._names = {value: origin.name for value, origin in recording.origins.items() if origin.name}
        for op in recording.ops:
            known = self.lowered.get(op.index)
            if known is None:
                continue
            for meta, name in zip(op.outputs, known.results, strict=False):
                self._names.setdefault(meta.value, name)
            if len(known.operands) == len(op.inputs):  # what a backward is given of the forward has no maker here
                for meta, name in zip(op.inputs, known.operands, strict=True):
                    self._names.setdefault(meta.value, name)
        if self.run.profile.stick_bytes is not None:
            found = self.run.sticks.misfits
            self._wanted = {(misfit.op.index, misfit.operand.value): misfit.wanted for misfit in found}

    def of(self, op: Op) -> list[KernelSpec]:
        known = self.lowered.get(op.index)
        if known is None or not known.kernels or op.is_view or operators.only_reads_metadata(op.packet):
            return []
        spec = self._spec(op, known)
        first, *others = known.kernels
        again = _ELSEWHERE.format(first)
        return [spec, *(replace(spec, kernel=name, remarks=[*spec.remarks, again]) for name in others)]

    def _spec(self, op: Op, known: LoweredOperation) -> KernelSpec:
        iteration = _agreeing(iteration_of(op), known)
        inputs = [self._operand(op, meta, _walk(iteration, "inputs", at)) for at, meta in enumerate(op.inputs)]
        outputs = [self._operand(op, meta, _walk(iteration, "outputs", at)) for at, meta in enumerate(op.outputs)]
        loops = self._loops(iteration, [*inputs, *outputs]) if iteration is not None else _as_lowered(known.loops)
        arguments = [self._argument(operand, output=False) for operand in inputs]
        arguments += [self._argument(operand, output=True) for operand in outputs]
        inserted = [
            insertion
            for at, operand in enumerate(inputs)
            for insertion in self._inserted(at, operand, iteration, loops)
        ]
        return KernelSpec(
            kernel=known.kernels[0],
            op=op.overload,
            graph=known.graph,
            nodes=[known.node],
            reduction=any(loop.reduced for loop in loops),
            loops=loops,
            arguments=arguments,
            inserted=inserted,
            place=known.place,
            step=known.step,
            remarks=self._remarks(op, known, iteration),
        )

    def _operand(self, op: Op, meta: TensorMeta, walk: Walk | None) -> _Operand:
        layout = self.run.sticks.layout_of(meta)
        sticks = self.run.profile.stick_bytes is not None
        dimension = layout.stick_dimension if layout is not None else self.run.sticks.stick_of(meta) if sticks else None
        wanted = self._wanted.get((op.index, meta.value), dimension)
        return _Operand(meta, walk, layout, dimension, wanted)

    def _loops(self, iteration: Iteration, operands: Sequence[_Operand]) -> list[KernelLoop]:
        """The loops, of which those along sticks run to the end of the last stick."""
        units: dict[int, int] = {}
        for operand in operands:
            loop = operand.loop_along(operand.dimension)
            if loop is not None:
                units[loop] = max(units.get(loop, 1), self._elements_per_stick(operand))
        return [
            KernelLoop(f"d{index}", _written(extent), _padded(extent, units.get(index, 1)), index in iteration.reduced)
            for index, extent in enumerate(iteration.extents)
        ]

    def _elements_per_stick(self, operand: _Operand) -> int:
        if operand.layout is not None and operand.layout.size:
            return max(operand.layout.size[-1], 1)
        return self.run.profile.elements_per_stick(operand.meta.dtype, operand.meta.element_bytes)

    def _argument(self, operand: _Operand, *, output: bool) -> KernelArgument:
        meta, loop = operand.meta, operand.loop_along(operand.lies_along)
        return KernelArgument(
            name=self._names.get(meta.value, ""),
            output=output,
            shape=as_written(meta),
            dtype=meta.dtype,
            device_dtype=self.run.profile.device_format(meta.dtype),
            layout=operand.layout,
            stick_loop=f"d{loop}" if loop is not None else "",
        )

    def _inserted(
        self, at: int, operand: _Operand, iteration: Iteration | None, loops: Sequence[KernelLoop]
    ) -> list[KernelInsertion]:
        """The copies of an input that have to be made: first zeros behind a dimension, then other sticks."""
        found = []
        shape = list(operand.meta.shape)
        for dimension, loop in enumerate(operand.walk or ()):
            # A sum that runs on into the padding of one operand's sticks must find zeros in the other.
            runs_on = loop is not None and loops[loop].reduced and loops[loop].padded != loops[loop].extent
            several = iteration is not None and sum(walk is not None for walk in iteration.inputs) > 1
            if runs_on and several and loop is not None and dimension != operand.dimension:
                padded = loops[loop].padded
                shape[dimension] = padded if isinstance(padded, int) else shape[dimension]
                layout = self._copied(operand.meta, shape, operand.lies_along)
                found.append(KernelInsertion(InsertedKind.PADDING, at, dimension, layout))
        if operand.dimension != operand.lies_along:
            layout = self._copied(operand.meta, shape, operand.dimension)
            found.append(KernelInsertion(InsertedKind.RESTICKIFY, at, operand.dimension, layout))
        return found

    def _copied(self, meta: TensorMeta, shape: Sequence[Size], stick: int | None) -> DeviceLayout | None:
        """How a copy with the sizes `shape` lies, with its dimensions in the order of the tensor's memory."""
        sizes = [size for size in shape if isinstance(size, int)]
        strides = [stride for stride in meta.stride if isinstance(stride, int)]
        if len(sizes) != len(shape) or len(strides) != len(shape) or stick is None:
            return None
        step = 1
        dense = [1] * len(sizes)
        for dimension in sorted(range(len(sizes)), key=lambda index: (strides[index], -index)):
            dense[dimension] = step
            step *= sizes[dimension]
        return layout_in_sticks(self.run.profile, sizes, dense, meta.dtype, meta.element_bytes, stick=stick)

    def _remarks(self, op: Op, known: LoweredOperation, iteration: Iteration | None) -> list[str]:
        remarks = []
        listed = self.run.profile.execution
        if listed is not None and listed.place_of(op.overload) is RunsOn.CPU:
            remarks.append(_ON_HOST)
        if iteration is None and known.loops is None:
            remarks.append(_EXTERNAL.format(known.kernels[0]))
        elif iteration is None:
            remarks.append(_OTHER_LOOPS)
        if any(not isinstance(size, int) for meta in (*op.inputs, *op.outputs) for size in meta.shape):
            remarks.append(_SYMBOLIC)
        return remarks


def _agreeing(iteration: Iteration | None, known: LoweredOperation) -> Iteration | None:
    """The iteration space where Inductor lowered the operation to the same loops, or inlined it, or it is a product."""
    if iteration is None or (known.external and not iteration.reduced):
        return None
    if known.loops is None:
        return iteration
    extents = Counter(str(extent) for extent in iteration.extents if extent != 1)
    lowered = Counter(str(extent) for extent in (*known.loops.ranges, *known.loops.reduced) if extent != 1)
    return iteration if extents == lowered else None


def _as_lowered(loops: LoweredLoops | None) -> list[KernelLoop]:
    if loops is None:
        return []
    kept = [KernelLoop(f"d{index}", extent) for index, extent in enumerate(loops.ranges)]
    return kept + [
        KernelLoop(f"d{index}", extent, reduced=True) for index, extent in enumerate(loops.reduced, len(kept))
    ]


def _walk(iteration: Iteration | None, side: str, at: int) -> Walk | None:
    if iteration is None:
        return None
    walks = iteration.inputs if side == "inputs" else iteration.outputs
    return walks[at] if at < len(walks) else None


def _written(size: Size) -> int | str:
    return size if isinstance(size, int) else str(size)


def _padded(extent: Size, unit: int) -> int | str:
    if isinstance(extent, int):
        return -(-extent // unit) * unit
    return str(extent) if extent.divisor % unit == 0 else f"{unit}*ceil(({extent})/{unit})"
