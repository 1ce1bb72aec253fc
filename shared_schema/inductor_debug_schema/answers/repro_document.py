"""The `repro` document: the smallest script that shows a failure, and whether it was seen to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True, kw_only=True)
class ReproDocument:
    """A reproducer, or `why` there is none.

    `script` is the text in a worker's answer, and the path of the file that was kept in everybody else's. Nodes are
    those of the program before and after it was reduced. `neighbour` says what makes the failure go away, "" where
    nobody knows.
    """

    schema: int
    script: Union[str, None]
    verified: bool
    why: str
    fingerprint: str
    nodes_before: int
    nodes_after: int
    attempts: int
    seconds: float
    neighbour: str

    @classmethod
    def without_script(cls, why: str, *, fingerprint: str = "", seconds: float = 0.0) -> ReproDocument:
        """The answer of a search that has found nothing."""
        return cls(
            schema=1,
            script=None,
            verified=False,
            why=why,
            fingerprint=fingerprint,
            nodes_before=0,
            nodes_after=0,
            attempts=0,
            seconds=seconds,
            neighbour="",
        )
