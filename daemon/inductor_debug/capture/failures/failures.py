"""What an exception from a running target means, and how it is told to the user.

Fake tensors raise for two reasons of their own: code that asks for a value they do not have, and operators they cannot
imitate. Neither is the user's fault. Every other exception is, and is told in the words real tensors would use.
"""

from __future__ import annotations

import re
from dataclasses import replace
from enum import Enum

from inductor_debug_schema import (
    Finding,
    FractionalSize,
    Location,
    Related,
    Severity,
    ShapeConflict,
    Shortfall,
    Stage,
    UnknownName,
    WrongCall,
)
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.fractional_sizes import RefusedDivision
from inductor_debug.capture.running.stage_results import StageEnding
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.containment import refusal_of
from inductor_debug.capture.runtime.scripted_errors import said_by
from inductor_debug.capture.tensors.fake_mode import left_open
from inductor_debug.capture.tensors.real_check import real_error
from inductor_debug.capture.tensors.recorder import FailedOp
from inductor_debug.rules.amounts import counted
from inductor_debug.rules.recording.ops import Frame
from inductor_debug.rules.words.conflict_words import message_of, related_of
from inductor_debug.source.notebooks.reading import place_in_words
from inductor_debug.system.torch_names import refuse

_NEEDS_VALUE = (DataDependentOutputException, DynamicOutputShapeException, GuardOnDataDependentSymNode)
_LIMITED = (UnsupportedFakeTensorException, UnsupportedOperatorException)
_VALUE_WORDS = re.compile(
    r"\.numpy\(\) is not supported for tensor subclasses"
    r"|Cannot access data pointer of Tensor \(e\.g\. FakeTensor"
    r"|format string passed to FakeTensor"
    r"|but its data is not allocated yet"
    r"|data[- ]dependent",
    re.IGNORECASE,
)
"""Messages of plain exceptions by which torch 2.11 to 2.13 refuse a fake tensor's value."""
_LIMITED_WORDS = re.compile(
    r"Fake ?Tensor|no fake impl|meta backend|'Meta' backend|fake impl|failed in the TorchScript interpreter",
    re.IGNORECASE,
)
_DEVICE_WORDS = re.compile(
    r"Torch not compiled with \w+ enabled|not linked with support for \w+ devices|NVIDIA driver on"
    r"|module 'torch\._C' has no attribute"  # what torch is built with for some devices alone
)
_FAKE_MACHINERY = ("torch._subclasses.", "torch._higher_order_ops.", "torch.fx.experimental.")
_FAKE_TENSOR = re.compile(r"FakeTensor\(\.\.\., (?:device='meta', )?size=(\([^)]*\))[^)]*\)")
_COMMAND = re.compile(r"`[^`]+`")
_OURS = re.compile(r"<(?:class ')?inductor_debug\.[^>]*>")
"""What stands in a message for a value that could not be read off the user's code."""
_UNWRITTEN = "a value that nobody wrote down"
_LONGEST_MESSAGE = 400
_MOST_RELATED = 8


class Fault(Enum):
    """Whose fault an exception is."""

    USER = "user"
    """The target would raise on real tensors too."""
    NEEDS_VALUE = "needs-value"
    """The code looked at a value, and fake tensors have none."""
    LIMITATION = "limitation"
    """Fake tensors cannot imitate an operator that real tensors have."""
    DEVICE = "device"
    """The code wants a device that this machine lacks, where it could not be put elsewhere."""


_SHORT = {
    Fault.NEEDS_VALUE: (
        "{}the code looks at a tensor's value, which a fake tensor does not have ({})",
        Shortfall.VALUE,
    ),
    Fault.LIMITATION: (
        "{}fake tensors cannot imitate this operation, so the run ends here ({})",
        Shortfall.OPERATION,
    ),
    Fault.DEVICE: ("{}this machine has no such device, so the run ends here ({})", Shortfall.DEVICE),
}
"""What is noted of a fault that is not the user's, and what it is to the report."""


def classify(error: BaseException, failed: FailedOp | None, *, fake: bool) -> tuple[Fault, str]:
    """Decides whose fault `error` is, and gives the words for it.

    Args:
        error: what the target raised.
        failed: the op during which it was raised, if an op was running.
        fake: whether the target ran on fake tensors.
    """
    message = describe(error)
    if isinstance(error, (RuntimeError, AssertionError, AttributeError)) and _DEVICE_WORDS.search(str(error)):
        return Fault.DEVICE, message
    if not fake:
        return Fault.USER, message
    text = str(error)
    if isinstance(error, _NEEDS_VALUE) or _VALUE_WORDS.search(text):
        return Fault.NEEDS_VALUE, message
    if isinstance(error, _LIMITED):
        return Fault.LIMITATION, message
    if isinstance(error, (RecursionError, MemoryError)):
        return Fault.USER, message
    if failed is not None and failed.error is error:
        confirmed = real_error(failed)
        if confirmed is None:
            return Fault.LIMITATION, message
        return Fault.USER, describe(confirmed)
    if (isinstance(error, RuntimeError) and _LIMITED_WORDS.search(text)) or _is_internal(error):
        return Fault.LIMITATION, message
    return Fault.USER, message


def is_of_fake_tensors_alone(error: BaseException) -> bool:
    """Whether torch trips over sizes that are symbols where real tensors have numbers, whatever the code does."""
    return isinstance(error, RuntimeError) and "on tensor with symbolic sizes" in str(error)


def _is_internal(error: BaseException) -> bool:
    """Whether torch's fake machinery tripped over itself: an exception that it raises at users is of another kind."""
    if not isinstance(error, (AttributeError, AssertionError, KeyError)):
        return False
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    name = traceback.tb_frame.f_globals.get("__name__", "") if traceback is not None else ""
    return str(name).startswith(_FAKE_MACHINERY)


def describe(error: BaseException) -> str:
    """One line: the exception's type and message, with fake tensors called tensors. Types of ours say nothing.

    Raises:
        TorchDiffersError: a look-up of ours in torch raised it.
    """
    refuse(error)
    if (abstract := left_open(error)) is not None:
        return f"NotImplementedError: torch leaves `{abstract}` to subclasses, and its own does nothing else"
    lines = [line.strip() for line in said_by(error).splitlines() if line.strip()]
    said = next((line for line in lines if any(map(str.isalnum, line))), "".join(lines[:1]))  # not a frame of stars
    if said.endswith(":") and (command := _COMMAND.match("".join(lines[1:2]))) is not None:
        said = f"{said} {command[0]}"  # what it announces
    text = _FAKE_TENSOR.sub(r"a tensor of size \1", said).replace("FakeTensor", "Tensor")
    text = _OURS.sub(_UNWRITTEN, text)
    if len(text) > _LONGEST_MESSAGE:
        text = text[: _LONGEST_MESSAGE - 1] + "…"
    if type(error).__module__.startswith("inductor_debug."):
        return text or f"{_UNWRITTEN} is needed"
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def innermost(frames: tuple[Frame, ...]) -> int | None:
    """The index of the innermost frame in the project, or None."""
    return next((index for index, frame in enumerate(frames) if frame.in_project), None)


def place(frames: tuple[Frame, ...], fallback: Location, deeper: str) -> tuple[Location, list[Related]]:
    """Where a finding on `frames` (innermost first) points, and the rest of them as related places.

    Args:
        frames: the stack under the event.
        fallback: the place where no frame is in the project.
        deeper: what to say of library frames below the user's own, with `{}` for the function.
    """
    index = innermost(frames)
    related: list[Related] = []
    for position, frame in enumerate(frames):
        if position == index or len(related) >= _MOST_RELATED:
            continue
        below = index is None or position < index
        words = deeper.format(frame.function) if below else f"called from {frame.function}"
        related.append(Related(frame.location.path, frame.location.range, words))
    return (fallback if index is None else frames[index].location), related


def capture_error(message: str, frames: tuple[Frame, ...], target: BuiltTarget, stage: Stage) -> Finding:
    """A finding that the target could not be run or captured, at the innermost frame of the user's."""
    location, related = place(frames, target.location, "raised in {}")
    return Finding(
        rule="capture-error",
        severity=Severity.ERROR,
        message=message,
        path=location.path,
        range=location.range,
        stage=stage,
        target=target.name,
        related=related,
    )


def with_refusal(finding: Finding, error: BaseException) -> Finding:
    """The finding of a deed that a check refuses, which is no fault of the code's; any other stays as it is."""
    refusal = refusal_of(error)
    if refusal is None:
        return finding
    return replace(finding, rule="environment", message=str(refusal), cause=refusal.cause)


def fell_short(fault: Fault, message: str, frames: tuple[Frame, ...], findings: list[Finding]) -> StageEnding:
    """How a run ended that fake tensors could not carry on, with the `findings` that were made before."""
    note, shortfall = _SHORT[fault]
    place = where(frames)
    index = innermost(frames)
    at = None if index is None else frames[index].location
    return StageEnding(findings, [note.format(f"{place}: " if place else "", message)], shortfall, at)


def with_unknown_name(finding: Finding, facts: UnknownName) -> Finding:
    """The finding of a name that is not there, with the nearest one where there is one.

    Without one there is nothing to mend at each place, and the name is told once a file.
    """
    if facts.suggestion is None:
        return replace(finding, facts=facts, cause=finding.cause or f"{facts.owner}.{facts.missing_name}")
    missing = (
        f"`{facts.owner}` has no `{facts.missing_name}`" if facts.owner else f"`{facts.missing_name}` is not defined"
    )
    return replace(finding, message=f"{missing}; did you mean `{facts.suggestion}`?", facts=facts)


def with_wrong_call(finding: Finding, facts: WrongCall) -> Finding:
    """The finding of a call whose arguments do not fit what it calls."""
    takes = f"it takes {', '.join(facts.takes)}" if facts.takes else "it takes no arguments"
    told = []
    if facts.unknown_arguments:
        told.append(f"has no parameter {' and no '.join(f'`{name}`' for name in facts.unknown_arguments)}")
    if facts.missing_arguments:
        told.append(f"is not given {' and '.join(f'`{name}`' for name in facts.missing_arguments)}")
    if facts.surplus:
        told.append(f"is given {counted(facts.surplus, 'argument')} too many")
    return replace(finding, message=f"`{facts.called}` {' and '.join(told)}; {takes}", facts=facts)


def with_refused_division(finding: Finding, refused: RefusedDivision, sources: SourceMap) -> Finding:
    """The finding of a division whose result is no whole number, at the division."""
    place = sources.location_of(refused.path, refused.division)
    facts = FractionalSize(sources.excerpt(place), refused.taken_by, Location(finding.path, finding.range))
    takes = f"`{facts.taken_by}` takes" if facts.taken_by else "this takes"
    whole = facts.division.replace("/", "//", 1) if facts.division.count("/") == 1 else ""
    instead = f"`{whole}` gives one" if whole else "`//` gives one"
    message = f"`{facts.division}` is a float, and {takes} a whole number; {instead}"
    related = [item for item in finding.related if (item.path, item.range) != (place.path, place.range)]
    if (finding.path, finding.range.start.line) != (place.path, place.range.start.line):
        related.insert(0, Related(finding.path, finding.range, "refused here"))
    moved = replace(finding, path=place.path, range=place.range, related=related[:_MOST_RELATED])
    return replace(moved, message=message, facts=facts)


def with_conflict(finding: Finding, facts: ShapeConflict) -> Finding:
    """The finding of a call whose operands contradict each other, in words made from the facts."""
    place = finding.path, finding.range
    told = [item for item in related_of(facts) if (item.path, item.range) != place]
    related = [*told, *finding.related][:_MOST_RELATED]
    return replace(finding, message=message_of(facts), related=related, facts=facts)


def places_of(frames: tuple[Frame, ...]) -> frozenset[Location]:
    """Where the project's frames stand."""
    return frozenset(frame.location for frame in frames if frame.in_project)


def where(frames: tuple[Frame, ...]) -> str:
    """`model.py:12` of the innermost project frame, for notes; empty without one."""
    index = innermost(frames)
    if index is None:
        return ""
    location = frames[index].location
    return place_in_words(location.path, location.path, location.range.start.line)


def frames_of_error(error: BaseException, sources: SourceMap) -> tuple[Frame, ...]:
    """The frames of an exception; a syntax error inside generated code has none."""
    return sources.frames_of_traceback(error.__traceback__)
