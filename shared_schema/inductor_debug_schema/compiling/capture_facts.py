"""Facts of findings about what torch.compile makes of code: where it breaks graphs, and what it compiles again."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class BreakCause(str, Enum):
    """What torch.compile cannot take into a graph."""

    PRINT = "print"
    """Text for people: `print`."""
    LOGGING = "logging"
    """A call of a logger."""
    WARNING = "warning"
    """`warnings.warn`."""
    BRANCH = "branch"
    """A tensor's value decides which code runs: `if`, `while`, `and`, `assert`, a conditional expression."""
    VALUE = "value"
    """A tensor's value becomes a number, a list or a text of Python's: `.item()`, `.tolist()`, `float(x)`, `f"{x}"`."""
    SIZE = "size"
    """A tensor's values decide the size of another: `nonzero`, `x[mask]`, a slice by a tensor."""
    NUMPY = "numpy"
    """A tensor goes to NumPy, or NumPy is called with one."""
    CLOCK = "clock"
    """The time is read."""
    RANDOM = "random"
    """A random number is drawn, or a generator's state read, outside of torch's traced functions."""
    FILE = "file"
    """Something is read or written: `torch.save`, `open`, `pickle`."""
    DEBUGGER = "debugger"
    """`breakpoint()`, `pdb.set_trace()`."""
    INSPECTION = "inspection"
    """Code looks at itself: `inspect`, `sys._getframe`, `traceback`."""
    COMPILED_CODE = "compiled-code"
    """A function that is no Python code: of a C extension, or built into Python."""
    METHOD = "method"
    """A method of an object that torch.compile does not know there."""
    OBJECT = "object"
    """An operation on an object (`len`, `in`, `[]`, `str`) for which its class has code that cannot be traced."""
    ATTRIBUTE = "attribute"
    """An attribute that is looked up or set in a way that cannot be followed."""
    IDENTITY = "identity"
    """Something depends on where an object lies in memory: `id`, `data_ptr`, the order of a set of tensors."""
    ARGUMENT = "argument"
    """A call is given, or gives, an object that no graph can hold."""
    DEFINITION = "definition"
    """A class is defined while the model runs."""
    PARAMETER = "parameter"
    """A parameter is made."""
    MODULE = "module"
    """A module is built, in whose constructor the graph breaks."""
    RECONSTRUCTION = "reconstruction"
    """Code needs an object after the graph that torch.compile cannot make again."""
    KERNEL = "kernel"
    """A Triton kernel is launched in a way that cannot be traced."""
    DISTRIBUTED = "distributed"
    """Processes exchange tensors in a way that cannot be traced."""
    SKIPPED = "skipped"
    """A Python function that torch.compile is told to leave alone, of torch itself or of a library."""
    DISABLED = "disabled"
    """A function that its author took out of compilation (`torch.compiler.disable`)."""
    REQUESTED = "requested"
    """A call that asks for a break: `torch._dynamo.graph_break()`."""
    CONTEXT_MANAGER = "context-manager"
    """A `with` that torch.compile does not know."""
    GENERATOR = "generator"
    """A generator that is used beyond what can be traced."""
    EXCEPTION = "exception"
    """The code raises while it is traced."""
    AUTOGRAD = "autograd"
    """`backward()`, `requires_grad_()` and other work of autograd's inside of the compiled code."""
    AUTOGRAD_FUNCTION = "autograd-function"
    """A `torch.autograd.Function` that does what cannot be traced."""
    HOOK = "hook"
    """A hook of a tensor or module."""
    MUTATION = "mutation"
    """A change of a container, an attribute or a tensor's data that cannot be followed."""
    CONTROL_FLOW = "control-flow"
    """`torch.cond`, `scan` and the like, with a body or arguments that they do not take."""
    TORCHSCRIPT = "torchscript"
    """Code that `torch.jit` compiled."""
    SPECIAL_TENSOR = "special-tensor"
    """A tensor that is sparse, nested, quantised or of a class of its own."""
    RECURRENT = "recurrent"
    """`nn.RNN`, `nn.GRU` or `nn.LSTM`."""
    NO_GRAPH = "no-graph"
    """Nothing of the target was captured, and torch does not say why."""
    OTHER = "other"
    """Anything else; `torch_kind` and `explanation` say in torch's words what."""


class NoGraph(str, Enum):
    """What keeps torch.compile from looking at a function at all."""

    VARIABLE = "variable"
    """A variable of the environment, such as `TORCHDYNAMO_DISABLE=1`."""
    SETTING = "setting"
    """`torch._dynamo.config.disable`."""
    MARK = "mark"
    """`torch.compiler.disable` on the function."""


@dataclass(frozen=True, slots=True)
class SizeCondition:
    """A condition on sizes that nobody gave, as the source has it; `sizes` are what they were taken to be, by name.

    `holds` says whether what the condition leads to is where it holds, or where it does not.
    """

    expression: str
    holds: bool
    sizes: dict[str, int]


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """Why torch.compile ends a graph at an expression and lets Python run it.

    `breaks_by` is the cause. `expression` is the source that breaks the graph (`print("mean", y.mean())`): the user's,
    or a library's where `inside` names the library's function (`torch.optim.optimizer.zero_grad`). `subject` is the
    part of it that matters: the condition of a branch, the tensor whose value is read (`x.sum()` of `x.sum().item()`),
    the object whose method is called, else empty. `function` is what was called there and cannot be traced, by its
    qualified name (`print`, `time.time`, `torch.Tensor.item`), empty where nothing was called. `eager` is the function
    that runs without a compiler because of it, empty where only the expression does.

    `registry_id` and `torch_kind` are torch's own name for it (`GB0124`), `explanation` and `hints` what torch says, in
    its words: for reading only. `refused` says that the user asked for no break (`fullgraph=True`, or for a part of the
    code `error_on_graph_break(True)`, which is `toggled`), so that compiling fails. Where no graph is captured,
    `kept_by` is what keeps torch from it, and `function` what that is called. `only_where` is the condition under which
    it is met at all, where inferred sizes alone decided that.
    """

    breaks_by: BreakCause
    expression: str
    subject: str = ""
    function: str = ""
    inside: str = ""
    eager: str = ""
    registry_id: str = ""
    torch_kind: str = ""
    explanation: str = ""
    hints: list[str] = field(default_factory=list)
    refused: bool = False
    kept_by: NoGraph | None = None
    toggled: bool = False
    only_where: SizeCondition | None = None


class StateHolder(str, Enum):
    """What holds Python state that outlives a call."""

    ATTRIBUTE = "attribute"
    """An object: a module, or what hangs on one."""
    GLOBAL = "global"
    """A variable of a module of Python."""
    CLOSURE = "closure"
    """A variable of the function around."""
    DEFAULT = "default"
    """The default of a parameter, which all calls share."""
    ARGUMENT = "argument"
    """The call: it is what the code is given."""


class StateChange(str, Enum):
    """How state differs from one call to the next."""

    NUMBER = "number"
    LENGTH = "length"
    TYPE = "type"
    OBJECT = "object"
    """It is another object, of whatever value."""
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class ChangingState:
    """Python state that a call changes and that compiled code relies on.

    `state_name` is how the code calls it (`self.step`), `seen` what it was before each call, as Python writes it: its
    length where that is what changes. `every_call` says that each call changes it anew.
    """

    state_name: str
    held_by: StateHolder
    changes_in: StateChange
    seen: list[str]
    every_call: bool


@dataclass(frozen=True, slots=True)
class SpecialisedSize:
    """A size that calls have in different ways, and that an expression needs as a number.

    `asking` is the expression as it is written, `size_name` what the size is called (size 1 of `x`).
    """

    asking: str
    size_name: str
    seen_sizes: list[str]


@dataclass(frozen=True, slots=True)
class Recompilation:
    """A function that torch.compile compiles again; `given_up` says that it does so no longer, and runs it eagerly.

    `state` is what the call before has changed, or what calls are given, where it is that which no longer fits; `size`
    a size that the code needs as a number. `in_one_call` says that the target's first call alone had it compiled too
    often, for instances or sizes of the model's own.
    """

    recompiled_function: str
    given_up: bool
    state: ChangingState | None = None
    size: SpecialisedSize | None = None
    in_one_call: bool = False


@dataclass(frozen=True, slots=True)
class InstanceVersions:
    """Instances of one class, each compiled as a version of its `forward`, of which torch makes `version_limit`."""

    instance_class: str
    instances: int
    version_limit: int


@dataclass(frozen=True, slots=True)
class OverwrittenTensor:
    """An expression that writes in place into what the backward pass of another one needs, both as they are written."""

    overwriting: str
    needing: str


class GradientFault(str, Enum):
    """What is wrong with a custom autograd function."""

    MISSING = "missing"
    """It gives no gradient for an argument that its result depends on."""
    MULTIPLE = "multiple"
    """It gives the derivative times a number."""
    WRONG = "wrong"
    """It gives something else than the derivative."""
    STRAIGHT_THROUGH = "straight-through"
    """It gives a gradient where its result is piecewise constant."""
    KEPT = "kept"
    """It keeps a tensor as an attribute of its context."""


@dataclass(frozen=True, slots=True)
class FunctionGradient:
    """A custom autograd function and what is wrong with it, for an argument, or an attribute of its context.

    `factor` is what of the derivative it gives, where it gives a multiple.
    """

    autograd_function: str
    gradient_fault: GradientFault
    argument: str
    factor: float | None = None


class StatedBy(str, Enum):
    """How the source states a shape."""

    ANNOTATION = "annotation"
    """By jaxtyping's annotation, which says what has to be so."""
    COMMENT = "comment"
    DOCSTRING = "docstring"


class ShapeFault(str, Enum):
    """What is not so."""

    RANK = "rank"
    """There are more sizes, or fewer."""
    SIZE = "size"
    DTYPE = "dtype"


@dataclass(frozen=True, slots=True)
class StatedShape:
    """A shape that the source states of a value, and what that has where it runs.

    `named` is the variable or the argument, "" for what `in_function` returns. `written` is the statement, `sizes` what
    names in it stand for, where that is known and matters. `shape` has numbers, and names of sizes that are free.
    `instead` is what would be right, in the names and the style of what is written, "" where that is not sure.
    """

    stated_by: StatedBy
    shape_fault: ShapeFault
    named: str
    in_function: str
    written: str
    shape: list[str]
    dtype: str
    sizes: dict[str, int] = field(default_factory=dict)
    instead: str = ""


class ExportFault(str, Enum):
    """Why `torch.export` stops."""

    VALUE = "value"
    """The value of a tensor decides which way the code goes."""
    SIZE = "size"
    """A number that was read from a tensor decides whether the code is right, or which way it goes."""
    OPERATOR = "operator"
    """An operator has no fake implementation."""
    STRICT = "strict"
    """Only `strict=True` stops."""
    FORMAT = "format"
    """Nothing stops the export; formats do not take the exported program."""
    SIZES = "sizes"
    """The file leaves sizes open, in its `dynamic_shapes`, that the code does not."""
    OTHER = "other"
    """Something else, in torch's words."""


@dataclass(frozen=True, slots=True)
class ExportStop:
    """An expression at which `torch.export` stops, or an operator.

    `condition` is what it has to know, in names of the code's variables, `read_from` the expression that read the
    number from a tensor; `said` are torch's words where there are no others. Formats that do not take what is exported
    are named as in the `formats` document, with the operators that stop them, if these are known. `sizes_asked` is what
    the code asks of sizes that are left open (`x.shape[0] <= 16`), `dims_suggested` how torch would say it, as
    assignments (`rows = Dim('rows', max=16)`).
    """

    export_fault: ExportFault
    export_expression: str
    condition: str = ""
    read_from: str = ""
    said: str = ""
    formats: list[str] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    sizes_asked: list[str] = field(default_factory=list)
    dims_suggested: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class EagerFunction:
    """A function that runs eagerly: so many of its operations are in no graph."""

    eager_function: str
    operations_outside: int
