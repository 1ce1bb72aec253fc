"""Recordings as programs: every recorded operation becomes a step, without a tensor being touched.

What the recorder noted of arguments and results is all there is to it, so values are made anew by seeded constructors;
that is enough for whatever only looks at metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from inductor_debug.capture.tensors.memory_spans import span
from inductor_debug.repro.program.program import CodeText, Input, Program, ProgramStep, Ref, Spec, StepKind
from inductor_debug.repro.program.symbol_numbers import SymbolNumbers
from inductor_debug.repro.program.value_names import ValueNames
from inductor_debug.rules.recording.ops import Frame, Op, Origin, Recording, TensorArgument, TensorMeta
from inductor_debug.source.notebooks.reading import place_in_words

_DTYPES = {str(value).removeprefix("torch.") for value in vars(torch).values() if isinstance(value, torch.dtype)}
_LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "_mkldnn", "jagged")
_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
_DEVICE = re.compile(r"^(cpu|cuda|mps|xpu|hpu|npu|mtia|ipu|meta|privateuseone)(:\d+)?$")


@dataclass(frozen=True)
class Recorded:
    """A recording as a program; step `i` is op `i`. `symbols` are the numbers that symbolic sizes were given."""

    program: Program
    names: dict[int, str]
    symbols: dict[str, int]


def program_of(recording: Recording) -> Recorded:
    """The whole recording."""
    return _Conversion(recording).run()


class _Conversion:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._symbols = SymbolNumbers(recording)
        self._taken = ValueNames()
        self._names: dict[int, str] = {}
        self._inputs: list[Input] = []
        self._storages: dict[int, tuple[str, TensorMeta]] = {}

    def run(self) -> Recorded:
        steps = [self._step(op) for op in self._recording.ops]
        read = {name for step in steps for name in step.uses()}
        outputs = [name for step in steps for name in step.outputs if name and name not in read]
        return Recorded(Program(tuple(self._inputs), tuple(steps), tuple(outputs)), self._names, self._symbols.chosen)

    def _step(self, op: Op) -> ProgramStep:
        given = [self._read(meta, op) for meta in op.inputs]
        args, kwargs = self._arguments(op, given)
        written = tuple(self._names[value] for value in op.mutates if value in self._names)
        names = [self._bound(meta, op) for meta in op.outputs]
        indexes, single = _returns(op)
        return ProgramStep(
            kind=StepKind.OPERATOR,
            target=op.overload,
            args=args,
            kwargs=kwargs,
            outputs=tuple(names),
            specs=tuple(self._spec(meta) for meta in op.outputs),
            single=single,
            indexes=indexes,
            mutates=written,
            place=_place(op.frames),
            module=op.module,
        )

    def _read(self, meta: TensorMeta, op: Op) -> str:
        known = self._names.get(meta.value)
        if known is not None:
            return known
        origin = self._recording.origins.get(meta.value)
        name = self._names[meta.value] = self._taken.take(_wanted(origin))
        base, first = self._storages.setdefault(meta.storage, (name, meta))
        spec, whole = self._spec(meta), self._spec(first)
        fits = span(spec.shape, spec.stride) <= span(whole.shape, whole.stride)
        shared = base if base != name and first.dtype == meta.dtype and fits else ""
        bound = self._bound_of(meta, op)
        self._inputs.append(Input(name, spec, bound=bound, origin=_told(origin), source=name, base=shared))
        return name

    def _bound(self, meta: TensorMeta, op: Op) -> str:
        known = self._names.get(meta.value)
        if known is None:
            known = self._names[meta.value] = self._taken.take(op.packet.rsplit(".", 1)[-1].strip("_") or "value")
        return known

    def _bound_of(self, meta: TensorMeta, op: Op) -> int:
        """Whole numbers are often positions in another operand: below its smallest size is always inside."""
        sizes = [self._symbols.number(size) for other in op.inputs if other is not meta for size in other.shape]
        return max(1, min([size for size in sizes if size > 0] or [2], default=2))

    def _spec(self, meta: TensorMeta) -> Spec:
        number = self._symbols.number
        return Spec(tuple(map(number, meta.shape)), tuple(map(number, meta.stride)), meta.dtype, meta.device)

    def _arguments(self, op: Op, given: list[str]) -> tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]]:
        """Positional arguments as far as the schema allows, and keywords; what equals its default is left out."""
        args: list[Any] = []
        kwargs: list[tuple[str, Any]] = []
        positional = True
        for name, default, keyword_only in _schema(op):
            if name not in op.arguments:
                positional = False
                continue
            value = self._value(op.arguments[name], given)
            if default is not _REQUIRED and _same(op.arguments[name], default):
                positional = False
            elif positional and not keyword_only:
                args.append(value)
            else:
                kwargs.append((name, value))
        return tuple(args), tuple(kwargs)

    def _value(self, value: Any, given: list[str]) -> Any:
        if isinstance(value, TensorArgument):
            return Ref(given[value.index])
        if isinstance(value, list):
            return [self._value(item, given) for item in value]
        if isinstance(value, str):
            return _code(value)
        return self._symbols.number(value)


_REQUIRED = object()


def _schema(op: Op) -> Iterator[tuple[str, Any, bool]]:
    """Name, default and whether it is keyword-only, for each argument; without a schema, all as they were given."""
    function = operator(op.overload)
    if function is None:
        yield from ((name, _REQUIRED, True) for name in op.arguments)
        return
    for argument in function._schema.arguments:
        default = argument.default_value if argument.has_default_value() else _REQUIRED
        yield argument.name, default, bool(argument.kwarg_only)


def operator(overload: str) -> Any:
    """The overload of that name in `torch.ops`, or None."""
    namespace, _, rest = overload.partition(".")
    packet, _, name = rest.rpartition(".")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), packet), name)
    except (AttributeError, RuntimeError):
        return None


def _returns(op: Op) -> tuple[tuple[int, ...], bool]:
    function = operator(op.overload)
    returns = [] if function is None else list(function._schema.returns)
    if len(returns) == 1 and str(returns[0].type) == "Tensor":
        return (0,), True
    tensors = [index for index, item in enumerate(returns) if str(item.type) == "Tensor"]
    if len(returns) > 1 and len(tensors) >= len(op.outputs):
        return tuple(tensors[: len(op.outputs)]), False
    return tuple(range(len(op.outputs))), False


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, (TensorArgument, list)):
        return isinstance(default, (list, tuple)) and list(default) == value
    return type(value) is type(default) and bool(value == default)


def _code(text: str) -> Any:
    """A dtype, layout, memory format or device as the recorder writes it, or a plain string."""
    if text in _DTYPES or text in _LAYOUTS or text in _FORMATS:
        return CodeText(f"torch.{text}")
    if _DEVICE.match(text):
        return CodeText(f'torch.device("{text}")')
    return text


def _wanted(origin: Origin | None) -> str:
    if origin is None or not origin.name:
        return "tensor" if origin is None or origin.kind != "constant" else "constant"
    return origin.name


def _told(origin: Origin | None) -> str:
    return f"{origin.kind} {origin.name}".strip() if origin is not None else ""


def _place(frames: tuple[Frame, ...]) -> str:
    """`model.py:12`, of the innermost frame in the project."""
    for frame in frames:
        if frame.in_project:
            path = frame.location.path
            return place_in_words(path.replace("\\", "/").rsplit("/", 1)[-1], path, frame.location.range.start.line)
    return ""
