"""Code of a target that its run left out, which is why it is checked in part."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from inductor_debug_schema.positions import Range


class Held(str, Enum):
    """What was so in the run that left code out, of the block's `subject`."""

    NONE = "none"
    """It is None."""
    PRESENT = "present"
    """It is not None."""
    FALSE = "false"
    """It is false."""
    TRUE = "true"
    """It is true."""
    EMPTY = "empty"
    """It gave a loop nothing to go through."""
    NOT_RAISED = "not-raised"
    """Nothing raised it."""
    OTHER_CASE = "other-case"
    """No value matched the pattern."""
    ENDED = "ended"
    """The function ended, or its loop went on, before."""
    NOT_CALLED = "not-called"
    """Nobody called it: the block is a whole method."""


@dataclass(frozen=True, slots=True)
class UntakenBlock:
    """Code that no target of the file ran, in a function that this target reached.

    `subject` is source text: the condition, what a loop goes through, an exception's or a method's name; empty where
    there is nothing to name. `parameter` says that it is a parameter of the target's own call, for which other inputs
    would do.
    """

    range: Range
    subject: str
    held: Held
    parameter: bool = False
