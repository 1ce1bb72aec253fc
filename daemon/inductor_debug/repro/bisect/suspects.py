"""Which part of a compiler a climb suspects, from the rungs that went wrong and those that did not.

A part that a rung is right with is not at fault; of the others, one that several wrong rungs share is more likely than
one of a single rung. So a model that goes wrong with one of two backends that share their back end goes wrong in the
front end of that one, and one that goes wrong with both in the back end. Nothing runs here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inductor_debug.repro.bisect.bisection_result import TriedRung
from inductor_debug.repro.bisect.ladder import CompilerPart, State


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The part that is suspected, and all that could be told from it by no rung, itself among them."""

    part: CompilerPart
    alike: tuple[CompilerPart, ...]


def suspicion(guilty: TriedRung, tried: Sequence[TriedRung]) -> Suspicion:
    """What a rung went wrong in.

    Args:
        guilty: the rung; its last part is suspected where the others tell nothing of its parts: each adds to those
            before it.
        tried: all rungs that were climbed, `guilty` among them.
    """
    right = {part for each in tried if each.state is State.OK for part in each.rung.parts}
    alike_ended = [each for each in tried if each.state is guilty.state and not each.is_missing]
    open_to_doubt = [part for part in guilty.rung.parts if part not in right] or [guilty.rung.parts[-1]]
    shared = {part: sum(part in each.rung.parts for each in alike_ended) for part in open_to_doubt}
    most = max(shared.values())
    alike = tuple(part for part in open_to_doubt if shared[part] == most)
    return Suspicion(alike[-1], alike)
