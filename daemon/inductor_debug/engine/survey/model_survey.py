"""Looks at one model of a survey: one capture judged for every accelerator, then what was asked beside that.

The jobs are those of other commands: `compare-accelerators` for the capture, orders for measurements and comparisons.
A model that fails, hangs or crashes has an outcome that says so, and never ends the survey.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from inductor_debug_schema import (
    AcceleratorComparison,
    Checked,
    DiffDocument,
    DiffOptions,
    FileReport,
    GraphDocument,
    MeasurementDocument,
    MeasureTask,
)

from inductor_debug.engine.engine import Engine
from inductor_debug.engine.orders.comparing import diff_order, no_comparison
from inductor_debug.engine.orders.made_documents import documents_of
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.orders.outcomes import failure
from inductor_debug.engine.settings.settings import ConfigurationError, Settings
from inductor_debug.engine.survey.survey_models import SurveyModel
from inductor_debug.engine.survey.survey_rows import ModelOutcome

_LOG = logging.getLogger(__name__)
MEASURE_SECONDS = 900.0
"""How long the measurement of one backend may take, all compilations together, where no other time is set."""
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Measuring:
    """How backends are measured; the fields are those of `MeasureTask`."""

    repeats: int = 20
    seconds: float = 3.0
    compiles: int = 1


@dataclass(frozen=True, slots=True)
class SurveyOptions:
    """What is asked of each model.

    `accelerators` are names and paths of profiles, one column each, where there are any; `backends` are measured where
    `measuring` says how, and compared by KernelDiff where `compares`. `training` adds the backward pass to both. With
    `draws` the graphs are brought along.
    `timeout` is that of the command line, in seconds. `asked` is all of it as the header has it.
    """

    asked: Mapping[str, str]
    accelerators: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    measuring: Measuring | None = None
    compares: bool = False
    training: bool = False
    draws: bool = False
    timeout: float | None = None


class ModelSurvey:
    """Looks at models with one engine. `settings_like` gives the settings of a file with an accelerator in turn."""

    def __init__(
        self,
        engine: Engine,
        options: SurveyOptions,
        settings_for: Callable[[str], Settings],
        settings_like: Callable[[str, str], Settings],
    ) -> None:
        self._engine, self._options = engine, options
        self._settings_for, self._settings_like = settings_for, settings_like

    async def outcome(self, model: SurveyModel, tell: Tell) -> ModelOutcome:
        """All that comes of one model; `tell` is told what is being done.

        Raises:
            ConfigurationError: the settings for a file cannot be used.
        """
        started = time.perf_counter()
        key = key_of(model, self._options.asked)
        path = model.paths[0] if model.paths else ""
        learned: AcceleratorComparison | FileReport | None = None
        problem = model.problem
        measured: dict[str, list[MeasurementDocument]] = {}
        compared: dict[str, list[DiffDocument]] = {}
        drawn: dict[str, list[GraphDocument]] = {}
        try:
            if not problem:
                path, learned = await self._captured(model, tell)
            if isinstance(learned, AcceleratorComparison):
                targets = [target.name for target in learned.targets if target.checked is not Checked.NO]
                for name in targets if self._options.draws else ():
                    drawn[name] = await self._drawn(path, name, tell)
                for backend in self._options.backends:
                    for name in targets:
                        await self._beside(path, name, backend, tell, measured, compared)
        except ConfigurationError:
            raise
        except Exception as error:  # our own fault: the other models have their rows
            _LOG.exception("the survey of %s failed", model.name)
            problem = f"inductor-debug itself failed: {type(error).__name__}: {error}"
        seconds = time.perf_counter() - started
        return ModelOutcome(model, path, key, seconds, learned, problem, measured, compared, drawn)

    async def _captured(self, model: SurveyModel, tell: Tell) -> tuple[str, AcceleratorComparison | FileReport]:
        """The first of the model's files that could be analysed, else the last, with what was learned of it."""
        tell(model.name)
        for path in model.paths:
            learned = await self._engine.compare_accelerators(path, model.target, self._alternatives(path))
            if isinstance(learned, AcceleratorComparison) and any(
                target.checked is not Checked.NO for target in learned.targets
            ):
                break
        return path, learned

    def _alternatives(self, path: str) -> Sequence[Settings]:
        named = [self._settings_like(path, name) for name in self._options.accelerators]
        return named or [self._settings_for(path)]

    async def _drawn(self, path: str, target: str, tell: Tell) -> list[GraphDocument]:
        tell(f"{target}: drawing its graphs")
        performed = await self._engine.perform(path, Order(target=target, keep_graphs=True))
        return [document for document, _ in documents_of(performed.artifacts)]

    async def _beside(
        self,
        path: str,
        target: str,
        backend: str,
        tell: Tell,
        measured: dict[str, list[MeasurementDocument]],
        compared: dict[str, list[DiffDocument]],
    ) -> None:
        options = self._options
        if options.measuring is not None:
            tell(f"{target}: measuring {backend}")
            order = measure_order(backend, target, options)
            performed = await self._engine.perform(path, order)
            found = performed.documents(MeasurementDocument) or [_not_measured(target, backend, options, performed)]
            measured.setdefault(target, []).extend(found)
        if options.compares and backend != "eager":
            tell(f"{target}: comparing {backend}")
            asked = DiffOptions(backend=backend, gradients=options.training)
            performed = await self._engine.perform(path, diff_order(asked, target=target, timeout=options.timeout))
            compared.setdefault(target, []).extend(
                performed.documents(DiffDocument) or [no_comparison(target, backend, performed)]
            )


def key_of(model: SurveyModel, asked: Mapping[str, str]) -> str:
    """A digest of a model's texts and of what is asked: rows with the same key need not be made again."""
    digest = hashlib.sha256()
    for words in (*sorted(f"{name}={value}" for name, value in asked.items()), model.target):
        digest.update(words.encode("utf-8", "surrogatepass") + b"\0")
    for path in model.paths:
        digest.update(_content(path) + b"\0")
    return digest.hexdigest()[:16]


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:  # its row will say so
        return b""


def measure_order(backend: str, target: str, options: SurveyOptions) -> Order:
    """The order for a measurement."""
    how = options.measuring or Measuring()
    task = MeasureTask(backend, options.training, how.repeats, how.seconds, how.compiles)
    return Order(task, target, timeout=options.timeout or MEASURE_SECONDS)


def _not_measured(target: str, backend: str, options: SurveyOptions, performed: Performed) -> MeasurementDocument:
    return MeasurementDocument(
        schema=1,
        target=target,
        measured_backend=backend,
        training=options.training,
        device="",
        threads=0,
        cold=[],
        warm=[],
        seconds=[],
        eager_seconds=[],
        peak_bytes=None,
        eager_peak_bytes=None,
        problem=failure(performed) or "the worker gave no answer",
    )
