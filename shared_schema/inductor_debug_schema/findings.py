"""Findings: the things the tool tells a user, and the words they are told in.

A finding is data only. Which severity it ends with, whether a comment silences it and which fingerprint it carries
is decided above (`engine.results.policy`), so that the same worker result serves every configuration.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Union

from inductor_debug_schema.cost_bounds import RunCost
from inductor_debug_schema.facts import Facts
from inductor_debug_schema.positions import Location, Range, Related
from inductor_debug_schema.sizes import FreeSize
from inductor_debug_schema.untaken import UntakenBlock


class Severity(str, Enum):
    """How much a finding matters, most severe first."""

    ERROR = "error"
    """The model will not run, or will compute the wrong thing, on the accelerator."""
    WARNING = "warning"
    """It may run, but not as the user expects."""
    INFORMATION = "information"
    """Worth knowing; nothing is wrong with the model."""
    HINT = "hint"
    """A nicety, such as an unused ignore comment."""

    @property
    def rank(self) -> int:
        """0 for the most severe."""
        return list(Severity).index(self)


class Stage(str, Enum):
    """How deep a look at a target went; each stage refines the one before."""

    LOAD = "load"
    """The file was executed and its targets were found."""
    PREVIEW = "preview"
    """The target ran eagerly on fake tensors."""
    MOCK = "mock"
    """Dynamo captured the target's graphs."""
    AOT = "aot"
    """AOTAutograd captured forward and backward."""
    INDUCTOR = "inductor"
    """Inductor lowered the graphs to kernels."""
    GRADIENTS = "gradients"
    """Custom autograd functions were held against the derivative of what they compute."""
    EXPORT = "export"
    """`torch.export` was asked whether it takes the target."""
    COMPARISON = "comparison"
    """What a backend computes was compared with what eager PyTorch does; no analysis has this stage."""


class Direction(str, Enum):
    """Which pass of a model something belongs to."""

    FORWARD = "forward"
    """What the user's code computes."""
    BACKWARD = "backward"
    """What autograd runs to get gradients; it is shown at the forward's code."""


class StageState(str, Enum):
    """How a stage of one target ended."""

    DONE = "done"
    """The stage saw the whole target."""
    FAILED = "failed"
    """The stage could not go on; a finding says why."""
    SKIPPED = "skipped"
    """An earlier failure or the configuration left it out; a note says why."""


class Shortfall(str, Enum):
    """Why a stage saw less than the whole target where the user's code is not at fault."""

    NO_INPUTS = "no-inputs"
    """No inputs could be inferred for it; `Inferred.reason` says why."""
    INPUTS = "inputs"
    """It ran into an error that only the inputs which we inferred may be to blame for."""
    NOT_BUILT = "not-built"
    """There was nothing to run: an earlier stage could not build it."""
    VALUE = "value"
    """The code looks at a tensor's value, and it could not be run with tensors that have one."""
    MEMORY = "memory"
    """As `VALUE`, because those tensors would take more memory than is allowed."""
    OPERATION = "operation"
    """An operation that torch cannot imitate without values, and it could not be run with them."""
    DEVICE = "device"
    """The code wants a device that this machine lacks, where what it does there could not be done elsewhere."""
    NOT_FOLLOWED = "not-followed"
    """torch.compile itself gets through there, and the recording of it did not."""
    NOT_REACHED = "not-reached"
    """The run of the file was left before it came to what makes it; a stage's `at` says where."""
    TORCH = "torch"
    """This torch lacks a name by which the stage looks at it; a note of the stage says which."""


class Checked(str, Enum):
    """How much of a target was looked at."""

    YES = "yes"
    """The deepest stage that was asked for saw all of its run, and the run took every branch."""
    PARTLY = "partly"
    """Some of its run was seen, or the run did not take every branch; what is left is not known to be good."""
    NO = "no"
    """None of its run was seen: that nothing was found in it means nothing."""


class FileStatus(str, Enum):
    """What became of one file."""

    CLEAN = "clean"
    """Analysed, nothing found."""
    FINDINGS = "findings"
    """Analysed, with findings."""
    NO_TARGET = "no-target"
    """The file loaded but offers nothing to compile."""
    FAILED = "failed"
    """The file or every target of it could not be analysed."""
    TIMEOUT = "timeout"
    """A limit stopped the analysis: it took longer than allowed, or more memory where nobody had declared a target."""
    CRASHED = "crashed"
    """The process that ran the file died."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to tell the user.

    `path` is absolute inside the engine; the faces that print a report make it relative where they need to.
    `count` is the number of ops the finding covers (at least 1). `op` is the ATen overload of the root cause where
    there is one (`aten._to_copy.default`), `module` the dotted path of the first module it happened in.
    `fingerprint` is empty until the engine fills it in. Findings of one file that have the same `cause` are told as one
    (`engine.results.folding`); it is "" where a finding stands for itself.
    """

    rule: str
    severity: Severity
    message: str
    path: str
    range: Range
    stage: Stage
    target: str = ""
    op: str | None = None
    module: str | None = None
    count: int = 1
    related: list[Related] = field(default_factory=list)
    fingerprint: str = ""
    link: str | None = None
    """An address with more to read, such as torch's own page on a kind of graph break."""
    facts: Union[Facts, None] = None
    """What the message says, as data; None where the message is all there is."""
    cause: str = ""
    direction: Union[Direction, None] = None
    """The pass whose operations it is about; None where it is about no operation, or about values from outside."""
    inferred: bool = False
    """Whether it was found with inputs that were inferred."""

    @property
    def headline(self) -> str:
        """The first line of the message, for places that have room for one."""
        return self.message.splitlines()[0] if self.message else ""


@dataclass(frozen=True, slots=True)
class ClassSeen:
    """A class that ran: the absolute path of its file, and its qualified name there."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class StageReport:
    """What one stage saw of one target. `notes` are sentences for the log and the hover, never problems.

    Where it saw less than the whole, and no finding says why, `shortfall` does; `at` is the expression it ended at.
    `elsewhere` are the classes of the project's other files that it ran. `cost` is what it takes at least on the
    accelerator, None where nobody knows how fast that is, or where the run did not come to its end. `log` is what torch
    logged meanwhile, where somebody asked for it with `TORCH_LOGS`.
    """

    stage: Stage
    state: StageState
    seconds: float
    graphs: int = 0
    ops: int = 0
    graph_breaks: int = 0
    notes: list[str] = field(default_factory=list)
    shortfall: Shortfall | None = None
    at: Location | None = None
    elsewhere: list[ClassSeen] = field(default_factory=list)
    cost: RunCost | None = None
    log: str = ""


@dataclass(frozen=True, slots=True)
class Inferred:
    """What was inferred for a target that nobody gave inputs.

    `signature` is for reading: `x f32[s0, 64]`, free dimensions as symbols. `inputs` and `init` are Python expressions
    (`init` is empty where the constructor needs none, or an instance of the file is used) and `directive` the comment
    that makes both explicit. `invented` names the constructor arguments that nobody wrote down. `kept_since` is when
    the inputs were inferred (ISO 8601), where they are those of an earlier text of the class; `instead` what would run
    where those do not. Where nothing could be inferred, `reason` says why, and the rest is empty or the call that came
    furthest.
    """

    signature: str = ""
    inputs: str = ""
    init: str = ""
    directive: str = ""
    invented: list[str] = field(default_factory=list)
    reason: str = ""
    kept_since: str = ""
    instead: str = ""


@dataclass(frozen=True, slots=True)
class TargetReport:
    """One target and how far its analysis came; `line` is the zero-based line that offers it.

    `inferred` says what was inferred for it; None where its inputs were given. `sizes` are those of its inputs that are
    free, as far as that was asked, with those that the user set. `checked` sums its stages up; `why` says in a user's
    sentence what it lacks, and is empty where it lacks nothing. `untaken` is the code that its run left out where it
    was seen to its end, in the order of the text.
    """

    name: str
    line: int
    stages: list[StageReport] = field(default_factory=list)
    inferred: Inferred | None = None
    checked: Checked = Checked.NO
    why: str = ""
    sizes: list[FreeSize] = field(default_factory=list)
    untaken: list[UntakenBlock] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FileReport:
    """All that one analysis learned of one file."""

    path: str
    status: FileStatus
    targets: list[TargetReport] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
