"""The `formats` document: which formats and runtimes take the program that a target exports to, and what stops others.

What is said is what torch and the libraries say that are installed; of one that is not, nothing is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Union

from inductor_debug_schema.positions import Range


class FormatState(str, Enum):
    """Whether a format takes a program."""

    TAKEN = "taken"
    REFUSED = "refused"
    NOT_INSTALLED = "not-installed"
    """The library that converts to it is not there, so nobody knows."""
    NOT_TRIED = "not-tried"
    """There is no exported program, or nothing could be decided without its values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatObstacle:
    """An operator that a format has nothing for, `count` times at the user's `expression` (at `path` and `range`)."""

    operator: str
    count: int = 1
    expression: str = ""
    path: Union[str, None] = None
    range: Union[Range, None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """One format: `pt2`, `onnx` or `executorch`.

    `made_by` is what was asked (`torch.export.save`, `torch.onnx.export with onnxscript 0.7.2`). `why` says what was
    raised, or what to install. `fixed_sizes` says that it takes the program only with the sizes of the example.
    """

    format: str
    state: FormatState
    made_by: str = ""
    why: str = ""
    fixed_sizes: bool = False
    obstacles: list[FormatObstacle] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatsDocument:
    """One target of the file at `path` ("" where there is none); `why` says what keeps it from being exported."""

    schema: int
    target: str
    exported: bool
    formats: list[ExportFormat]
    why: str = ""
    path: str = ""
