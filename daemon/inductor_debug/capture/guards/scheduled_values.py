"""What a program has somebody else change between its calls: the rate of an optimizer, which a scheduler lowers.

Torch's own step reads it, so that no expression of the user's relies on it; but the file knows the optimizer by a name,
and calls `step()` of what holds it. That call is where the state is changed.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from inductor_debug_schema import StateHolder

from inductor_debug.capture.expressions.instruction_expressions import SourcePositions
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.guards.changing_state import StateSeen
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime import foreign
from inductor_debug.rules.recording.ops import Frame

_SELF = "L['self']"
_HELD_AS = "optimizer"
"""What schedulers, torch's and others', call the optimizer whose rate they change."""


def scheduled(
    state: StateSeen, source: str, scope: dict[str, Any], target: BuiltTarget, sources: SourceMap
) -> tuple[StateSeen, Frame] | None:
    """The state as the file calls it, and the call that changes it; None where the file shows neither.

    Args:
        state: what torch's own code reads of its object.
        source: how torch reaches it.
        scope: what torch evaluates that in.
        target: whose file is looked at.
        sources: turns places into frames.
    """
    owner = _owner(scope)
    if state.holder is not StateHolder.ATTRIBUTE or not source.startswith(_SELF) or owner is None:
        return None
    path, names = target.location.path, _globals(target)
    called = next((name for name, value in names.items() if value is owner), None)
    tree = sources.tree(path)
    if called is None or tree is None:
        return None
    changing = {name for name, value in names.items() if foreign.attribute(value, _HELD_AS) is owner}
    for node in ast.walk(tree):
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(function, ast.Attribute) and function.attr == "step" and ast.unparse(function.value) in changing:
            assert isinstance(node, ast.Call)
            place = SourcePositions(node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
            frame = sources.frame_from_positions(path, "", place)
            if frame is not None:
                return replace(state, name=called + state.name.removeprefix("self")), frame
    return None


def _owner(scope: dict[str, Any]) -> Any:
    local = scope.get("L")
    return local.get("self") if isinstance(local, dict) else None


def _globals(target: BuiltTarget) -> dict[str, Any]:
    names = foreign.globals_of(target.function)
    return names if names else foreign.globals_of(foreign.namespace(type(target.module)).get("forward"))
