"""Where an installed `torch_spyre` says something else than the profile `spyre`, which was written from its sources.

Read are its lists of operators by dtype, the largest number of its 16-bit format, and the operators that it leaves to
the CPU: names of torch-spyre of September 2026 that are no public interface. What is not there is left out. Importing
it may start a device's runtime, so only who asks for it does.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Iterable
from typing import Any

from inductor_debug.accelerators.capabilities import Profile
from inductor_debug.accelerators.execution import RunsOn
from inductor_debug.accelerators.number_formats import number_format

_BACKEND_NAMES = {
    "add": "add", "sub": "sub", "mul": "mul", "where3": "where.self", "realdiv": "div.Tensor", "relufwd": "relu",
    "reciprocal": "reciprocal", "mean": "mean", "sum": "sum", "max": "amax", "min": "amin", "abs": "abs", "neg": "neg",
    "exp": "exp", "sigmoid": "sigmoid", "silu": "silu", "layernormnorm": "native_layer_norm", "sqrt": "sqrt",
    "rsqrt": "rsqrt", "topkvalue": "topk", "floor": "floor", "maximum": "maximum", "minimum": "minimum",
    "clip": "clamp", "greaterthan": "gt", "greaterequal": "ge", "lesserthan": "lt", "lesserequal": "le", "equal": "eq",
    "notequal": "ne", "prod": "prod.dim_int", "batchmatmul": "bmm", "tanh": "tanh", "log": "log", "gelufwd": "gelu",
    "softplus": "softplus",
}  # fmt: skip
"""Operators of its back end, as ATen calls them."""


def differences(profile: Profile) -> list[str]:
    """Where the package that is installed here differs from the profile; empty where it is not installed.

    A package that cannot be imported, or that has none of the names, is told as one difference.
    """
    if importlib.util.find_spec("torch_spyre") is None:
        return []
    try:
        constants = importlib.import_module("torch_spyre._inductor.constants")
        fallbacks = importlib.import_module("torch_spyre.ops.fallbacks")
    except Exception as error:
        return [f"torch_spyre is installed and could not be read: {type(error).__name__}: {error}"]
    return [
        *_single_precision(profile, getattr(constants, "SPYRE_FP32_OPS", None)),
        *_largest(profile, getattr(constants, "DLFLOAT16_MAX", None)),
        *_fallbacks(profile, getattr(fallbacks, "fallback_ops", None)),
    ]


def _single_precision(profile: Profile, names: Any) -> list[str]:
    if names is None or profile.execution is None:
        return []
    found = []
    for backend, aten in _BACKEND_NAMES.items():
        here = profile.execution.cannot_compute(_overload(f"aten.{aten}"), "float32") is None
        if (backend in names) != here:
            does = "computes" if backend in names else "does not compute"
            found.append(f"aten.{aten} {does} in float32")
    return found


def _largest(profile: Profile, largest: Any) -> list[str]:
    if not isinstance(largest, (int, float)) or profile.arithmetic is None:
        return []
    ours = number_format(profile.arithmetic.compute).largest
    return [] if largest == ours else [f"the largest number of 16 bits is {largest:g}, not {ours:g}"]


def _fallbacks(profile: Profile, operators: Any) -> list[str]:
    if not isinstance(operators, Iterable) or profile.execution is None:
        return []
    overloads = {_overload(re.sub(r"^aten::", "aten.", str(each))) for each in operators}
    return [
        f"{overload} runs on the CPU"
        for overload in sorted(overloads)
        if overload.startswith("aten.")
        and not overload.endswith("out")
        and profile.execution.place_of(overload) in (RunsOn.DEVICE, RunsOn.COMPILED, RunsOn.UNKNOWN)
    ]


def _overload(name: str) -> str:
    return name if name.count(".") > 1 else f"{name}.default"
