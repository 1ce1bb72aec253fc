"""Everything on the wire survives the trip, and what does not fit is refused by name."""

from __future__ import annotations

import dataclasses
import json
import typing

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inductor_debug_schema import (
    EVENT_TYPES,
    DiffTask,
    FileReport,
    FileStatus,
    Finding,
    JobRequest,
    Position,
    Range,
    Related,
    ReproTask,
    Severity,
    Stage,
    StageFinished,
    StageReport,
    TargetReport,
    Task,
    TransfersTask,
    WireError,
    from_wire,
    to_wire,
)

st.register_type_strategy(int, st.integers(min_value=-(2**63), max_value=2**64 - 1))
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
NON_NEGATIVE = st.integers(min_value=0, max_value=2**31)


def ranges() -> st.SearchStrategy[Range]:
    positions = st.builds(Position, line=NON_NEGATIVE, character=NON_NEGATIVE)
    return st.builds(Range, start=positions, end=positions)


def findings() -> st.SearchStrategy[Finding]:
    related = st.builds(Related, path=st.text(), range=ranges(), message=st.text())
    return st.builds(Finding, range=ranges(), related=st.lists(related, max_size=3), count=NON_NEGATIVE)


@given(st.builds(FileReport, findings=st.lists(findings(), max_size=4)))
def test_a_report_survives_msgpack_and_json(report: FileReport) -> None:
    wire = to_wire(report)
    assert from_wire(FileReport, msgpack.unpackb(msgpack.packb(wire))) == report
    assert from_wire(FileReport, json.loads(json.dumps(wire))) == report


@pytest.mark.parametrize("cls", [*EVENT_TYPES.values(), JobRequest])
@settings(
    max_examples=20,  # of each: they have one codec, and most of their types, in common
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],  # messages are as large as their types
)
@given(data=st.data())
def test_every_message_between_engine_and_worker_survives(cls: type, data: st.DataObject) -> None:
    json_like = st.dictionaries(st.text(), st.from_type(int) | st.text() | st.booleans(), max_size=3)
    overrides = {name: json_like for name, kind in typing.get_type_hints(cls).items() if kind == dict[str, typing.Any]}
    message = data.draw(st.builds(cls, **overrides))
    assert from_wire(cls, msgpack.unpackb(msgpack.packb(to_wire(message)))) == message


def a_report() -> dict[str, typing.Any]:
    place = Range(Position(1, 2), Position(1, 9))
    finding = Finding("dtype", Severity.WARNING, "float64", "/model.py", place, Stage.MOCK)
    stages = [StageReport(Stage.MOCK, state=typing.cast(typing.Any, "done"), seconds=0.1)]
    target = TargetReport("Model", 0, stages)
    wire = to_wire(FileReport("/model.py", FileStatus.FINDINGS, [target], [finding]))
    assert isinstance(wire, dict)
    return wire


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (["status"], "sunny", "FileReport.status"),
        (["findings", 0, "range", "start", "line"], "one", r"findings\[0\].range.start.line: expected int, got str"),
        (["findings", 0, "range", "start", "line"], True, "expected int, got bool"),
        (["findings", 0, "severity"], "fatal", r"findings\[0\].severity"),
        (["targets"], {}, "targets: expected list, got dict"),
        (["targets", 0], "Model", r"targets\[0\]: expected an object"),
        (["path"], None, "path: expected str, got NoneType"),
    ],
)
def test_what_does_not_fit_is_named(path: list[typing.Any], value: object, complaint: str) -> None:
    wire = a_report()
    place: typing.Any = wire
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(WireError, match=complaint):
        from_wire(FileReport, wire)


def test_a_missing_field_is_named() -> None:
    wire = a_report()
    del wire["findings"][0]["rule"]
    with pytest.raises(WireError, match=r"findings\[0\].rule is missing"):
        from_wire(FileReport, wire)


def test_a_newer_peer_may_add_fields() -> None:
    wire = a_report()
    wire["colour"] = "green"
    assert from_wire(FileReport, wire).path == "/model.py"


def test_whole_numbers_pass_for_seconds() -> None:
    wire = to_wire(StageFinished("Model", StageReport(Stage.MOCK, typing.cast(typing.Any, "done"), 1.0), []))
    wire["report"]["seconds"] = 1
    assert from_wire(StageFinished, wire).report.seconds == 1.0


def test_every_type_on_the_wire_is_a_frozen_dataclass() -> None:
    for cls in (*EVENT_TYPES.values(), JobRequest, FileReport, Finding):
        assert dataclasses.is_dataclass(cls)
        assert cls.__dataclass_params__.frozen  # type: ignore[attr-defined]


@pytest.mark.parametrize("task", [DiffTask(backend="x"), ReproTask(fingerprint="", backend="x"), TransfersTask({})])
def test_a_task_is_read_as_what_it_was(task: Task) -> None:
    asked = JobRequest(1, "model.py", "", "/", [], {}, task=task)
    assert from_wire(JobRequest, to_wire(asked)).task == task
