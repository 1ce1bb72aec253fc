"""The `bisect` document: a ladder of backends, which layer goes wrong first, and what in it is to blame."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Union

from inductor_debug_schema.findings import Direction
from inductor_debug_schema.positions import Range


class BisectVerdict(str, Enum):
    """The layer of the compiler that goes wrong."""

    NONE = "none"
    """Nothing goes wrong."""
    FRONT_END = "front-end"
    """What captures and rewrites graphs: Dynamo, AOTAutograd, decompositions and the partitioner."""
    BACK_END = "back-end"
    """What generates and runs code: Inductor, or an accelerator's compiler and arithmetic."""
    ENVIRONMENT = "environment"
    """The model itself, or what is installed: it fails without any compiler, or a tool is missing."""
    DATA_TRANSFER = "data-transfer"
    """Values change on their way to the accelerator or back, before anything is computed."""


class RungState(str, Enum):
    """How a rung of the ladder ended."""

    OK = "ok"
    """As exact as eager."""
    WRONG = "wrong"
    """Numbers that rounding does not explain."""
    FAILED = "failed"
    """It raised."""


@dataclass(frozen=True, slots=True)
class BisectStep:
    """A rung that is to be climbed; `adds` says in a few words what it adds to the one before."""

    backend: str
    adds: str


@dataclass(frozen=True, slots=True)
class BisectRung:
    """A rung that was climbed; `versions` are those that it ran with, by package: torch, the backend's own."""

    backend: str
    adds: str
    state: RungState
    why: str
    seconds: float
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectGuilty:
    """What is to blame, as far as it is known: a backend, and of it the graph, the direction, the pass, the operation.

    `part` is the part of the compiler that all rungs together leave in doubt: one that backends may have in common.
    `pass_` is `pass` in JSON.
    """

    backend: str
    part: Union[str, None] = None
    graph: Union[str, None] = None
    direction: Union[Direction, None] = None
    pass_: Union[str, None] = None
    node: Union[str, None] = None
    op: Union[str, None] = None
    path: Union[str, None] = None
    range: Union[Range, None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectDocument:
    """The bisection of one target; `commands` show the last side that is right and the first that is not."""

    schema: int
    target: str
    ladder: list[BisectRung]
    verdict: BisectVerdict
    guilty: Union[BisectGuilty, None]
    commands: list[str]
    notes: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectPiece:
    """What has been added to a bisection: all rungs that will be climbed, where it begins, and those climbed since."""

    ladder: list[BisectRung]
    planned: list[BisectStep] = field(default_factory=list)
