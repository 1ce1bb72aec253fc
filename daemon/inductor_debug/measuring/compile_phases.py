"""Where the time of a compilation went: Dynamo, AOTAutograd, Inductor, kernels, and the rest.

Reads the private `torch._dynamo.utils.compilation_time_metrics` (2.11 to 2.14), seconds by the name of a function, of
which some contain others. Where the names are gone, all of it is "rest".
"""

from __future__ import annotations

from collections.abc import Mapping

import torch._dynamo.utils as dynamo_utils

_FRAMES = "_compile.compile_inner"
_BACKENDS = "OutputGraph.call_user_compiler"
_BACKWARD = "backward._backward_impl"
_INDUCTOR = ("compile_fx_inner", "AOTAutogradCache.inductor_load")
_BUILDS = ("compile_file", "async_compile.wait")
"""Compilers of C++ and of Triton; what they do in other processes is waited for."""


def forget_phases() -> None:
    """What is told next is of what is compiled from now on."""
    known = getattr(dynamo_utils, "compilation_time_metrics", None)
    if known is not None:
        known.clear()


def phases_of(seconds: float) -> dict[str, float]:
    """The parts of `seconds`, which all that was compiled since `forget_phases` took."""
    known = getattr(dynamo_utils, "compilation_time_metrics", None) or {}
    return split_phases({name: sum(times) for name, times in known.items()}, seconds)


def split_phases(spent: Mapping[str, float], seconds: float) -> dict[str, float]:
    """The parts of `seconds`, from what each function of torch's spent with all that it called."""
    backends = spent.get(_BACKENDS, 0.0) + spent.get(_BACKWARD, 0.0)
    inductor = sum(spent.get(name, 0.0) for name in _INDUCTOR)
    kernels = max(spent.get(name, 0.0) for name in _BUILDS)
    parts = {
        "Dynamo": spent.get(_FRAMES, 0.0) - spent.get(_BACKENDS, 0.0),
        "AOTAutograd": backends - inductor,
        "Inductor": inductor - kernels,
        "kernels": kernels,
    }
    found = {name: round(part, 6) for name, part in parts.items() if part > 0}
    rest = seconds - sum(found.values())
    return {**found, "rest": round(rest, 6)} if rest > 0 else found
