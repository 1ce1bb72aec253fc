"""What a minimiser asks: does this program fail, and is it the same failure?

An oracle never raises for a program that cannot run; that is a different failure, or none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from inductor_debug.repro.program.program import Program


@dataclass(frozen=True)
class OracleVerdict:
    """Whether a program fails in the way that is sought. `step` is the step at which it does, where that is known.

    `detail` is for people: the exception, the error that was measured.
    """

    failed: bool
    detail: str = ""
    step: int | None = None


class Oracle(Protocol):
    """Judges programs. `fingerprint` names the failure; it keys the memory of earlier attempts.

    `deterministic` says that the same program always gets the same verdict.
    """

    fingerprint: str
    deterministic: bool

    def judge(self, program: Program) -> OracleVerdict:
        """Runs the program, in a child where it may crash or hang."""
        ...


_QUOTED = re.compile(r"(['\"`]).*?\1")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_PATH = re.compile(r"(?:/[\w.+-]+){2,}|[A-Za-z]:\\[\w\\.+-]+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_HOLE = "\0"


def shape_of(message: str) -> str:
    """A message without what changes from run to run: numbers, names in quotes, addresses, paths. First line only."""
    line = next((line.strip() for line in message.splitlines() if line.strip()), "")
    for pattern in (_ADDRESS, _PATH, _QUOTED, _NUMBER):
        line = pattern.sub(_HOLE, line)
    return re.sub(rf"{_HOLE}[{_HOLE}, ()\[\]x]*{_HOLE}", _HOLE, line)


def words_of(message: str) -> str:
    """The longest part of a message that does not change from run to run; what a script looks for."""
    return max((part.strip() for part in shape_of(message).split(_HOLE)), key=len, default="")
