"""Makes the timeline of a run: what leaves the worker of tensors, their lives, and the code around them.

Parameters, buffers and inputs live throughout, for whoever called the target holds them; only those that some operation
read are known.
"""

from __future__ import annotations

from collections.abc import Callable

from inductor_debug_schema import (
    DeviceLayout,
    Location,
    TensorTimeline,
    TimelineCall,
    TimelineName,
    TimelineStatement,
    TimelineStorage,
    TimelineTensor,
)

from inductor_debug.accelerators.profile import Profile
from inductor_debug.capture.liveness.activations import Activations, FunctionRun, StatementRun, innermost_runs
from inductor_debug.capture.liveness.bindings import Bindings, TensorBinding
from inductor_debug.capture.liveness.code import FunctionCode
from inductor_debug.capture.liveness.dim_names import DimensionNames
from inductor_debug.rules.recording.operators import attention_calls
from inductor_debug.rules.recording.ops import Lifetimes, Op, Origin, Recording, Size, SymbolicSize, TensorMeta
from inductor_debug.rules.recording.stick_flow import StickFlow
from inductor_debug.rules.recording.symbolic_sizes import at_least

_OUTSIDE = ("parameter", "buffer", "input")
"""Kinds of tensors that live throughout, whatever the code drops."""


def timeline_of(
    recording: Recording, code_of: Callable[[str], FunctionCode | None], profile: Profile
) -> TensorTimeline | None:
    """The timeline of a recording that knows lifetimes; None of any other, and of one without ops.

    Args:
        recording: what ran.
        code_of: what stands in the file at a path.
        profile: the accelerator, whose own code may lay tensors out.
    """
    if recording.lifetimes is None or not recording.ops:
        return None
    activations = Activations(recording, code_of)
    bindings = Bindings(recording, recording.lifetimes, activations).found
    names = DimensionNames(recording, activations, bindings)
    return _Writer(recording, recording.lifetimes, activations, bindings, names, profile).timeline()


class _Writer:
    def __init__(
        self,
        recording: Recording,
        lifetimes: Lifetimes,
        activations: Activations,
        bindings: list[TensorBinding],
        names: DimensionNames,
        profile: Profile,
    ) -> None:
        self._recording = recording
        self._lifetimes = lifetimes
        self._activations = activations
        self._bindings = bindings
        self._dimensions = names
        self._profile = profile
        self._sticks = StickFlow(recording, profile, attention_calls(recording.ops))
        self._layouts: dict[int, DeviceLayout] = {}
        self._layout_numbers: dict[object, int] = {}
        self._places: dict[Location, int] = {}
        self._tensors: dict[int, TimelineTensor] = {}
        self._numbers: dict[int, int] = {}
        self._storages: dict[int, TimelineStorage] = {}
        self._storage_numbers: dict[int, int] = {}
        self._first_in: dict[int, int] = {}
        self._symbols: dict[str, int] = {}

    def timeline(self) -> TensorTimeline:
        ops = self._recording.ops
        for op in ops:
            for meta in op.inputs:
                self._meet(meta, op, made=False)
                self._tensors[meta.value].reads.append(op.index)
            for meta in op.outputs:
                self._meet(meta, op, made=True)
        op_places = [self._place(path[-1].location) if path else -1 for path in self._activations.paths]
        modules = {op.module: None for op in ops}
        numbers = {module: number for number, module in enumerate(modules)}
        return TensorTimeline(
            operations=len(ops),
            places=list(self._places),
            op_places=op_places,
            op_statements=innermost_runs(self._activations.runs, len(ops)),
            storages=list(self._storages.values()),
            tensors=list(self._tensors.values()),
            calls=[_call(call) for call in self._activations.calls],
            statements=[_statement(run) for run in self._activations.runs],
            names=[self._name(binding) for binding in self._bindings if binding.value in self._numbers],
            symbols=self._symbols,
            accelerator=self._profile.name if self._layouts else "",
            layouts=list(self._layouts.values()),
            modules=list(modules),
            op_modules=[numbers[op.module] for op in ops],
        )

    def _meet(self, meta: TensorMeta, op: Op, *, made: bool) -> None:
        if meta.value in self._tensors:
            return
        origin = None if made else self._origin(meta)
        kind = "activation" if origin is None else origin.kind
        # Constants that nothing holds, such as those of an index, are made where they are first used.
        before = origin is not None and (kind in _OUTSIDE or origin.name != "")
        storage = self._storage(meta, -1 if before else op.index, kind)
        self._numbers[meta.value] = number = len(self._tensors)
        base = self._first_in.setdefault(meta.storage, number)
        ends = self._lifetimes.values
        sizes = [_number(size) for size in meta.shape]
        stick = self._sticks.stick_of(meta)
        self._note_symbols(meta.shape)
        self._tensors[meta.value] = TimelineTensor(
            storage=storage,
            kind=kind,
            name="" if origin is None else origin.name,
            shape=[_plain(size) for size in meta.shape],
            stride=[_plain(size) for size in meta.stride],
            sizes=[size for size in sizes if size is not None] if None not in sizes else [],
            dims=list(self._dimensions.of(meta)),
            dtype=meta.dtype,
            device=meta.device,
            element_bytes=meta.element_bytes,
            order=_order(meta),
            requires_grad=meta.requires_grad,
            made=op.index if made else -1,
            end=self._after if kind in _OUTSIDE else self._clipped(ends.get(meta.value)),
            base=-1 if base == number else base,
            declared=self._declared(origin),
            reads=[],
            stick=-1 if stick is None else stick,
            layout=self._own_layout(meta),
        )

    def _own_layout(self, meta: TensorMeta) -> int:
        """The number of the layout that the accelerator's own code gives it; -1 where it has none."""
        sizes = [size for size in map(_number, meta.shape) if size is not None]
        strides = [step for step in map(_number, meta.stride) if step is not None]
        if len(sizes) != len(meta.shape) or len(strides) != len(meta.stride):
            return -1
        key = (*sizes, None, *strides, meta.dtype)
        known = self._layout_numbers.get(key)
        if known is None:
            layout = self._profile.own_layout(sizes, strides, meta.dtype, meta.element_bytes)
            known = self._layout_numbers[key] = -1 if layout is None else len(self._layouts)
            if layout is not None:
                self._layouts[known] = layout
        return known

    def _origin(self, meta: TensorMeta) -> Origin:
        return self._recording.origins.get(meta.value) or Origin("constant", "", (), meta)

    def _declared(self, origin: Origin | None) -> int:
        frames = () if origin is None else origin.frames
        return next((self._place(frame.location) for frame in frames if frame.in_project), -1)

    def _storage(self, meta: TensorMeta, first: int, kind: str) -> int:
        known = self._storage_numbers.get(meta.storage)
        if known is None:
            known = self._storage_numbers[meta.storage] = len(self._storages)
            end = self._after if kind in _OUTSIDE else self._clipped(self._lifetimes.storages.get(meta.storage))
            size = meta.storage_bytes
            self._storages[known] = TimelineStorage(_number(size) or at_least(size), isinstance(size, int), first, end)
        return known

    @property
    def _after(self) -> int:
        """The end of what outlives the run."""
        return len(self._recording.ops) + 1

    def _clipped(self, end: int | None) -> int:
        """What lived when the last op had run is a result: nothing of the user's reads it, and the caller may."""
        return self._after if end is None or end >= len(self._recording.ops) else end

    def _note_symbols(self, sizes: tuple[Size, ...]) -> None:
        for size in sizes:
            if isinstance(size, SymbolicSize) and size.example is not None and size.expression.isidentifier():
                self._symbols.setdefault(size.expression, size.example)

    def _place(self, location: Location) -> int:
        return self._places.setdefault(location, len(self._places))

    def _name(self, binding: TensorBinding) -> TimelineName:
        last = self._activations.calls[binding.call].last
        until = last if binding.until is None else binding.until
        return TimelineName(binding.call, binding.name, self._numbers[binding.value], binding.since, until)


def _call(call: FunctionRun) -> TimelineCall:
    location = call.frame.location
    node, line = call.function, location.range.start.line
    return TimelineCall(
        caller=call.caller,
        path=location.path,
        function=call.frame.function,
        module=call.module.path if call.module is not None else "",
        start_line=line if node is None else node.lineno - 1,
        end_line=line if node is None else (node.end_lineno or node.lineno) - 1,
        first=call.first,
        last=call.last,
    )


def _statement(run: StatementRun) -> TimelineStatement:
    span = run.frame.location.range
    start, end = (span.start.line, span.end.line) if run.statement is None else (run.statement.start, run.statement.end)
    return TimelineStatement(run.call, start, end, run.first, run.last)


def _plain(size: Size) -> int | str:
    return size if isinstance(size, int) else str(size)


def _number(size: Size) -> int | None:
    return size if isinstance(size, int) else size.example


def _order(meta: TensorMeta) -> str:
    """How the elements of a tensor lie in its memory."""
    sizes, strides = [_number(size) for size in meta.shape], [_number(step) for step in meta.stride]
    expected = 1
    for size, step in reversed(list(zip(sizes, strides, strict=True))):
        if size != 1 and step != expected:
            break
        expected *= size or 0
    else:
        return "contiguous"
    if meta.dense:
        return "channels last"
    spread = any(step == 0 and size != 1 for size, step in zip(sizes, strides, strict=True))
    return "broadcast" if spread else "strided"
