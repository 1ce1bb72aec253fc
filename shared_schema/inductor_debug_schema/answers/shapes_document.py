"""The `shapes` document: what each dimension of a target's inputs became when it was exported, and why.

Places are the user's expressions, None where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Union

from inductor_debug_schema.positions import Range


class DimensionState(str, Enum):
    """What a size may be in the exported program."""

    DYNAMIC = "dynamic"
    """Any in its range."""
    TIED = "tied"
    """Any, but the same as another one."""
    SPECIALISED = "specialised"
    """The one that it was, because the code asks for it."""
    STATIC = "static"
    """The one that it was, because nobody asked for more: sizes 0 and 1, and those that were marked so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputDimension:
    """A dimension of an input tensor, which was `size` in the example.

    `symbol` is what torch calls it where it is dynamic, `minimum` and `maximum` are its range (None: no bound), `asked`
    further conditions (`x.shape[0] % 8 == 0`). `tied_to` is the dimension that it must equal (`x.shape[0]`). `because`
    is the expression that decided, at `path` and `range`.
    """

    input: str
    dimension: int
    size: int
    state: DimensionState
    symbol: str = ""
    minimum: Union[int, None] = None
    maximum: Union[int, None] = None
    asked: list[str] = field(default_factory=list)
    tied_to: str = ""
    because: str = ""
    path: Union[str, None] = None
    range: Union[Range, None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnbackedSymbol:
    """A size or number that only a tensor's value decides, by torch's name, made by an expression."""

    symbol: str
    expression: str
    path: Union[str, None] = None
    range: Union[Range, None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapesDocument:
    """One target of the file at `path` ("" where there is none).

    `exported` says whether export took it. Where it did not, `why` says so, and rows tell of an export that went on
    with made-up values, if there was one. `dynamic_shapes` is the argument of `torch.export.export` that asks for what
    can be had, `marks` the calls of `torch._dynamo.mark_dynamic` for the same: "" where nothing is dynamic.
    """

    schema: int
    target: str
    exported: bool
    dimensions: list[InputDimension]
    unbacked: list[UnbackedSymbol]
    dynamic_shapes: str = ""
    marks: str = ""
    why: str = ""
    path: str = ""
