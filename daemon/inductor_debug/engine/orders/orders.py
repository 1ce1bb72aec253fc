"""Orders: what a user asks for by name beyond findings (graphs, a comparison, a reproducer, a bisection).

Plain data. `Engine.perform` carries an order out in a worker, past the cache; `JobRequest` is the same on the wire.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from inductor_debug_schema import (
    Answer,
    Answered,
    ArtifactMade,
    ArtifactReference,
    Event,
    FileReport,
    Finding,
    Stage,
    Task,
    TensorTimeline,
)

Document = TypeVar("Document", bound=Answer)


@dataclass(frozen=True)
class Order:
    """What to do with one file: `task`, or an analysis where that is None. `target` is a name, or "" for all.

    `stages` and `timeout` (seconds) replace those of the settings where they are given. The other fields are those of
    `JobRequest`.
    """

    task: Task | None = None
    target: str = ""
    seed: int = 0
    stages: tuple[Stage, ...] = ()
    keep_graphs: bool = False
    keep_captures: bool = False
    keep_guards: bool = False
    keep_costs: bool = False
    keep_trace: bool = False
    trace_tensors: bool = False
    seek_sizes: bool = False
    larger_sizes: bool = False
    export_formats: bool = False
    timeout: float | None = None


def preview_of(target: str) -> Order:
    """No more than one target's first run, for who wants to know whether it runs."""
    return Order(target=target, stages=(Stage.PREVIEW,))


SIZES = Order(stages=(Stage.PREVIEW,), seek_sizes=True)
"""Which sizes of the inputs are free, for all targets that run."""


@dataclass(frozen=True)
class Performed:
    """What came of an order: the file's report (with findings, and why nothing came of it), answers and artifacts.

    `broken` says that the run itself failed (a crash, a timeout); what had come until then is here all the same. `text`
    is what ran. `references` are the artifacts that could be kept; `notes` say why others could not. `found` are the
    report's findings before policy: for whoever keeps them while settings and comments change. `timelines` say which
    tensors were alive when, by target.
    """

    report: FileReport
    text: str
    answers: list[Answered] = field(default_factory=list)
    artifacts: list[ArtifactMade] = field(default_factory=list)
    broken: bool = False
    references: list[ArtifactReference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    found: list[Finding] = field(default_factory=list)
    timelines: Mapping[str, TensorTimeline] = field(default_factory=dict)

    def documents(self, kind: type[Document]) -> list[Document]:
        """The answers of one kind, in the order of the targets."""
        return [answered.document for answered in self.answers if isinstance(answered.document, kind)]


Listener = Callable[[Event], None]
"""Told of every event as it comes; `Progressed` is meant for progress bars."""
