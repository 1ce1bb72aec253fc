"""Where files are checked and models looked at: this machine's engine, or a cluster behind the same methods.

Both are used from one event loop and shut down in the end. Whoever runs many files need not know which it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from inductor_debug_schema import FileReport

from inductor_debug.engine.results.analysis import AnalysisUpdate
from inductor_debug.engine.results.kept_runs import Versions
from inductor_debug.engine.survey.model_survey import Tell
from inductor_debug.engine.survey.survey_models import SurveyModel
from inductor_debug.engine.survey.survey_rows import ModelOutcome

AT_ONCE = 1024
"""Files that are begun at once where the place itself bounds what runs."""


class RunPlace(Protocol):
    """What runs models, and has to be wound up."""

    @property
    def versions(self) -> Versions:
        """What models run with there, as far as it is known."""

    async def shutdown(self) -> None:
        """Stops everything for good."""


class CheckPlace(RunPlace, Protocol):
    """Where files are checked: an `Engine` is one."""

    async def check(
        self, path: str, on_progress: Callable[[AnalysisUpdate], None] | None = None, *, keep_graphs: bool = False
    ) -> FileReport:
        """As `Engine.check`."""


class StudyPlace(Protocol):
    """Where models are looked at: a `ModelSurvey` is one."""

    async def outcome(self, model: SurveyModel, tell: Tell) -> ModelOutcome:
        """All that comes of one model."""
