"""The `compile-time` document: where compiling a target spends its time, by phase, module and the user's expression.

Seconds are of one machine's processor, without what else it did meanwhile. Nothing was built or run, so the compilers
of kernels are not in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from inductor_debug_schema.positions import Range


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilePhase:
    """One phase without those inside it; `part` is whose it is ("Dynamo", "AOTAutograd", "Inductor")."""

    part: str
    phase: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileExpression:
    """What was spent on one expression, and not on another one within it.

    `path` and `range` are None for work on what no expression of the user's asked for. `parts` are the seconds by whose
    they are, `traced` counts Dynamo's instructions and `nodes` the operations of graphs that were worked on. `modules`
    says in how many modules that was, and `text` is the source.
    """

    path: Union[str, None]
    range: Union[Range, None]
    text: str
    seconds: float
    parts: dict[str, float]
    traced: int
    nodes: int
    modules: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileModule:
    """What was spent in a module and in all that it contains; `kind` is its class."""

    module: str
    kind: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeModules:
    """Modules of one class at the same place of lists (the layers of a stack), and what was spent in all of them.

    `pattern` is their path with `*` for the numbers; a module that is alone is here under its own path.
    """

    pattern: str
    kind: str
    count: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileSlices:
    """All of the time once, split by phase, module and expression; columns of one length.

    They are numbers of `compile_phases`, `modules` and `expressions`; a module is the innermost one, -1 for none.
    """

    phases: list[int]
    modules: list[int]
    expressions: list[int]
    seconds: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileTimeDocument:
    """One compilation of one target; `path` is the user's file. Where it ended early, `problem` says why.

    `seconds` is all of it but `start_up`, which the first compilation of every process takes on top: torch loads parts
    of itself and makes its tables of patterns. `placed` is what was work on expressions of the user's; the rest are
    passes over whole graphs. Phases come in the order in which they are gone through, other rows by their seconds, the
    largest first.
    """

    schema: int
    target: str
    path: str
    compile_phases: list[CompilePhase]
    seconds: float
    start_up: float
    placed: float
    graphs: int
    expressions: list[CompileExpression]
    modules: list[CompileModule]
    alike: list[AlikeModules]
    slices: CompileSlices
    problem: str
