"""Whether compiled instances of one class are more than torch makes versions of a function.

Instances share the code of `forward`, and torch counts its versions by code: each target alone is compiled well, and in
the program the last ones run eagerly. All of them are compiled in turn here, as the program does, without a reset in
between. Only as many as are needed to reach torch's limit, so that a program with few instances pays nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from inductor_debug_schema import Finding, InstanceVersions, Severity, Stage
from torch.fx import GraphModule

from inductor_debug.capture.dynamo.dynamo_breaks import RawLimit, listen
from inductor_debug.capture.running.modules import Snapshot
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.capture.targets.candidates import CandidateOrigin


def too_many_instances(
    targets: Sequence[BuiltTarget], around: Callable[[], AbstractContextManager[Any]]
) -> list[Finding]:
    """A `recompile` finding for each class with more compiled instances than torch compiles versions of one function.

    Args:
        targets: all that a file offers.
        around: what surrounds runs of compiled code.
    """
    limit = getattr(torch._dynamo.config, "recompile_limit", None)
    if not isinstance(limit, int):
        return []
    groups: dict[Any, list[BuiltTarget]] = {}
    for target in targets:
        if target.origin == CandidateOrigin.COMPILE.value and target.module is target.function:
            groups.setdefault(foreign.code_of(type(target.module).forward), []).append(target)
    many = [group for group in groups.values() if len(group) > limit]
    return [_finding(group, limit) for group in many if _reach_the_limit(group[: limit + 1], around)]


def _reach_the_limit(group: Sequence[BuiltTarget], around: Callable[[], AbstractContextManager[Any]]) -> bool:
    """Whether torch gives up on the function when all of the targets are compiled in turn."""
    limits: list[RawLimit] = []
    snapshots = [Snapshot(target) for target in group]
    ambient = group[0].fake_mode or contextlib.nullcontext()
    torch._dynamo.reset()
    try:
        with around(), quiet(), listen(lambda raw: None, limits.append), ambient:
            for target in group:
                compiled = torch.compile(target.function, backend=_as_it_is, dynamic=target.dynamic)
                compiled(*target.args, **target.kwargs)
    except (Exception, SystemExit):
        pass  # what the models raise their own stages tell
    finally:
        torch._dynamo.reset()
        for snapshot in snapshots:
            snapshot.restore()
    return bool(limits)


def _as_it_is(graph_module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
    return graph_module.forward


def _finding(group: Sequence[BuiltTarget], limit: int) -> Finding:
    kind = type(group[0].module).__name__
    place = group[0].location
    message = (
        f"{len(group)} instances of `{kind}` are compiled, each as one more version of `{kind}.forward`: torch makes "
        f"{limit} versions of a function (`torch._dynamo.config.recompile_limit`) and runs the others eagerly. "
        "Compile the function that calls them all, or raise the limit."
    )
    return Finding(
        "recompile",
        Severity.WARNING,
        message,
        place.path,
        place.range,
        Stage.MOCK,
        target=group[0].name,
        count=len(group),
        facts=InstanceVersions(kind, len(group), limit),
    )
