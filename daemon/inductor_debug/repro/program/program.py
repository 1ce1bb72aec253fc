"""A program as plain data: what a reproducer is while it is cut smaller, before it is written down as Python.

A program is a straight line of steps over named values. It holds no tensor and imports no torch, so it can be hashed,
compared and cut in any process; `program_execution` runs it, `writing` prints it.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Union


@dataclass(frozen=True, slots=True)
class Ref:
    """Stands in arguments for the value of that name."""

    name: str


@dataclass(frozen=True, slots=True)
class CodeText:
    """Stands in arguments for what a Python expression gives: `torch.float64`, `slice(None, 3, None)`."""

    text: str


@dataclass(frozen=True, slots=True)
class Body:
    """Stands in arguments for a function of that name, which a higher-order operator runs.

    Its parameters are the program's inputs; `result` is what it returns, references in tuples and lists.
    """

    name: str
    program: Program
    result: Any


@dataclass(frozen=True, slots=True)
class Spec:
    """A tensor without its values. `stride` is in elements; `dtype` has no `torch.` prefix."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    device: str = "cpu"
    requires_grad: bool = False

    @property
    def text(self) -> str:
        """`float32[8, 64]`, for comments."""
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


class ProgramValues(str, Enum):
    """Where the values of an input come from."""

    SEEDED = "seeded"
    """Any values will do: a seeded constructor makes them."""
    RECORDED = "recorded"
    """The failure needs the very values that were seen."""


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor that a program is given, or a number where `spec` is None (then `literal` is its value).

    `mean` and `deviation` are those of the recorded values; `bound` is an exclusive upper bound for whole numbers.
    `origin` names the parameter, buffer or argument that it was, `source` the value that it stands for (inputs that
    were cut out of a larger program keep the name they had there). `base` names another input whose memory it lies in,
    `offset` elements of its own dtype into it; such an input has no values of its own. `hidden` inputs are memory that
    others lie in and no arguments themselves.
    """

    name: str
    spec: Spec | None
    literal: Any = None
    values: ProgramValues = ProgramValues.SEEDED
    mean: float = 0.0
    deviation: float = 1.0
    bound: int = 2
    origin: str = ""
    source: str = ""
    base: str = ""
    offset: int = 0
    hidden: bool = False


class StepKind(str, Enum):
    """How a step is carried out."""

    OPERATOR = "operator"
    """`target` is an overload of `torch.ops` (`aten.mm.default`)."""
    FUNCTION = "function"
    """`target` is the dotted name of a Python function."""
    METHOD = "method"
    """`target` is the name of a method of the first argument."""


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """One operation. `outputs` are the names it binds, with their specs; "" for results that nobody uses.

    `single` says that the result is the one output itself rather than a sequence of outputs; `indexes` are the places
    of the outputs in the sequence. A name in `outputs` that is bound already is written in place. `place` is where in
    the user's source it comes from, for a comment; `module` the dotted path there; `node` the name that a graph has for
    it.
    """

    kind: StepKind
    target: str
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    outputs: tuple[str, ...]
    specs: tuple[Union[Spec, None], ...]
    single: bool = True
    indexes: tuple[int, ...] = ()
    mutates: tuple[str, ...] = ()
    place: str = ""
    module: str = ""
    node: str = ""

    def uses(self) -> list[str]:
        """The names it reads, each once, in order."""
        return list(dict.fromkeys(ref.name for ref in refs((self.args, self.kwargs))))

    def replaced(self, names: dict[str, Any]) -> ProgramStep:
        """The same step with other values (references or literals) in place of the names it reads."""

        def change(item: Any) -> Any:
            return names.get(item.name, item) if isinstance(item, Ref) else item

        return dataclasses.replace(self, args=mapped(self.args, change), kwargs=mapped(self.kwargs, change))


@dataclass(frozen=True, slots=True)
class Program:
    """Steps in order; `outputs` are the names that it returns."""

    inputs: tuple[Input, ...]
    steps: tuple[ProgramStep, ...]
    outputs: tuple[str, ...]

    @property
    def arguments(self) -> tuple[Input, ...]:
        """The inputs that the function is called with."""
        return tuple(item for item in self.inputs if not item.hidden)

    @property
    def key(self) -> str:
        """A digest of everything that can change what the program does."""
        said = [
            *(f"{item}" for item in self.inputs),
            *(f"{s.kind} {s.target} {s.args} {s.kwargs} {s.outputs} {s.indexes}" for s in self.steps),
            ",".join(self.outputs),
        ]
        return hashlib.blake2b("\n".join(said).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()

    def spec_of(self, name: str) -> Spec | None:
        """The spec of a value, at the place where it is first bound; None for numbers and unknown names."""
        for item in self.inputs:
            if item.name == name:
                return item.spec
        for step in self.steps:
            if name in step.outputs:
                return step.specs[step.outputs.index(name)]
        return None


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a contiguous tensor, as torch counts them."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def refs(value: Any) -> Iterator[Ref]:
    """The references inside nested tuples, lists and dictionaries."""
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from refs(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from refs(item)


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same nesting with every leaf changed; tuples stay tuples."""
    if isinstance(value, tuple):
        return tuple(mapped(item, change) for item in value)
    if isinstance(value, list):
        return [mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {name: mapped(item, change) for name, item in value.items()}
    return change(value)


def cut(program: Program, kept: Iterable[int], outputs: Iterable[str] = ()) -> Program:
    """The program of these steps alone: what they read of the others becomes an input, frozen as it was.

    `outputs` are the names to return; without any, what no kept step reads. Inputs that nobody reads are dropped. A
    value that a dropped step wrote in place is as it was before.
    """
    steps = [program.steps[index] for index in sorted(set(kept))]
    made: dict[str, Spec | None] = {}
    for step in program.steps:
        for name, spec in zip(step.outputs, step.specs, strict=True):
            made.setdefault(name, spec)
    given = {item.name: item for item in program.inputs}
    bound: set[str] = set()
    inputs: dict[str, Input] = {}
    read: set[str] = set()

    def need(name: str) -> None:
        if name in bound or name in inputs:
            return
        spec = made.get(name)
        inputs[name] = given[name] if name in given else Input(name, spec, source=name, values=ProgramValues.RECORDED)
        if inputs[name].base and inputs[name].base in given:
            need(inputs[name].base)

    for step in steps:
        for name in step.uses():
            need(name)
            read.add(name)
        bound.update(name for name in step.outputs if name)
    wanted = [name for name in outputs if name in bound or name in given]
    if not wanted:
        wanted = [name for step in steps for name in step.outputs if name and name not in read]
        wanted = wanted or [name for step in steps[-1:] for name in step.outputs if name]
    for name in wanted:
        need(name)
    order = {name: index for index, name in enumerate(given)}
    ordered = sorted(inputs.values(), key=lambda item: order.get(item.name, len(order)))
    return Program(tuple(ordered), tuple(steps), tuple(dict.fromkeys(wanted)))


def producers(program: Program) -> dict[str, int]:
    """The step that first binds each name."""
    found: dict[str, int] = {}
    for index, step in enumerate(program.steps):
        for name in step.outputs:
            if name:
                found.setdefault(name, index)
    return found


def cone(program: Program, outputs: Iterable[str]) -> list[int]:
    """The steps that the values of these names depend on, writes in place included, in order."""
    wanted = set(outputs)
    kept: list[int] = []
    for index in range(len(program.steps) - 1, -1, -1):
        step = program.steps[index]
        if wanted.isdisjoint(step.outputs) and wanted.isdisjoint(step.mutates):
            continue
        kept.append(index)
        wanted.update(step.uses())
    return kept[::-1]


def between(program: Program, first: int, last: int) -> list[int]:
    """The steps on the ways along which values flow from step `first` to step `last`, both included."""
    reached = {name for name in (*program.steps[first].outputs, *program.steps[first].mutates) if name}
    touched = {first}
    for index in range(first + 1, last + 1):
        step = program.steps[index]
        if not reached.isdisjoint(step.uses()):
            touched.add(index)
            reached.update(name for name in (*step.outputs, *step.mutates) if name)
    touched.add(last)
    wanted = set(program.steps[last].uses())
    kept = {last}
    for index in range(last - 1, first - 1, -1):
        step = program.steps[index]
        if index in touched and not (wanted.isdisjoint(step.outputs) and wanted.isdisjoint(step.mutates)):
            kept.add(index)
            wanted.update(step.uses())
    return sorted(kept | {first})
