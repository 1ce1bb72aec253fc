"""`torch.compile` that runs again and again where once would do: in a loop, in a function, in `forward`.

What torch compiled for code it finds again, also for a function that was made anew from the same code; but not where
the function holds objects of a class of its own, or the code itself is another one. That is tried: the functions that
were made at one place are compiled in turn, and what is compiled anew for each of them is a warning. Elsewhere it is a
note: each of those calls makes and looks up what one could.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from inductor_debug_schema import Finding, Location, Recompilation, Severity, Stage
from torch.fx import GraphModule

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.running.modules import Snapshot
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.interception import CompiledCall
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.capture.runtime.reset_watch import ResetWatch
from inductor_debug.source.syntax_tree import tree_of

_MANY = 3
"""Times from which on the same is no coincidence: two models of one kind may be compiled by one helper."""
_TRIED = 3


def compiled_anew(
    offered: Sequence[CompiledCall], targets: Sequence[BuiltTarget], around: Callable[[], AbstractContextManager[Any]]
) -> list[Finding]:
    """A finding for each place at which a file compiles the same again and again while it is loaded.

    Args:
        offered: all that was given to `torch.compile`, in that order.
        targets: what became of it.
        around: what surrounds runs of compiled code.
    """
    groups: dict[tuple[Location, Any], list[CompiledCall]] = {}
    for call in offered:
        # Modules of one class are many models; functions of one code are one function that was made many times.
        if call.compiled_at and call.same[0] is not None and call.kwargs is not None:
            groups.setdefault((call.compiled_at[0].location, call.same), []).append(call)
    found = []
    again = False
    for (place, _), calls in groups.items():
        used = {call.called_at[0].location for call in calls if call.called_at}
        if len(calls) < _MANY or len(used) != 1:
            continue
        functions = {id(call.function) for call in calls}
        made = [target for target in targets if id(target.function) in functions]
        advice = "Compile it once, outside."
        if another := _differ([call.backend for call in calls]):
            # Torch takes what it has compiled with the backend that it was compiled with.
            effect = "each time with another object as its backend, so it is compiled each time"
            advice = "Make the backend once, and compile with it once, outside."
        elif again := len(made) >= _TRIED and _compiles_each(made[:_TRIED], around):
            effect = "and nothing that torch compiled before fits it, so it is compiled each time"
        else:
            effect = "though what torch compiles is the same each time"
        name = calls[0].name
        message = f"`{name}` is given to torch.compile {len(calls)} times here, {effect}. {advice}"
        found.append(_finding(message, name, place, again=another or again))
    return found


def thrown_away(resets: ResetWatch) -> list[Finding]:
    """A finding for each reset after which a script has the same compiled again and again."""
    return [
        _finding(
            f"What torch has compiled is thrown away here {count} times, and the same is compiled again each time. "
            "Reset once, before.",
            "",
            place,
            again=True,
        )
        for place, count in resets.repeated(_MANY).items()
    ]


def compiled_inside(offered: Sequence[CompiledCall], function: str, sources: SourceMap) -> list[Finding]:
    """A finding for each `torch.compile` that every call of a target runs.

    Args:
        offered: what a call of the target gave to `torch.compile`.
        function: the target's name.
        sources: the texts that ran.
    """
    places = {call.compiled_at[0].location: call.name for call in offered if call.compiled_at}
    return [
        _finding(
            f"`{name}` is given to torch.compile in every call of `{function}`. Compile it once, where it is made.",
            name,
            place,
            again=False,
        )
        for place, name in places.items()
        if not _is_kept(sources, place)
    ]


def _is_kept(sources: SourceMap, place: Location) -> bool:
    """Whether what `torch.compile` gives is stored where it outlives the call, so that it is not made again."""
    text = sources.text(place.path)
    try:
        tree = tree_of("\n".join(text.lines)) if text is not None else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.Return) and node.value is not None:
            around = sources.location_of(place.path, node).range.encloses(place.range)
            stored = isinstance(node, ast.Return) or any(not isinstance(each, ast.Name) for each in node.targets)
            if around and stored and isinstance(node.value, ast.Call) and not isinstance(node.value.func, ast.Call):
                return True
    return False


def _differ(backends: Sequence[Any]) -> bool:
    """Whether each call has a backend of its own, which torch tells from the others."""
    try:
        return all(map(callable, backends)) and not any(
            bool(one == other) for at, one in enumerate(backends) for other in backends[:at]
        )
    except Exception:
        return False  # an `__eq__` of the user's


def _compiles_each(targets: Sequence[BuiltTarget], around: Callable[[], AbstractContextManager[Any]]) -> bool:
    """Whether each of the targets is compiled anew, when all are compiled in turn."""
    graphs: list[int] = []
    current = 0

    def backend(graph_module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        graphs.append(current)
        return graph_module.forward

    snapshots = [Snapshot(target) for target in targets]
    ambient = targets[0].fake_mode or contextlib.nullcontext()
    torch._dynamo.reset()
    try:
        with around(), quiet(), ambient:
            for current, target in enumerate(targets):  # noqa: B007  # the backend reads it
                torch.compile(target.function, backend=backend, dynamic=target.dynamic)(*target.args, **target.kwargs)
    except (Exception, SystemExit):
        return False  # what they raise their own stages tell
    finally:
        torch._dynamo.reset()
        for snapshot in snapshots:
            snapshot.restore()
    return set(graphs) == set(range(len(targets)))


def _finding(message: str, name: str, place: Location, *, again: bool) -> Finding:
    return Finding(
        rule="recompile",
        severity=Severity.WARNING if again else Severity.INFORMATION,
        message=message,
        path=place.path,
        range=place.range,
        stage=Stage.MOCK,
        target=name,
        facts=Recompilation(name, given_up=False),
    )
