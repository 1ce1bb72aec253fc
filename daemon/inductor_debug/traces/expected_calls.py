"""What a target is known to call, in the order in which it does, and how the calls of a trace are found in it.

A run makes the same calls in the same order each time. Calls that a trace has and nobody expects (an optimizer's), and
those that are expected and did not come (another device has another attention), are stepped over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from inductor_debug_schema import Location

from inductor_debug.traces.call_trees import HostCall

_AHEAD = 12
"""How many calls that did not come are stepped over."""


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """An operator as a trace names it (`aten::mm`) or a kernel, the expressions that it computes, and its bound."""

    name: str
    places: tuple[Location, ...]
    module: str = ""
    bound_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ExpectedRun:
    """The operators of a target's eager forward pass, and the kernels of each graph that Inductor makes of it."""

    operators: Sequence[ExpectedCall] = ()
    graphs: Sequence[Sequence[ExpectedCall]] = ()

    def graph_with(self, names: Iterable[str]) -> Sequence[ExpectedCall]:
        """The graph that calls most of `names`; empty where none calls any."""
        wanted = Counter(names)

        def common(graph: Sequence[ExpectedCall]) -> int:
            return (Counter(call.name for call in graph) & wanted).total()

        best = max(self.graphs, key=common, default=())
        return best if best and common(best) else ()

    def kernel(self, name: str) -> ExpectedCall | None:
        """The first call of a kernel, for traces that do not say of which graph it is."""
        return next((call for graph in self.graphs for call in graph if call.name == name), None)


@dataclass(slots=True)
class CallFollower:
    """Follows a run through what is expected, over and over."""

    expected: Sequence[ExpectedCall]
    _at: int = field(default=0)

    def waits_for(self, call: HostCall) -> bool:
        """Whether something that is expected soon runs within `call`, which itself is not."""
        soon = {self.expected[number].name for number in self._soon()}
        return call.event.name not in soon and any(inner.event.name in soon for inner in call.everything())

    def found(self, name: str) -> ExpectedCall | None:
        """What is expected under this name next; steps over what did not come."""
        for number in self._soon():
            if self.expected[number].name == name:
                self._at = (number + 1) % len(self.expected)
                return self.expected[number]
        return None

    def _soon(self) -> Iterator[int]:
        count = len(self.expected)
        return ((self._at + ahead) % count for ahead in range(min(_AHEAD, count)))
