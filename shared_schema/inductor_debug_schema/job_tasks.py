"""What a job can be asked for instead of an analysis, one type for each; `worker.tasks` knows what carries it out.

Every default is decided here or by who makes the order: a worker finds all that it needs in its request. Each type has
a required field that no type after it in `Task` has, which is how a reader tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Union

from inductor_debug_schema.positions import Range


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffTask:
    """KernelDiff: compare `backend` with `reference`, both names of backends or accelerators.

    `profile` is the document of the accelerator that `backend` names, None for that of the request. Tolerances are
    those of the dtypes where they are None; `runs` is how often to compare, each time with another seed. `inject` has
    faults for an emulated backend; `nodes` looks for the operation at fault, for `time_limit` seconds at most; `plots`
    and `maps` make pictures and tables of the errors.
    """

    backend: str
    reference: str = "eager"
    profile: Union[dict[str, Any], None] = None
    atol: Union[float, None] = None
    rtol: Union[float, None] = None
    runs: int = 1
    gradients: bool = False
    inject: list[str] = field(default_factory=list)
    nodes: bool = True
    plots: bool = False
    maps: bool = False
    time_limit: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectTask:
    """Find the layer that goes wrong: climb a ladder of backends, compare each with `reference`.

    `backends` replace the usual ladder where there are any; `accelerator` is climbed last, if its numbers can be had;
    `passes` says whether Inductor's passes are searched. `gradients` are compared where it is true, or None and the
    model trains. `inject` has faults for an emulated accelerator. `profiles` are documents of accelerators by name;
    where there are none, the request's is known by its own. `time_limit` is in seconds.
    """

    passes: bool
    reference: str = "eager"
    backends: list[str] = field(default_factory=list)
    accelerator: Union[str, None] = None
    gradients: Union[bool, None] = None
    inject: list[str] = field(default_factory=list)
    profiles: dict[str, dict[str, Any]] = field(default_factory=dict)
    time_limit: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproTask:
    """Reduce a failure to a minimal script: of the finding that fits, or of what `backend` does to the target.

    What is empty or None fits every finding. `line` is zero-based and anywhere in the finding's range, `range` is all
    of it; `path` is its file, `stage` the stage that found it. `fingerprint` is the finding's, "" where none is meant.
    `memo` is a folder where attempts are remembered.
    """

    fingerprint: str
    rule: str = ""
    path: str = ""
    line: Union[int, None] = None
    range: Union[Range, None] = None
    stage: str = ""
    backend: str = ""
    memo: str = ""


@dataclass(frozen=True, slots=True)
class TransfersTask:
    """Log what crosses between host and accelerator: the request's, or that of the document `otherwise`.

    `values` is how many of a tensor's first and last elements, and of those that differ, are told.
    """

    otherwise: dict[str, Any]
    values: int = 0


@dataclass(frozen=True, slots=True)
class SameResultsTask:
    """Compare what the text `edited` computes with what the request's does.

    `witness` is a function that an expression of the request's text may be wrapped in, and that gives back what it is
    given; `condition` says whether that expression is one.
    """

    edited: str
    witness: str = ""
    condition: bool = False


@dataclass(frozen=True, slots=True)
class KernelSource:
    """A kernel as Inductor wrote it, by its name and that of the graph that it was generated from."""

    name: str
    graph: str
    text: str


@dataclass(frozen=True, slots=True)
class CompileKernelsTask:
    """Compile kernels of Triton's for the GPU of the request's profile, one after the other."""

    kernels: list[KernelSource]


@dataclass(frozen=True, slots=True)
class SuggestTask:
    """Try ways to run a target otherwise; those are offered that save at least the part `least_gain` of something."""

    least_gain: float


@dataclass(frozen=True, slots=True)
class MeasureTask:
    """Measure how long a target takes to compile with `measured_backend`, and to run beside eager.

    `training` adds the backward pass. Of each side there are at least `repeats` runs, and more while `seconds` are
    left; `compiles` is how often it is compiled with empty caches.
    """

    measured_backend: str
    training: bool
    repeats: int
    seconds: float
    compiles: int


@dataclass(frozen=True, slots=True)
class ProfileRunTask:
    """Profile steps of a target with each of `profiled_backends`, one after the other, or read the trace at `trace`.

    Of each there are at least `steps` steps, and more while `seconds` are left. `training` adds the backward pass;
    where it is None, it belongs to the step if the target trains.
    """

    profiled_backends: list[str]
    steps: int
    seconds: float
    training: Union[bool, None] = None
    trace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileTimeTask:
    """Tell where the time goes that compiling a target takes, without the compilers of kernels.

    A target may take `compile_timeout` seconds of work. With `ways`, those with equal layers are also compiled in
    other ways that may take less.
    """

    compile_timeout: float
    ways: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugTask:
    """Write the files in which a debugger can stop while a target runs compiled.

    Where `at_line` is given (from zero), only expressions that touch it are computed by the compiler as well; without
    it all of a small graph. A target may take `debug_timeout` seconds of work.
    """

    debug_timeout: float
    at_line: Union[int, None] = None


Task = Union[
    ReproTask,
    DiffTask,
    BisectTask,
    TransfersTask,
    SameResultsTask,
    CompileKernelsTask,
    SuggestTask,
    MeasureTask,
    ProfileRunTask,
    CompileTimeTask,
    DebugTask,
]
