"""What was seen of the calls that did not fit the graphs that were there: data of a run's, no findings yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from inductor_debug.capture.dynamo.specialisations import Specialised
from inductor_debug.capture.guards.changing_state import StateSeen
from inductor_debug.capture.guards.guard_checks import Broken
from inductor_debug.rules.recording.ops import Frame


@dataclass(frozen=True, slots=True)
class Failure:
    """A broken guard with the frames that made it, and the state that it is about, if any.

    `made` is the state, by its source, that is there now where nothing was.
    """

    broken: Broken
    frames: tuple[Frame, ...]
    graph: str
    state: StateSeen | None = None
    made: Mapping[str, StateSeen] = field(default_factory=dict)


@dataclass(slots=True)
class Recompile:
    """A call that fitted no version of a function; `inputs` is its number from 1, `closest` is of the best version."""

    function: str
    number: str
    inputs: int
    failures: list[Failure]
    closest: list[Failure]


@dataclass(slots=True)
class RecompilesSeen:
    """All of a run. `calls` is how many calls came after the first, `places` where each stands that the program makes.

    `specialised` are the sizes and numbers that became constants.
    """

    recompiles: list[Recompile]
    specialised: list[Specialised]
    calls: int
    places: list[tuple[Frame, ...]]

    def place_of(self, call: int) -> tuple[Frame, ...]:
        """Where the program makes a call, by its number from 1; nothing where it was not seen to."""
        return self.places[call - 2] if 2 <= call < len(self.places) + 2 else ()
