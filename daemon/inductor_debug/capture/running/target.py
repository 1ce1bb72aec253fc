"""A target that is ready to run: the one thing that model building hands to the stages.

This module only describes; it builds nothing and runs nothing, so that the stages (`preview`, `mock`) and the builder
(`building`) can be read apart from each other.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from inductor_debug_schema import Inferred, Location

from inductor_debug.capture.running.raising import Raising
from inductor_debug.capture.runtime.later_calls import CallsAgain
from inductor_debug.capture.runtime.other_ways import ExportAsked
from inductor_debug.rules.recording.ops import Frame

if TYPE_CHECKING:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode


Call = tuple[tuple[Any, ...], dict[str, Any]]
"""The positional and keyword arguments of one call."""


class InferredInputs(Protocol):
    """What is known here of an inference: what it ended in. `inference.inference_of` has all of it."""

    result: Inferred | None


class BuildMode(Enum):
    """How real the tensors of a target are: the ladder of model building, cheapest first."""

    FAKE = "fake"
    """Nothing has a value: no memory, no arithmetic."""
    FAKE_WITH_REAL_CONSTANTS = "fake-with-real-constants"
    """As `FAKE`, but small tensors that no random number is in keep their values, so `.item()` works on them."""
    REAL = "real"
    """Ordinary tensors, bounded in memory."""
    INVENTED_VALUES = "fake-with-invented-values"
    """As `FAKE_WITH_REAL_CONSTANTS`, but small integers and masks that are computed from tensors without values get
    plausible ones. The last rung, for what looks at values and is too large for real tensors."""


@dataclass
class BuiltTarget:
    """A callable with arguments to call it with, and where in the source all of it comes from.

    Stages may run `function` more than once, but must leave `args` and `kwargs` as they are (copy before an in-place
    op can reach them). Everything in `function`, `args` and `kwargs` is fake under `fake_mode`, or real without one.
    """

    name: str
    """What the target is called in reports: the class's, function's or instance's name."""
    line: int
    """Zero-based line that offers the target."""
    origin: str
    """The name of the convention that found it (`discovery.CandidateOrigin`), for the log."""
    function: Callable[..., Any]
    """An `nn.Module` instance or a function."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    mode: BuildMode
    fake_mode: FakeTensorMode | None
    """The mode that everything was built under; None in `BuildMode.REAL`."""
    module: torch.nn.Module | None
    """The module whose parameters count, if there is one; `function` itself or the object that it is a method of."""
    training: bool
    dynamic: bool | None
    """Passed on to `torch.compile`."""
    declarations: dict[str, tuple[Frame, ...]]
    """Dotted name of a parameter, buffer or submodule to the frames that declare it, innermost first."""
    input_frames: tuple[Frame, ...]
    """Where the inputs come from: the directive, the `return` of `get_inputs`, the call of a compiled function."""
    location: Location
    """Where the target is offered (the name after `class` or `def`): last resort for findings without a frame."""
    more: list[Call] = field(default_factory=list)
    """Arguments of further calls, where the user lists several sets of inputs; a stage runs the first set alone."""
    again: CallsAgain | None = None
    """How the program calls it after the first time, where that was seen."""
    exported: ExportAsked | None = None
    """How the file exports it, in place of compiling it."""
    inference: InferredInputs | None = None
    """What inferred the inputs (and perhaps the constructor's arguments), where nobody gave any."""
    fixed: bool = False
    """Inferred sizes that are free are numbers all the same, because the code could not go on with symbols."""
    ends_early: bool = False
    """Inferred inputs did not carry an eager run to its end, so that what later stages raise proves nothing."""
    raising: Raising | None = None
    """Where its own code raised in an eager run, which therefore comes to nothing behind it."""
    given: dict[str, int] = field(default_factory=dict)
    """Sizes of the inputs that the user set, by name."""
    larger: dict[str, int] = field(default_factory=dict)
    """Sizes of ours that it runs with in place of the usual ones."""
    fullgraph: bool = False
    """The user asked `torch.compile` for one graph, so that a graph break is an error of theirs."""
    gradients: bool = True
    """Whether it runs where torch records gradients; stages follow."""
    notes: list[str] = field(default_factory=list)
    """Sentences for the log and the hover: devices that were redirected, rungs of the ladder that failed."""

    @property
    def calls(self) -> list[Call]:
        """The arguments of every call, in order."""
        return [(self.args, self.kwargs), *self.more]

    @property
    def called_otherwise(self) -> bool:
        """Whether the program calls it in more than one way."""
        return self.again is not None and bool(self.again.later)

    def as_called(self) -> AbstractContextManager[None]:
        """Has torch be set as it was when the program called the target first, where that was seen."""
        return nullcontext() if self.again is None else self.again.first.set_as_here()

    def alone(self) -> list[BuiltTarget]:
        """The same target once for each call, with the arguments of that one alone."""
        return [replace(self, args=args, kwargs=kwargs, more=[]) for args, kwargs in self.calls]


def endings_of(target: BuiltTarget) -> dict[str, Any]:
    """What is known of where runs of a target end, as fields for one that is built anew."""
    return {"ends_early": target.ends_early, "raising": target.raising}


def outline_of(target: BuiltTarget) -> BuiltTarget:
    """All that is known of a target, without the model, its arguments and where its parameters are declared."""
    nothing: dict[str, Any] = {}
    return replace(
        target, function=_let_go, args=(), kwargs=nothing, module=None, more=[], again=None, declarations=nothing
    )


def _let_go(*_: Any, **__: Any) -> None:
    raise RuntimeError("a target that was let go of is built anew before it is run")
