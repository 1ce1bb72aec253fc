"""What a search for the smallest program ends with: a program that fails, or the news that nothing fails any more."""

from __future__ import annotations

from dataclasses import dataclass

from inductor_debug.repro.minimiser.oracle import OracleVerdict
from inductor_debug.repro.program.program import Program

CONFIRMATIONS = 3
"""Times that a program is tried before its failure is called flaky."""
GONE_AFTER = 8
"""Times that the whole program is tried before its failure is called gone: it was there once."""


class GoneError(Exception):
    """The whole program does not fail (any more)."""


@dataclass(frozen=True)
class Minimised:
    """The smallest program found.

    `for_nodes` are those of the `attempts` after which no step was left to take away; `flaky` is how often of how many
    times the whole failed, where not always. `neighbour` says in words what the smallest change is that makes the
    failure go. `finished` is False where time ran out.
    """

    program: Program
    attempts: int
    for_nodes: int
    neighbour: str
    verdict: OracleVerdict
    flaky: tuple[int, int] | None = None
    finished: bool = True
