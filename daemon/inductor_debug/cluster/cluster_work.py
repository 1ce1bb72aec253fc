"""What goes to the nodes of a cluster and comes back, as JSON texts: the work on one file, and its answer.

Absolute paths in a text are those of the machine that wrote the work. A node that has unpacked the workspace elsewhere
moves them on arrival, and back before it answers (`moved`). No object of ours is ever pickled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from inductor_debug_schema import FileReport, from_wire, to_wire

from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.survey.model_survey import SurveyOptions
from inductor_debug.engine.survey.survey_models import SurveyModel
from inductor_debug.engine.survey.survey_rows import ModelOutcome


@dataclass(frozen=True, slots=True)
class Study:
    """A model of a survey to look at; `alternatives` are the settings by the accelerators that are asked for."""

    model: SurveyModel
    options: SurveyOptions
    alternatives: Mapping[str, Settings] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeWork:
    """One file with its settings: to be checked, or with a `study` to be surveyed.

    `keep_graphs` is that of `Engine.check`.
    """

    path: str
    settings: Settings
    keep_graphs: bool = False
    study: Study | None = None


@dataclass(frozen=True, slots=True)
class Parcel:
    """NodeWork on its way. `work` is a `NodeWork` as JSON, `root` the folder on the machine that wrote it.

    `workspace` is the digest of the copy that stands for that folder, "" where the node sees the folder itself;
    `memory` is how many bytes the job may have resident at most, 0 for what the settings say.
    """

    work: str
    root: str
    workspace: str
    memory: int = 0


class AnswerState(str, Enum):
    """How work ended on a node."""

    DONE = "done"
    FAILED = "failed"
    """The node could not do it; another one might."""


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """What a node says: `seconds` is what the work took there, `torch` and `python` what it ran with.

    `result` is a `FileReport` or a `ModelOutcome` as JSON, `why` the reason where there is none.
    """

    state: AnswerState
    node: str
    seconds: float
    result: str = ""
    why: str = ""
    torch: str | None = None
    python: str | None = None


def written(value: Any) -> str:
    """A dataclass as JSON."""
    return json.dumps(to_wire(value), ensure_ascii=False, separators=(",", ":"))


def read_work(text: str) -> NodeWork:
    """What `written` made of work.

    Raises:
        ValueError: it is no such thing; `WireError` is one.
    """
    return from_wire(NodeWork, json.loads(text))


def read_parcel(text: str) -> Parcel:
    """What `written` made of a parcel.

    Raises:
        ValueError: it is no such thing.
    """
    return from_wire(Parcel, json.loads(text))


def read_answer(text: str) -> NodeAnswer:
    """What `written` made of an answer.

    Raises:
        ValueError: it is no such thing.
    """
    return from_wire(NodeAnswer, json.loads(text))


def read_report(text: str) -> FileReport:
    """What `written` made of a report.

    Raises:
        ValueError: it is no such thing.
    """
    return from_wire(FileReport, json.loads(text))


def read_outcome(text: str) -> ModelOutcome:
    """What `written` made of what came of a model.

    Raises:
        ValueError: it is no such thing.
    """
    return from_wire(ModelOutcome, json.loads(text))


def moved(text: str, origin: str, target: str) -> str:
    """A JSON text in which every path at or below the folder `origin` is one of `target`."""
    if origin == target:
        return text
    before, after = (json.dumps(folder, ensure_ascii=False)[1:-1] for folder in (origin, target))
    return re.sub(re.escape(before) + r"(?![\w.-])", lambda _found: after, text)
