"""The accelerator `spyre` where `torch_spyre` is installed: what that package says replaces what this tool has read.

Read are names of torch-spyre as it was in September 2026, which are no public interface: the operators that its back
end computes in each dtype, those that it leaves to the CPU, those that it takes apart or lowers, the conversions that
the device does, elements in a stick, cores and the span of one. What is not there, or cannot be imported, is left as it
comes with this tool; what differs is told. No device is asked, but importing the package may start its runtime, so this
happens where models run, and only for whoever chose the accelerator.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

from inductor_debug.accelerators.adapter import AcceleratorAdapter, AcceleratorCapabilities, capabilities
from inductor_debug.accelerators.execution import Execution, RunsOn
from inductor_debug.accelerators.number_formats import number_format

PACKAGE = "torch_spyre"
Reader = Callable[[AcceleratorCapabilities, ModuleType], AcceleratorCapabilities]
"""Puts what a module says into a profile; raises what it likes where the module is not as expected."""
_FP32_PATTERNS: dict[str, tuple[str, ...]] = {
    "add": ("aten.add",), "sub": ("aten.sub",), "mul": ("aten.mul",), "where3": ("aten.where*",),
    "realdiv": ("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide"), "relufwd": ("aten.relu",),
    "reciprocal": ("aten.reciprocal",), "mean": ("aten.mean",), "sum": ("aten.sum",), "max": ("aten.max", "aten.amax"),
    "min": ("aten.min", "aten.amin"), "abs": ("aten.abs",), "neg": ("aten.neg",), "exp": ("aten.exp",),
    "sigmoid": ("aten.sigmoid",), "silu": ("aten.silu",), "layernormnorm": ("aten.native_layer_norm",),
    "sqrt": ("aten.sqrt",), "rsqrt": ("aten.rsqrt",), "topkvalue": ("aten.topk",), "floor": ("aten.floor",),
    "maximum": ("aten.maximum",), "minimum": ("aten.minimum",), "clip": ("aten.clamp*",), "greaterthan": ("aten.gt",),
    "greaterequal": ("aten.ge",), "lesserthan": ("aten.lt",), "lesserequal": ("aten.le",), "equal": ("aten.eq",),
    "notequal": ("aten.ne",), "prod": ("aten.prod.dim_int",), "batchmatmul": ("aten.mm", "aten.bmm", "aten.matmul"),
    "tanh": ("aten.tanh",), "log": ("aten.log",), "gelufwd": ("aten.gelu",), "softplus": ("aten.softplus",),
}  # fmt: skip
"""Operators of its back end in single precision, as ATen calls them; some only serve others and have no name there."""
_INT32_PATTERNS: dict[str, tuple[str, ...]] = {"addi32toi32": ("aten.add",), "muli32toi32": ("aten.mul",)}


class TorchSpyre(AcceleratorAdapter):
    """IBM Spyre as the `torch_spyre` that is installed here describes it."""

    @property
    def capabilities(self) -> AcceleratorCapabilities:
        """What comes with this tool, with all that the package says in its place."""
        ours = capabilities("spyre")
        try:
            importlib.import_module(PACKAGE)
        except Exception as error:
            problem = f"{PACKAGE} is installed and could not be read: {type(error).__name__}: {error}"
            return dataclasses.replace(ours, differences=(problem,))
        found = ours
        for name, reader in _READERS.items():
            found = _read(found, name, reader)
        return dataclasses.replace(found, differences=(*found.differences, *_differences(ours, found)))


def _read(profile: AcceleratorCapabilities, name: str, reader: Reader) -> AcceleratorCapabilities:
    """The profile with what one module says; where that cannot be read, as it was, and that is told."""
    try:
        return reader(profile, importlib.import_module(f"{PACKAGE}.{name}"))
    except Exception as error:
        told = f"{PACKAGE}.{name} could not be read: {type(error).__name__}: {error}"
        return dataclasses.replace(profile, differences=(*profile.differences, told))


def _computing(profile: AcceleratorCapabilities, constants: ModuleType) -> AcceleratorCapabilities:
    """The operators that compute in some dtypes, and whether its 16-bit numbers reach as far as ours."""
    execution = _execution(profile)
    computes = dict(execution.computes)
    for dtype, names, table in (
        ("float32", constants.SPYRE_FP32_OPS, _FP32_PATTERNS),
        ("int32", getattr(constants, "SPYRE_INT32_OPS", _INT32_PATTERNS), _INT32_PATTERNS),
    ):
        known = {pattern for patterns in table.values() for pattern in patterns}
        said = [pattern for name, patterns in table.items() if name in names for pattern in patterns]
        computes[dtype] = (*said, *(pattern for pattern in computes.get(dtype, ()) if pattern not in known))
    found = dataclasses.replace(profile, execution=dataclasses.replace(execution, computes=computes))
    largest = getattr(constants, "DLFLOAT16_MAX", None)
    assumed = None if profile.arithmetic is None else number_format(profile.arithmetic.compute).largest
    if largest in (None, assumed):
        return found
    told = f"the largest number of 16 bits is {largest:g}, and {assumed:g} in emulation"
    return dataclasses.replace(found, differences=(*found.differences, told))


def _left_to_the_host(profile: AcceleratorCapabilities, fallbacks: ModuleType) -> AcceleratorCapabilities:
    """The operators that it runs on the CPU, beside those of ours of which other modules of it tell."""
    execution = _execution(profile)
    said = sorted({name for name in _overloads(fallbacks.fallback_ops) if execution.place_of(name) is not RunsOn.CPU})
    return dataclasses.replace(profile, execution=dataclasses.replace(execution, cpu=(*execution.cpu, *said)))


def _compiled(table: str) -> Reader:
    """Reads a table of what its compiler takes apart or lowers, by operator."""

    def read(profile: AcceleratorCapabilities, module: ModuleType) -> AcceleratorCapabilities:
        operators = getattr(module, table)
        host = set(_overloads(importlib.import_module(f"{PACKAGE}.ops.fallbacks").fallback_ops))
        execution = _execution(profile)
        # What it registers for the CPU it takes out of its decompositions again.
        said = [name for name in _overloads(operators) if name not in host]
        moved = {name for name in said if execution.place_of(name) is RunsOn.CPU and _listed(execution.cpu, name)}
        new = [name for name in said if execution.place_of(name) is RunsOn.UNKNOWN or name in moved]
        cpu = tuple(pattern for pattern in execution.cpu if not any(_listed((pattern,), name) for name in moved))
        compiled = (*execution.compiled, *sorted(set(new)))
        return dataclasses.replace(profile, execution=dataclasses.replace(execution, cpu=cpu, compiled=compiled))

    return read


def _converting(profile: AcceleratorCapabilities, dtype_ops: ModuleType) -> AcceleratorCapabilities:
    """The conversions that the device does; dtypes that are one dtype there need none."""
    torch = importlib.import_module("torch")
    table = dtype_ops.DtypeOpTable
    names = sorted({*profile.dtypes, *profile.stored_as})
    conversions = {
        source: frozenset(
            target
            for target in names
            if source != target
            and (
                _stored(profile, source) == _stored(profile, target)
                or table.is_supported(getattr(torch, source), getattr(torch, target))
            )
        )
        for source in names
    }
    found = {source: targets for source, targets in conversions.items() if targets}
    return dataclasses.replace(profile, execution=dataclasses.replace(_execution(profile), conversions=found))


def _widths(profile: AcceleratorCapabilities, native: ModuleType) -> AcceleratorCapabilities:
    """How many bytes an element of each dtype takes there."""
    torch = importlib.import_module("torch")
    stick = profile.stick_bytes or 0
    widths = dict(profile.element_bytes)
    for name in sorted(profile.dtypes):
        host = int(getattr(torch, name).itemsize)
        width = stick // int(native.get_elem_in_stick(getattr(torch, name)))
        if width != profile.device_bytes(name, host):
            widths[name] = width
    return dataclasses.replace(profile, element_bytes=widths)


def _cores(profile: AcceleratorCapabilities, config: ModuleType) -> AcceleratorCapabilities:
    return dataclasses.replace(profile, cores=int(config.sencores))


def _span(profile: AcceleratorCapabilities, work_division: ModuleType) -> AcceleratorCapabilities:
    return dataclasses.replace(profile, span_bytes=int(work_division.MAX_SPAN_BYTES))


_READERS: dict[str, Reader] = {
    "_inductor.constants": _computing,
    "ops.fallbacks": _left_to_the_host,
    "_inductor.decompositions": _compiled("spyre_decompositions"),
    "_inductor.lowering": _compiled("spyre_lowerings"),
    "_inductor.dtype_ops": _converting,
    "_inductor.config": _cores,
    "_inductor.work_division": _span,
    "_C": _widths,
}
"""Its modules, and what each says."""


def _execution(profile: AcceleratorCapabilities) -> Execution:
    return profile.execution or Execution()


def _stored(profile: AcceleratorCapabilities, dtype: str) -> str:
    stored = profile.stored_as.get(dtype)
    return dtype if stored is None else stored.dtype


def _overloads(operators: Iterable[Any]) -> Iterator[str]:
    """The names of ATen's operators among overloads, packets and names; `out=` variants serve no compiler."""
    for operator in operators:
        name = str(operator).replace("::", ".")
        overload = name if name.count(".") > 1 else f"{name}.default"
        if overload.startswith("aten.") and not overload.endswith("out"):
            yield overload


def _listed(patterns: tuple[str, ...], overload: str) -> bool:
    return Execution(cpu=patterns).place_of(overload) is RunsOn.CPU


def _differences(ours: AcceleratorCapabilities, found: AcceleratorCapabilities) -> list[str]:
    """What the package says otherwise, a sentence for each operator, conversion and number."""
    before, after = _execution(ours), _execution(found)
    listed = {*before.cpu, *before.compiled, *after.cpu, *after.compiled}
    places = [
        f"{name} runs {'on the CPU' if after.place_of(name) is RunsOn.CPU else 'on the device'}"
        for name in sorted({name if name.count(".") > 1 else f"{name}.default" for name in listed if "*" not in name})
        if before.place_of(name) is not after.place_of(name)
    ]
    computing = [
        f"{name} {'computes' if here else 'does not compute'} in {dtype}"
        for dtype in sorted({*before.computes, *after.computes})
        for name, here in _changes(before.computes.get(dtype, ()), after.computes.get(dtype, ()))
    ]
    converting = [
        f"the device {'converts' if here else 'does not convert'} {source} to {target}"
        for source in sorted({*before.conversions, *after.conversions})
        for target, here in _changes(before.conversions.get(source, ()), after.conversions.get(source, ()))
    ]
    widths = [
        f"{dtype} takes {count} bytes an element"
        for dtype, count in found.element_bytes.items()
        if ours.element_bytes.get(dtype) != count
    ]
    numbers = [
        f"{what}: {now}, and not {was}"
        for what, was, now in (
            ("cores", ours.cores, found.cores),
            ("bytes that a core reaches", ours.span_bytes, found.span_bytes),
        )
        if was != now
    ]
    return [*places, *computing, *converting, *widths, *numbers]


def _changes(before: Iterable[str], after: Iterable[str]) -> list[tuple[str, bool]]:
    """The names that only one of the two has, and whether it is the later one."""
    was, now = {*before}, {*after}
    return [(name, name in now) for name in sorted(was ^ now)]
