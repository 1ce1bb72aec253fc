"""The columns of a survey, in one place for all formats: what they are called, what a row has there, and how it reads.

What nobody knows stays empty. Columns of accelerators and of backends are there where the survey has any.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Union

from inductor_debug_schema import (
    Checked,
    CompileTime,
    FileStatus,
    MeasurementDocument,
    Severity,
    SurveyColumn,
    SurveyComparison,
    SurveyRow,
)

from inductor_debug.accelerators.profile import NO_ACCELERATOR
from inductor_debug.engine.survey.comparing_surveys import row_name
from inductor_debug.rules.amounts import in_bytes, in_seconds, in_thousands

Value = Union[str, int, float, None]
_CHECKED = {Checked.YES: "yes", Checked.PARTLY: "partly", Checked.NO: "no"}


@dataclass(frozen=True, slots=True)
class SurveyField:
    """A column: `key` for programs, `label` for people, the `value` of a row, and what `kind` of value that is.

    Kinds are those of `WORDS`, which pages know as well (`page/format.js`).
    """

    key: str
    label: str
    value: Callable[[SurveyRow], Value]
    kind: str = "count"

    @property
    def numeric(self) -> bool:
        """Whether values are numbers."""
        return self.kind != "text"

    def text(self, row: SurveyRow) -> str:
        """The cell of a row for people; empty where nobody knows."""
        value = self.value(row)
        return "" if value is None else WORDS[self.kind](value)


def fields_of(rows: Sequence[SurveyRow]) -> list[SurveyField]:
    """All columns that these rows have something in."""
    accelerators = dict.fromkeys(column.accelerator for row in rows for column in row.columns)
    measured = dict.fromkeys(document.measured_backend for row in rows for document in row.measured)
    compared = dict.fromkeys(document.compared_backend for row in rows for document in row.compared)
    return [
        *_of_models(rows),
        *(field for name in accelerators for field in _of_accelerator(name, len(accelerators) > 1)),
        *(field for name in measured for field in _of_measured(name)),
        *(field for name in compared for field in _of_compared(name)),
    ]


def rule_fields(rows: Sequence[SurveyRow]) -> list[SurveyField]:
    """A column for each rule that found anything, those that found most first."""
    return [
        SurveyField(f"rule {rule}", rule, lambda row, rule=rule: rules_of(row).get(rule))  # type: ignore[misc]
        for rule in rules_found(rows)
    ]


def rules_of(row: SurveyRow) -> dict[str, int]:
    """How many findings each rule has, each counted once however many accelerators have it."""
    counts: dict[str, int] = {}
    for finding in row.findings:
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
    return counts


def rules_found(rows: Sequence[SurveyRow]) -> list[str]:
    """The rules that found anything, those that found most first."""
    totals: dict[str, int] = {}
    for row in rows:
        for rule, count in rules_of(row).items():
            totals[rule] = totals.get(rule, 0) + count
    return sorted(totals, key=lambda rule: (-totals[rule], rule))


def name_of(row: SurveyRow) -> str:
    """What the table calls a row: the model, with its target where the file offers several."""
    return row_name(row)


def failed(row: SurveyRow) -> bool:
    """Whether the row says that the model could not be looked at."""
    return row.status in (FileStatus.FAILED, FileStatus.CRASHED, FileStatus.TIMEOUT)


def severities(row: SurveyRow) -> dict[Severity, int]:
    """How many findings there are of each severity."""
    return {kind: sum(finding.severity is kind for finding in row.findings) for kind in Severity}


def column_of(row: SurveyRow, accelerator: str) -> SurveyColumn | None:
    """What an accelerator makes of a row."""
    return next((column for column in row.columns if column.accelerator == accelerator), None)


def measured_of(row: SurveyRow, backend: str) -> MeasurementDocument | None:
    """The measurement of a backend."""
    return next((document for document in row.measured if document.measured_backend == backend), None)


def compared_of(row: SurveyRow, backend: str) -> SurveyComparison | None:
    """KernelDiff's verdict on a backend."""
    return next((document for document in row.compared if document.compared_backend == backend), None)


def speed_up(document: MeasurementDocument) -> float | None:
    """How many times as fast as eager the backend is, by the medians."""
    if not document.seconds or not document.eager_seconds:
        return None
    return statistics.median(document.eager_seconds) / statistics.median(document.seconds)


def spread(seconds: Sequence[float]) -> float | None:
    """Half the distance between the quartiles, as a part of the median."""
    if len(seconds) < 4:
        return None
    low, middle, high = statistics.quantiles(seconds, n=4)
    return (high - low) / 2 / middle if middle else None


def _of_models(rows: Sequence[SurveyRow]) -> Iterator[SurveyField]:
    yield SurveyField("model", "model", name_of, "text")
    yield SurveyField("checked", "checked", _state, "text")
    yield SurveyField("errors", "errors", lambda row: severities(row)[Severity.ERROR], "some")
    yield SurveyField("warnings", "warnings", lambda row: severities(row)[Severity.WARNING], "some")
    yield SurveyField("notes", "notes", lambda row: severities(row)[Severity.INFORMATION], "some")
    yield SurveyField("graphs", "graphs", lambda row: row.graphs)
    yield SurveyField("breaks", "breaks", lambda row: row.breaks, "some")
    yield SurveyField("recompiles", "recompiles", lambda row: row.recompiles, "some")
    yield SurveyField("ops", "ops", _cost("ops"), "count")
    yield SurveyField("flops", "FLOPs", _cost("flops"), "thousands")
    yield SurveyField("moved_bytes", "bytes", _cost("moved_bytes"), "bytes")
    yield SurveyField("parameters", "params", lambda row: row.parameters, "thousands")
    yield SurveyField("peak_bytes", "peak", _cost("peak_bytes"), "bytes")


def _of_accelerator(name: str, several: bool) -> Iterator[SurveyField]:
    if name == NO_ACCELERATOR and not several:
        return

    def of(attribute: str) -> Callable[[SurveyRow], Value]:
        def value(row: SurveyRow) -> Value:
            column = column_of(row, name)
            return None if column is None else getattr(column, attribute)

        return value

    def share(attribute: str) -> Callable[[SurveyRow], Value]:
        def value(row: SurveyRow) -> Value:
            column = column_of(row, name)
            part = None if column is None else getattr(column, attribute)
            return None if column is None or part is None or not column.ops else part / column.ops

        return value

    def on_device(row: SurveyRow) -> Value:
        column = column_of(row, name)
        if column is None or not column.ops:
            return None
        return 1 - ((column.fallback_ops or 0) + (column.unsupported_ops or 0)) / column.ops

    def findings(row: SurveyRow) -> Value:
        column = column_of(row, name)
        return None if column is None else sum(column.rules.values())

    yield SurveyField(f"{name} findings", f"{name}: findings", findings, "some")
    if name == NO_ACCELERATOR:
        return
    yield SurveyField(f"{name} device", "on device", on_device, "percent")
    yield SurveyField(f"{name} cpu", "on CPU", share("fallback_ops"), "percent")
    yield SurveyField(f"{name} unsupported", "nowhere", share("unsupported_ops"), "percent")
    yield SurveyField(f"{name} padding", "padding", of("padding_bytes"), "bytes")
    yield SurveyField(f"{name} peak", "peak there", of("peak_bytes"), "bytes")
    yield SurveyField(f"{name} bound", "time, at least", of("seconds_at_least"), "seconds")


def _of_measured(name: str) -> Iterator[SurveyField]:
    def of(value: Callable[[MeasurementDocument], Value]) -> Callable[[SurveyRow], Value]:
        def found(row: SurveyRow) -> Value:
            document = measured_of(row, name)
            return None if document is None else value(document)

        return found

    yield SurveyField(f"{name} cold", f"{name}: cold", of(lambda document: _compiling(document.cold)), "seconds")
    yield SurveyField(f"{name} warm", "warm", of(lambda document: _compiling(document.warm)), "seconds")
    yield SurveyField(f"{name} eager", "eager", of(lambda document: _median(document.eager_seconds)), "seconds")
    yield SurveyField(f"{name} latency", "latency", of(lambda document: _median(document.seconds)), "seconds")
    yield SurveyField(f"{name} spread", "±", of(lambda document: spread(document.seconds)), "percent")
    yield SurveyField(f"{name} speed-up", "speed-up", of(speed_up), "times")
    yield SurveyField(f"{name} peak", "memory", of(lambda document: document.peak_bytes), "bytes")
    yield SurveyField(f"{name} problem", "not measured", of(lambda document: document.problem or None), "text")


def _of_compared(name: str) -> Iterator[SurveyField]:
    def verdict(row: SurveyRow) -> Value:
        found = compared_of(row, name)
        return None if found is None or found.verdict is None else found.verdict.value

    def blame(row: SurveyRow) -> Value:
        found = compared_of(row, name)
        return (found.blame or None) if found is not None else None

    yield SurveyField(f"{name} KernelDiff", f"{name}: numbers", verdict, "text")
    yield SurveyField(f"{name} blame", "blame", blame, "text")


def _state(row: SurveyRow) -> str:
    if row.status in (FileStatus.CLEAN, FileStatus.FINDINGS):
        return _CHECKED[row.checked]
    return str(row.status.value)


def _cost(attribute: str) -> Callable[[SurveyRow], Value]:
    """A figure of the model, as the first accelerator has it."""

    def value(row: SurveyRow) -> Value:
        found: Value = getattr(row.columns[0], attribute) if row.columns else None
        return found

    return value


def _median(seconds: Sequence[float]) -> float | None:
    return statistics.median(seconds) if seconds else None


def _compiling(times: Sequence[CompileTime]) -> float | None:
    return _median([one.seconds for one in times])


def _percent(value: Value) -> str:
    share = float(value or 0)
    return "·" if share == 0 else f"{share:.0%}" if share >= 0.1 else f"{share:.1%}"


WORDS: dict[str, Callable[[Value], str]] = {
    "text": str,
    "count": lambda value: f"{value:,}",
    "some": lambda value: f"{value:,}" if value else "·",
    "thousands": lambda value: in_thousands(float(value or 0)),
    "bytes": lambda value: in_bytes(int(value or 0)),
    "seconds": lambda value: in_seconds(float(value or 0)),
    "percent": _percent,
    "times": lambda value: f"{float(value or 0):.2f}×",
}
"""How people read a value of each kind."""
