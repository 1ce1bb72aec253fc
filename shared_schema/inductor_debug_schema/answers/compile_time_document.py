"""The `compile-time` document: where compiling a target spends its time, by phase, module and the user's expression.

Seconds are of one machine's processor, without what else it did meanwhile. Nothing was built or run, so the compilers
of kernels are not in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
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


class CompileWay(str, Enum):
    """A way to compile a target whose layers are equal."""

    AS_IT_IS = "as-it-is"
    NESTED_REGIONS = "nested-regions"
    """The `forward` of the layers' class is marked by `torch.compiler.nested_compile_region`."""
    EACH_LAYER = "each-layer"
    """Each layer is compiled by itself, and the model around them runs eagerly."""
    EACH_LAYER_DYNAMIC = "each-layer-dynamic"
    """The same with `dynamic=True`, so that one compilation serves layers of several sizes."""


class SameOutputs(str, Enum):
    """Whether a model gives the same where it is compiled in another way."""

    YES = "yes"
    """To the last bit, in one call with real tensors."""
    NO = "no"
    NOT_COMPARED = "not-compared"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileTrial:
    """A way to compile that was tried, in a process of its own.

    `graphs` are those that Dynamo handed over and `operations` what is in them, the body of a region once. `same` is
    about outputs and gradients, `difference` what differs or why nothing was compared. `problem` says why compiling
    ended early, which makes the other figures those of what went before; "" where it did not. `code` is what a user
    writes for it, and `offered` says that it saves much and changes no results.
    """

    compile_way: CompileWay
    seconds: float
    graphs: int
    operations: int
    same: SameOutputs = SameOutputs.NOT_COMPARED
    difference: str = ""
    problem: str = ""
    code: str = ""
    offered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileTrials:
    """What was tried of a target for which that was asked: `trials` begin with the target as it is.

    `layers` are the equal ones, with what compiling them took as it is. Both are empty where there was nothing to try;
    then `why_not` says so.
    """

    layers: list[AlikeModules]
    trials: list[CompileTrial]
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileTimeDocument:
    """One compilation of one target; `path` is the user's file. Where it ended early, `problem` says why.

    `seconds` is all of it but `start_up`, which the first compilation of every process takes on top: torch loads parts
    of itself and makes its tables of patterns. `placed` is what was work on expressions of the user's; the rest are
    passes over whole graphs. Phases come in the order in which they are gone through, other rows by their seconds, the
    largest first. `operations` counts those of the graphs. `tried` is there where other ways were asked for.
    What was `logged` by a run of somebody's has the log for `path` and its name for `target`; its expressions are the
    functions that were compiled, at their definitions, its seconds are those of a clock on the wall, and building
    kernels is among its phases.
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
    operations: int = 0
    tried: Union[CompileTrials, None] = None
    logged: bool = False
