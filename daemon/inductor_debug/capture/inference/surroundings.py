"""What inference starts from and remembers: the thing to infer for, its file, and earlier answers. Data only."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any

from inductor_debug_schema import Blame, InferenceHint

from inductor_debug.capture.inference import hints
from inductor_debug.capture.inference.classes import outline
from inductor_debug.capture.inference.construction.reconciling import Changes
from inductor_debug.capture.inference.judging.blame import KnownNames
from inductor_debug.capture.inference.judging.remarks import Remark
from inductor_debug.capture.inference.negative_cache import Place
from inductor_debug.capture.inference.search.dynamic_dims import Found
from inductor_debug.capture.inference.specs.specs import Guess
from inductor_debug.system.wall_clock import ClockReading


@dataclass
class InferredCall:
    """What was inferred for one target, so that it need not be inferred again on another rung of the ladder.

    `way` numbers the way in which the model is built, `changes` are what its constructor is given otherwise. `blame` is
    there where the call does not run and the class is at fault; `since` where the call was kept. `last_ran` is the call
    with which it ran before an edit, where others may run now.
    """

    way: int
    found: Found
    blame: Blame | None = None
    since: str = ""
    remarks: list[Remark] = field(default_factory=list)
    changes: Changes = ()
    last_ran: Found | None = None


@dataclass
class InferenceSubject:
    """A class, an instance or a function to infer for.

    `value` is what the file's name stands for; `build` makes the model where the user said how (a directive's `init`).
    """

    name: str
    value: Any
    build: Callable[[], Any] | None = None


@dataclass
class Surroundings:
    """The loaded file, and what was inferred on an earlier rung or by an earlier job."""

    module: ModuleType
    tree: ast.Module
    path: str
    project_root: str
    text: str = ""
    answers: dict[str, InferredCall] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)
    """Seconds that went into inferring for each target, on earlier rungs as well."""
    reached: dict[tuple[str, int], Guess] = field(default_factory=dict)
    """How far a search came for a target, built in the way of that number, before this rung carried no further."""
    stuck: set[str] = field(default_factory=set)
    """Where earlier searches in this file got no further."""
    retry: bool = False
    """Whether what could not be inferred before is tried again, whatever has changed."""
    since: ClockReading = field(default_factory=ClockReading)
    """When the job began."""
    hints: list[InferenceHint] = field(default_factory=list)
    """What earlier jobs inferred for this file."""

    def kept(self, name: str) -> InferenceHint | None:
        """The inputs with which `name` last ran under the same declarations."""
        evidence = hints.evidence_of(name, self.tree, self.text)
        return next((hint for hint in self.hints if hint.target == name and hint.evidence == evidence != ""), None)

    def refused(self, name: str) -> InferenceHint | None:
        """That nothing could be inferred for `name` before."""
        return next((hint for hint in self.hints if hint.target == name and not hint.evidence), None)

    @cached_property
    def names(self) -> KnownNames:
        """What the file may define or set later than it has been executed."""
        return KnownNames(self.tree, self.module, self.path, self.project_root)

    def is_part(self, name: str) -> bool:
        """Whether another class of the file names this one: it is called as that one calls it."""
        shape = outline(self.tree)
        return any(name in shape.named.get(other, ()) for other in shape.classes if other != name)

    def place(self) -> Place:
        """Where the file is, for what refusals rest on."""
        return Place(self.tree, self.text, self.path, self.project_root, self.since)
