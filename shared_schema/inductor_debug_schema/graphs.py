"""Captured graphs as plain data: what `graph`, the graph view and the artifacts are made of.

A document holds what one or more stages made of one target: FX graphs before AOTAutograd, joint, forward and backward
graphs, Inductor's graphs and kernels. Nodes of a later graph name those of the earlier one that they come from, so that
a source expression can be followed down to a kernel and back. On disk a document is columnar (`graph_columns`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Union

from inductor_debug_schema.findings import Stage
from inductor_debug_schema.kernel_builds import KernelBuild
from inductor_debug_schema.kernel_specs import DeviceSpecs
from inductor_debug_schema.positions import Location


class GraphKind(str, Enum):
    """Which of the compiler's graphs it is."""

    FX = "fx"
    """What Dynamo captured, before AOTAutograd."""
    JOINT = "joint"
    """AOTAutograd's forward and backward in one, before the partitioner."""
    FORWARD = "forward"
    """The forward half; the only one where nothing is trained."""
    BACKWARD = "backward"
    """The backward half."""
    POST_GRAD = "post_grad"
    """The graph that Inductor lowers, after its passes."""
    IR = "ir"
    """Inductor's scheduler nodes, after fusion."""


class NodeRole(str, Enum):
    """What a node is to its graph."""

    INPUT = "input"
    """An argument of the call, or a saved activation of the forward."""
    PARAMETER = "parameter"
    """A parameter of the model."""
    BUFFER = "buffer"
    """A buffer of the model."""
    CONSTANT = "constant"
    """A tensor that the graph carries with it."""
    OP = "op"
    """A computation."""
    OUTPUT = "output"
    """What the graph returns."""


class OperationKind(str, Enum):
    """What kind of work a node is; people read these names."""

    PRODUCT = "product"
    """Matrix products, convolutions, attention."""
    REDUCTION = "reduction"
    """Sums, means, norms, softmax, pooling, sorting."""
    ELEMENTWISE = "elementwise"
    """Each element of the result from one element of each operand."""
    LOOKUP = "lookup"
    """Reads or writes at positions that another tensor gives."""
    LAYOUT = "layout"
    """Views, copies and joins: values stay as they are."""
    CONVERSION = "conversion"
    """Changes of dtype or device."""
    CREATION = "creation"
    """New tensors of known values, and sizes read off tensors."""
    RANDOM = "random"
    """Draws random numbers."""
    OTHER = "other"
    """Anything else."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One node. `inputs` are names of earlier nodes, with repetitions, in the order of the arguments.

    `op` is the ATen overload (`aten.mm.default`) or the dotted name of the Python function or method where there is no
    overload yet. `shape` is None where the value is no single tensor; sizes are strings where they are symbolic.
    `bytes` are those of its value's elements (of all tensors it returns). Where a size is a symbol, numbers are those
    of the call that ran, which `GraphDocument.notes` gives. `detail` is for reading: the parameter's name, or the
    literal arguments. `place` is the innermost expression in the user's project. `module` is the dotted path in the
    target. `origins` are names of nodes in the graph that `Graph.made_from` names. For a node of a backward graph
    `forward` names the nodes of the forward graph with the same `seq_nr`. `flops` are the floating-point operations of
    all runs of the node in its stage, and `written` the bytes that they write (views write none), None where nobody
    knows a size or counted; `kind` is None where it computes nothing. `seconds` are what all runs take at least on the
    accelerator (`CostBound.seconds`), None where nobody knows how fast that is.
    """

    name: str
    op: str
    role: NodeRole = NodeRole.OP
    inputs: list[str] = field(default_factory=list)
    shape: Union[list[Union[int, str]], None] = None
    dtype: Union[str, None] = None
    bytes: Union[int, None] = None
    detail: str = ""
    place: Union[Location, None] = None
    module: str = ""
    seq_nr: Union[int, None] = None
    origins: list[str] = field(default_factory=list)
    forward: list[str] = field(default_factory=list)
    kernels: list[str] = field(default_factory=list)
    flops: Union[int, None] = None
    kind: Union[OperationKind, None] = None
    written: Union[int, None] = None
    seconds: Union[float, None] = None


@dataclass(frozen=True, slots=True)
class Graph:
    """One graph, its nodes in topological order. Names are unique within a document (`0`, `0.forward`, `1.backward`).

    `made_from` is the name of the graph that this one was made of, "" where it is the first.
    """

    name: str
    kind: GraphKind
    nodes: list[GraphNode]
    made_from: str = ""


@dataclass(frozen=True, slots=True)
class UnfusedKernel:
    """A kernel that reads what another one writes, or the other way round (`reads`), and why they are two."""

    kernel: str
    reads: bool
    why: str


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that Inductor generated, or an external one that it calls.

    `language` is "cpp", "triton", "extern" or "python"; `nodes` are names of nodes in the graph `graph`, which is the
    post-grad graph that the kernel was generated from. `places` are the expressions they come from, most nodes first.
    `build` is what a compiler made of it, None where it was not asked. `unfused` are kernels that could have been part
    of this one. `lines` maps lines of the source to the expressions that they were
    written for, where that is known: several entries where one operation of the compiler computes several.
    """

    name: str
    language: str
    source: str
    graph: str
    nodes: list[str] = field(default_factory=list)
    places: list[Location] = field(default_factory=list)
    build: Union[KernelBuild, None] = None
    unfused: list[UnfusedKernel] = field(default_factory=list)
    lines: list[LinePlace] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Listing:
    """A text that the compiler made for one graph: `title` says which ("IR before fusion", "wrapper").

    `language` is "python", "cpp", "triton" or "text". `places` maps zero-based lines of the text to the expression they
    come from, where that is known.
    """

    title: str
    language: str
    text: str
    graph: str
    places: list[LinePlace] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LinePlace:
    """A zero-based line of a listing and the expression of the user's that it comes from."""

    line: int
    place: Location


@dataclass(frozen=True, slots=True)
class Mark:
    """The nodes of one graph that a finding is about: those that introduce what it tells of, wherever they are called.

    `rule` and `place` are the finding's, which may stand in other files than the nodes' own expressions.
    """

    rule: str
    place: Location
    graph: str
    nodes: list[str]


@dataclass(frozen=True, slots=True)
class GraphDocument:
    """All graphs that one stage captured of one target. `modules` maps dotted paths to class names.

    `path` is the file that offers the target, `digest` a short digest of its text. `accelerator` is "" where none was
    chosen. `specs` are what its kernels ask of the accelerator, None where it has no layouts or there are no kernels.
    """

    target: str
    stage: Stage
    path: str
    digest: str
    accelerator: str
    torch: str
    graphs: list[Graph]
    kernels: list[Kernel] = field(default_factory=list)
    listings: list[Listing] = field(default_factory=list)
    modules: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    specs: Union[DeviceSpecs, None] = None
    schema: int = 1
