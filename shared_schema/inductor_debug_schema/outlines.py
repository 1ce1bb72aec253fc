"""What the text of an open document says of itself: where its definitions lie, and the directives above them.

Read off the present text, which nothing runs; lines are zero-based.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Union

from inductor_debug_schema.positions import Range


class DefinitionKind(str, Enum):
    """What a definition is; a module is a class that derives, as far as the text alone tells, from one of torch."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A class or function that can be reached by name.

    `line` is that of `class` or `def`, `top` that of its first decorator, `nested` whether it stands inside of an `if`,
    `try` or the like, where no directive reaches it.
    """

    name: str
    kind: DefinitionKind
    line: int
    top: int
    nested: bool = False
    has_directive: bool = False


@dataclass(frozen=True, slots=True)
class FileOutline:
    """The definitions of a document in the order of its text.

    While the text does not parse (`parses`), they are those of the last text that did, at the lines where they lie now.
    `left_out` counts those at the end for which a message has no room.
    """

    uri: str
    entries: list[OutlineEntry] = field(default_factory=list)
    parses: bool = True
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Replacement:
    """What stands in `range` of a document is replaced by `text`; an empty range inserts."""

    range: Range
    text: str


@dataclass(frozen=True, slots=True)
class DirectiveDraft:
    """A directive comment above a class: what it says now, and the edits that would have it say something else.

    `inputs` and `init` are None where no directive says them; `required` names the arguments that the class cannot be
    made without. `problem` says why what is wished for cannot be written; then there are no `edits`.
    """

    uri: str
    name: str
    required: list[str] = field(default_factory=list)
    inputs: Union[str, None] = None
    init: Union[str, None] = None
    problem: str = ""
    edits: list[Replacement] = field(default_factory=list)
