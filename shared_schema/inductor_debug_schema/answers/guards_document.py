"""The `guards` document: what the compiled graphs of a target rely on, and what compiled them again.

Places are the user's expressions, None where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from inductor_debug_schema.positions import Range


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphGuard:
    """Something that a graph relies on: its `kind` as torch calls it, `source` as the user would write it.

    `bookkeeping` guards hold as long as nobody meddles with modules, hooks or torch's own state.
    """

    kind: str
    source: str
    bookkeeping: bool
    path: Union[str, None]
    range: Union[Range, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedGraph:
    """A captured graph: `number` as torch counts compilations (`0/1`), the function it begins in, and its guards.

    `calls` are the operations that it captured. Of `bookkeeping_guards` there is only the number, unless they were
    asked for.
    """

    number: str
    function: str
    calls: int
    guards: list[GraphGuard]
    bookkeeping_guards: int
    path: Union[str, None]
    range: Union[Range, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedGuard:
    """A guard of the version `graph` that a call broke, in words (`text`)."""

    text: str
    source: str
    graph: str
    path: Union[str, None]
    range: Union[Range, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRecompile:
    """A function that was compiled again, for the call `inputs` (from 1); `broken` has all guards that failed."""

    function: str
    number: str
    inputs: int
    broken: list[FailedGuard]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEnd:
    """A graph break, or a function that was given up, in words."""

    rule: str
    text: str
    path: Union[str, None]
    range: Union[Range, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class EagerCode:
    """A function of which some operations ran outside of any graph."""

    function: str
    operations: int
    path: Union[str, None]
    range: Union[Range, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardsDocument:
    """One target of the file at `path` ("" where there is none).

    `frames` counts compilations, `calls` the operations that all graphs captured, `sets` the sets of inputs that were
    run.
    """

    schema: int
    target: str
    sets: int
    frames: int
    calls: int
    graphs: list[GuardedGraph]
    breaks: list[GraphEnd]
    recompiles: list[GraphRecompile]
    eager: list[EagerCode]
    notes: list[str]
    path: str = ""
