"""Where Dynamo's graphs do something else than the code says: the first line that runs other operations in them.

Nothing is compared by value: both sides are recorded operation by operation, and each knows its line. It is asked only
when Dynamo's graphs are known to compute something else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inductor_debug_schema import Location

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.stages.mock import run_mock
from inductor_debug.repro.kinds.observing import observe
from inductor_debug.rules.recording.ops import Op, TensorArgument

_Done = tuple[str, str]
"""An operation's name, and what it is told besides tensors."""


@dataclass(frozen=True)
class Departure:
    """An operation of the user's code that Dynamo's graphs have not, and what they have in its place."""

    op: str
    instead: str
    place: Location

    @property
    def words(self) -> str:
        """One sentence for people."""
        return f"The code runs {self.op} there, and Dynamo's graph {self.instead or 'does not'}."


def departure(target: BuiltTarget, sources: SourceMap) -> Departure | None:
    """The first line of the user's where the graphs differ; None where each line runs the same operations."""
    code = _by_line(observe(target, sources).recording.ops)
    graphs = _by_line(run_mock(target, sources).recording.ops)
    for line, (place, done) in code.items():
        _, other = graphs.get(line, (place, []))
        missing = [item for item in done if item not in other]
        added = [item for item in other if item not in done]
        if missing or added:
            first = (missing or added)[0]
            return Departure(first[0] if missing else done[0][0], _told(added, first), place)
    return None


def _told(added: list[_Done], missing: _Done) -> str:
    if not added:
        return ""
    name, given = added[0]
    return name if name != missing[0] else f"{name} with {given}"


def _by_line(ops: Iterable[Op]) -> dict[tuple[str, int], tuple[Location, list[_Done]]]:
    """What each line computes, in the order in which lines first do. Views compute nothing."""
    found: dict[tuple[str, int], tuple[Location, list[_Done]]] = {}
    for op in ops:
        place = next((frame.location for frame in op.frames if frame.in_project), None)
        if place is None or op.is_view or op.autograd_node:
            continue
        given = {name: value for name, value in op.arguments.items() if not _has_tensor(value)}
        _, done = found.setdefault((place.path, place.range.start.line), (place, []))
        done.append((op.overload, ", ".join(f"{name}={value}" for name, value in given.items())))
    return found


def _has_tensor(value: object) -> bool:
    return isinstance(value, TensorArgument) or (isinstance(value, list) and any(map(_has_tensor, value)))
