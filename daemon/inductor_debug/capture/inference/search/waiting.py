"""The calls that wait to be tried: those that the furthest runs suggested first, the others in turn once these stall.

A call that comes further may lead nowhere (a tensor with one dimension too many passes one line more), while the right
one waits among what an earlier failure suggested. Runs nothing.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, field

from inductor_debug.capture.inference.search.trial import TrialOutcome
from inductor_debug.capture.inference.specs.specs import Guess

Rank = tuple[int, ...]
"""How far the run came that suggested a call: the lower, the further; the empty one is of what is tried first."""
_PATIENCE = 40
"""Runs after which what earlier failures suggested has its turns, where none came further."""
_TURNS = 3
"""Every how many runs, then."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call to be tried, the run that suggested it, and how unlikely it is among those of equal rank."""

    guess: Guess
    rank: Rank = ()
    cost: int = 0
    parent: TrialOutcome | None = None


@dataclass
class WaitingCalls:
    """All of them, and which were known before."""

    _heaps: dict[Rank, list[tuple[int, int, Waiting]]] = field(default_factory=dict)
    _ranks: dict[Guess, Rank] = field(default_factory=dict)
    _ran: set[Guess] = field(default_factory=set)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _stale: int = 0

    def takes(self, guess: Guess, rank: Rank) -> bool:
        """Whether a call is new, or is suggested by one that came further than what suggested it before."""
        known = self._ranks.get(guess)
        if guess in self._ran or (known is not None and known <= rank):
            return False
        self._ranks[guess] = rank
        return True

    def put(self, item: Waiting) -> None:
        """Adds a call that was taken."""
        heapq.heappush(self._heaps.setdefault(item.rank, []), (item.cost, next(self._numbers), item))

    def next(self) -> Waiting | None:
        """The call to try now; None where none waits."""
        while self._heaps:
            rank = self._turn()
            _, _, item = heapq.heappop(self._heaps[rank])
            if not self._heaps[rank]:
                del self._heaps[rank]
            if item.guess not in self._ran:
                self._ran.add(item.guess)
                self._stale += 1
                return item
        return None

    def came_further(self) -> None:
        """Says that the call which was given last came further than all before it."""
        self._stale = 0

    def _turn(self) -> Rank:
        """The rank whose likeliest call is next."""
        ranks = sorted(self._heaps)
        over = self._stale - _PATIENCE
        others = ranks[1:]
        return others[over // _TURNS % len(others)] if over > 0 and others and over % _TURNS == 0 else ranks[0]
