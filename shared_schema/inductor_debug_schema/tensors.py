"""Which tensors are alive where: the timeline that a worker sends of a run, and what it says of one line.

The timeline is one run of a target from its first operation to its last; time is counted in operations. `LineTensors`
is what people are shown of it: the tensors that are alive while one statement runs, and the memory that they take.
Sizes are numbers, or strings as torch prints them (`8*T`) where they are not known; then `sizes` has the numbers of the
call that ran.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from inductor_debug_schema.expressions import DeviceLayout
from inductor_debug_schema.positions import Location, Range


@dataclass(frozen=True, slots=True)
class TimelineStorage:
    """The memory of tensors: `bytes`, alive from operation `first` (-1: from before) until `end` operations have run.

    `exact` says that its size is known for every call, and not just for the one that ran.
    """

    bytes: int
    exact: bool
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class TimelineTensor:
    """One tensor of a run, as it was when it was first seen.

    `kind` is "parameter", "buffer", "input", "constant" or "activation", and `name` what the model calls one that no
    operation made. `made` is the operation that made it, -1 where none did; `end` how many operations had run when the
    last Python reference to it went away, `reads` the operations that were given it. `base` is the tensor of which it
    is a view, `declared` the place that declares it, each -1 where there is none. `dims` are names of its dimensions,
    empty where nothing names one; `sizes` is empty where a size is not known at all. `order` says how its elements lie:
    "contiguous", "channels last", "broadcast" or "strided". `stick` is the dimension that lies in sticks where an
    accelerator has them, -1 where none does; `layout` is how the accelerator's own code lays it out, -1 where that was
    not asked. `storage`, `base` and `layout` are indexes into the timeline's lists.
    """

    storage: int
    kind: str
    name: str
    shape: list[Union[int, str]]
    stride: list[Union[int, str]]
    sizes: list[int]
    dims: list[str]
    dtype: str
    device: str
    element_bytes: int
    order: str
    requires_grad: bool
    made: int
    end: int
    base: int
    declared: int
    reads: list[int]
    stick: int = -1
    layout: int = -1


@dataclass(frozen=True, slots=True)
class TimelineCall:
    """One call of a function of the user's, in which operations `first` up to but not including `last` ran.

    `caller` is the statement that made it, -1 for the outermost ones. `module` is the dotted path of the module that it
    belongs to. `start_line` and `end_line` (zero-based, inclusive) are those of the function's definition.
    """

    caller: int
    path: str
    function: str
    module: str
    start_line: int
    end_line: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class TimelineStatement:
    """One run of a statement of a call, from operation `first` up to but not including `last`.

    Lines are zero-based and inclusive; those of a compound statement are its head's.
    """

    call: int
    start_line: int
    end_line: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class TimelineName:
    """A variable of a call holds a tensor from the moment when `since` operations had run until `until` had."""

    call: int
    name: str
    tensor: int
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class TensorTimeline:
    """Every tensor of one run of a target, and where in the user's code the run was meanwhile.

    `operations` is how many ran. `places` are expressions; `op_places` has the index of the innermost one for each
    operation, `op_statements` that of the statement, both -1 where no code of the user's ran. `modules` are the dotted
    paths of modules that ran, whoever wrote them; `op_modules` has the index of the innermost one for each operation.
    `symbols` are the numbers of sizes that were not fixed; `inputs` says in words which inputs it was run with that
    nobody wrote down, where somebody asked for the memory of all of it. `layouts` are those of the accelerator called
    `accelerator`, from its own code.
    """

    operations: int
    places: list[Location] = field(default_factory=list)
    op_places: list[int] = field(default_factory=list)
    op_statements: list[int] = field(default_factory=list)
    storages: list[TimelineStorage] = field(default_factory=list)
    tensors: list[TimelineTensor] = field(default_factory=list)
    calls: list[TimelineCall] = field(default_factory=list)
    statements: list[TimelineStatement] = field(default_factory=list)
    names: list[TimelineName] = field(default_factory=list)
    symbols: dict[str, int] = field(default_factory=dict)
    accelerator: str = ""
    layouts: list[DeviceLayout] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    op_modules: list[int] = field(default_factory=list)
    inputs: str = ""


@dataclass(frozen=True, slots=True)
class TensorsSeen:
    """The timeline of a target's run."""

    target: str
    timeline: TensorTimeline


@dataclass(frozen=True, slots=True)
class TensorPlace:
    """Where a tensor is made or read: the text of the expression there, and the module that runs it."""

    path: str
    range: Range
    text: str
    module: str = ""


@dataclass(frozen=True, slots=True)
class TensorRow:
    """One tensor that is alive while a line runs.

    `label` is what the code calls it: a variable in scope, the parameter's name, or the expression that made it
    (`named` is False then); `scope` names the calling function whose variable it is, empty for the line's own. `roles`
    are some of "made" and "read" (by the line), "freed" (gone once the line has run), "gone" (before its last
    operation) and "saved" (only autograd holds it). `bytes` is what its elements take, `storage_bytes` what its memory
    does; `counted` is False where an earlier row has the same memory or none is left. `view_of` is the label of the
    tensor whose memory it looks into, empty where it has its own. `order` is as in `TimelineTensor`. `declared` is
    where a parameter or buffer was declared; `reads` are the first of `read_count` places that read it.
    """

    id: int
    kind: str
    label: str
    named: bool
    scope: str
    roles: list[str]
    shape: list[Union[int, str]]
    sizes: list[int]
    dims: list[str]
    stride: list[Union[int, str]]
    order: str
    dtype: str
    device: str
    requires_grad: bool
    bytes: int
    storage_bytes: int
    counted: bool
    view_of: str = ""
    made: Union[TensorPlace, None] = None
    declared: Union[TensorPlace, None] = None
    reads: list[TensorPlace] = field(default_factory=list)
    read_count: int = 0
    layout: Union[DeviceLayout, None] = None


@dataclass(frozen=True, slots=True)
class MemoryNow:
    """The bytes of all tensors that are alive at one moment, each memory counted once, and of each kind of tensor.

    `device_bytes` is what they take on the chosen accelerator with its padding, None where none is chosen that pads.
    """

    bytes: int
    kinds: dict[str, int]
    device_bytes: Union[int, None] = None


@dataclass(frozen=True, slots=True)
class MemoryPeak:
    """The most memory that is alive at once, and the innermost expression that runs then."""

    bytes: int
    place: Union[TensorPlace, None] = None


@dataclass(frozen=True, slots=True)
class LineTensors:
    """The tensors that are alive while the last operation of one run of a line runs.

    `why` says in a sentence why there is nothing to show; it is empty where there is. Of the `calls` runs of the line
    (in `targets`, of which `target` is shown), this is number `call`, counted from zero, in `module` and `function`.
    `start_line` and `end_line` are those of the statement that is meant: the one at the line, or the last one before it
    that has run. `rows` are those from number `first` on, of `row_count` in all. `line_peak` is the highest memory
    while the line runs, `peak` that of the whole run; `curve` is the memory over the run in steps of equal length,
    `here` the step of this line. `exact` is False where sizes are those of the call that ran, with `symbols`.
    `outdated` says that the text has changed since.
    """

    path: str
    line: int
    why: str = ""
    target: str = ""
    targets: list[str] = field(default_factory=list)
    call: int = 0
    calls: int = 0
    module: str = ""
    function: str = ""
    start_line: int = 0
    end_line: int = 0
    rows: list[TensorRow] = field(default_factory=list)
    first: int = 0
    row_count: int = 0
    memory: Union[MemoryNow, None] = None
    line_peak: Union[MemoryPeak, None] = None
    peak: Union[MemoryPeak, None] = None
    curve: list[int] = field(default_factory=list)
    here: int = 0
    exact: bool = True
    symbols: dict[str, int] = field(default_factory=dict)
    accelerator: str = ""
    outdated: bool = False
