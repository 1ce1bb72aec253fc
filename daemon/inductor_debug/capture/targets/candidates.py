"""A candidate: a callable that a loaded file proposes for compilation, with recipes for its model and its inputs.

Recipes run user code, so nothing here calls them; `building` does, under the rung of the ladder that it is on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from inductor_debug_schema import INFERRED_ORIGIN, Location, TargetFound

from inductor_debug.capture.running.target import Call
from inductor_debug.capture.runtime.later_calls import CallsAgain
from inductor_debug.capture.runtime.other_ways import ExportAsked
from inductor_debug.rules.recording.ops import Frame

if TYPE_CHECKING:
    from inductor_debug.capture.inference.inference import Inference


class CandidateOrigin(str, Enum):
    """The convention by which a file offers a target, in the order in which they are asked."""

    ENTRY = "entry"
    """An expression that gives it: `# inductor-debug: entry=build(Cfg())`, a setting, or the command line."""
    DIRECTIVE = "directive"
    """A comment `# inductor-debug: inputs=...` above a definition."""
    CONFIGURATION = "pyproject"
    """A table `[tool.inductor-debug.targets."file.py::Name"]`."""
    GET_INPUTS = "get_inputs"
    """Functions `get_inputs` and perhaps `get_init_inputs` beside a class."""
    EXAMPLE_INPUTS = "example_inputs"
    """A function `example_inputs` at module level or a static method of the class."""
    LISTED = "TESTCASES"
    """A list of classes with functions that give their arguments, as ParityBench writes it."""
    COMPILE = "torch.compile"
    """A call of what `torch.compile` returned, made while the file was loaded."""
    MAIN = "main"
    """A call of a model by the file's main program."""
    INFERRED = INFERRED_ORIGIN
    """Nobody gave inputs: they are inferred when the target is built."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A piece of user code that gives a value, and where a complaint about it points if its own frames do not tell."""

    run: Callable[[], Any]
    location: Location
    what: str
    """How a message calls it: "the constructor of Model", "get_inputs()"."""
    frames: tuple[Frame, ...] = ()
    """Where the value is written down in the source."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One target that is not built yet. `identity` tells offers of the same thing apart from others."""

    name: str
    origin: CandidateOrigin
    location: Location
    model: Recipe
    inputs: Recipe
    identity: tuple[int, ...]
    training: bool | None = None
    dynamic: bool | None = None
    fullgraph: bool = False
    gradients: bool = True
    """Whether it is called where torch records gradients, as far as the file calls it."""
    inference: Inference | None = None
    """What infers model and inputs, for `CandidateOrigin.INFERRED`."""
    again: CallsAgain | None = None
    """Further calls of the program's, where it was seen to call it."""
    exported: ExportAsked | None = None
    """How the file exports it, in place of compiling it."""
    more: Callable[[], list[Call]] = list
    """Further sets of inputs, which are known once `inputs` was run."""

    @property
    def key(self) -> tuple[str, str]:
        """Finds the same offer again after the file was loaded once more."""
        return self.origin.value, self.name

    @property
    def found(self) -> TargetFound:
        """What `Loaded` tells of it."""
        return TargetFound(self.name, self.location.range.start.line, self.origin.value)


@dataclass(slots=True)
class Complaint:
    """Something about targets that the user should know: a finding of rule `directive`."""

    message: str
    location: Location


@dataclass(slots=True)
class Discovered:
    """What a file offers, what is wrong with how it offers it, and remarks for the log.

    `reserve` are offers of the parts of an inferred target, by its name, for when nothing is found for the whole.
    """

    candidates: list[Candidate] = field(default_factory=list)
    complaints: list[Complaint] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    reserve: dict[str, list[Candidate]] = field(default_factory=dict)


def as_calls(value: Any) -> list[Call]:
    """All calls from what a user wrote as inputs: a list of nothing but tuples holds several sets of them."""
    if type(value) is list and value and all(type(item) is tuple for item in value):
        return [as_call(item) for item in value]
    return [as_call(value)]


def as_call(value: Any) -> Call:
    """One call's arguments from what a user wrote as inputs.

    A tuple or list holds positional arguments, a mapping keyword arguments; anything else is the only argument.
    A named tuple is one value.
    """
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return (), dict(value)
    if isinstance(value, list) or (isinstance(value, tuple) and not hasattr(value, "_fields")):
        return tuple(value), {}
    return (value,), {}
