"""What torch's compiler calls the parts of its work, in words: the events of `dynamo_timed`, also in its traces.

The names were read in torch 2.11 to 2.14. One that is not known here is a part of what is around it, so a torch that
renames an event costs detail and never seconds.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_DYNAMO, _AOT, _INDUCTOR = "Dynamo", "AOTAutograd", "Inductor"
_NUMBERED = re.compile(r"_\d+$")
"""Dynamo begins again where it finds out late that it must; each attempt has its number."""


class Phase(NamedTuple):
    """A part of the compiler, and what it does."""

    part: str
    doing: str


_BUILDING = Phase(_INDUCTOR, "building kernels")
_EVENTS = {
    "dynamo": Phase(_DYNAMO, "before and after tracing"),
    "compile_attempt": Phase(_DYNAMO, "tracing the code"),
    "insert_deferred_runtime_asserts": Phase(_DYNAMO, "assertions about sizes"),
    "build_guards": Phase(_DYNAMO, "guards"),
    "_recursive_pre_grad_passes": Phase(_INDUCTOR, "passes before the gradients"),
    "backend_compile": Phase(_AOT, "around the graphs"),
    "create_aot_dispatcher_function": Phase(_AOT, "tracing operators, forward and backward"),
    "_recursive_joint_graph_passes": Phase(_INDUCTOR, "passes over forward and backward"),
    "min_cut_rematerialization_partition": Phase(_AOT, "splitting forward and backward"),
    "inductor_compile": Phase(_INDUCTOR, "before and after lowering"),
    "_recursive_post_grad_passes": Phase(_INDUCTOR, "passes before lowering"),
    "GraphLowering.run": Phase(_INDUCTOR, "lowering"),
    "Scheduler.__init__": Phase(_INDUCTOR, "scheduling and fusion"),
    "GraphLowering.codegen": Phase(_INDUCTOR, "writing the code"),
    "compile_file": _BUILDING,
    "async_compile.wait": _BUILDING,
}
PHASES = tuple(dict.fromkeys(_EVENTS.values()))
"""All phases, in the order in which they come."""


def phase_of(event: str) -> Phase | None:
    """The phase that an event begins; None where it is a part of the one around it."""
    return _EVENTS.get(_NUMBERED.sub("", event))
