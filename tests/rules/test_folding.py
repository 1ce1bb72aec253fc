"""One finding for each root cause: what introduces the trouble is told, what inherits it is counted."""

from __future__ import annotations

from inductor_debug_schema import Location, Severity, Stage
from recordings import FALLBACK, LIBRARY, PROJECT, Tape, at, inside_library, lines, only


def to_float64(tape: Tape, source, **more):
    return tape.op("_to_copy.default", [source], tape.tensor(4, dtype="float64"), dtype="float64", **more)


def test_the_op_that_introduces_float64_is_told_and_the_rest_counted() -> None:
    tape = Tape()
    x = to_float64(tape, tape.input("x", 4))
    for _ in range(5):
        x = tape.op("mul.Tensor", [x], tape.tensor(4, dtype="float64"))
    x = tape.op("_to_copy.default", [x], tape.tensor(4), dtype="float32")
    tape.op("relu.default", [x], tape.tensor(4))
    finding = only(tape.judge(), "dtype")
    assert finding.message == (
        "float64 is not supported by accelerator 'mock'; this expression introduces it and 6 more ops carry it on."
    )
    assert (finding.range.start.line, finding.count, finding.op) == (0, 7, "aten._to_copy.default")
    assert (finding.severity, finding.stage, finding.target) == (Severity.WARNING, Stage.PREVIEW, "Model")


def test_two_independent_conversions_are_two_findings() -> None:
    tape = Tape()
    x = tape.input("x", 4)
    a, b = to_float64(tape, x), to_float64(tape, x)
    tape.op("add.Tensor", [a, b], tape.tensor(4, dtype="float64"))
    findings = tape.judge()
    assert lines(findings, "dtype") == [0, 1]
    assert [finding.count for finding in findings] == [2, 2]


def test_converting_back_and_forth_again_is_a_second_root() -> None:
    tape = Tape()
    x = to_float64(tape, tape.input("x", 4))
    x = tape.op("_to_copy.default", [x], tape.tensor(4), dtype="float32")
    to_float64(tape, x)
    assert lines(tape.judge(), "dtype") == [0, 2]


def test_another_forbidden_dtype_made_on_purpose_is_a_root_of_its_own() -> None:
    tape = Tape()
    x = to_float64(tape, tape.input("x", 4))
    tape.op("_to_copy.default", [x], tape.tensor(4, dtype="complex128"), dtype="complex128")
    assert lines(tape.judge(), "dtype") == [0, 1]


def test_the_same_line_in_twelve_layers_is_one_finding_with_the_first_module() -> None:
    tape = Tape()
    for layer in range(12):
        x = to_float64(tape, tape.tensor(4), frames=at(30, 70), module=f"encoder.layer.{layer}")
        tape.op("_to_copy.default", [x], tape.tensor(4), frames=at(31, 70), dtype="float32")
    finding = only(tape.judge(), "dtype")
    assert (finding.count, finding.module) == (24, "encoder.layer.0")
    assert "introduces it in 12 ops and 12 more ops carry it on" in finding.message
    assert [related.message for related in finding.related] == ["called from here, in `forward`"]


def test_a_factory_is_a_root() -> None:
    tape = Tape()
    x = tape.op("zeros.default", [], tape.tensor(4, dtype="float64"), dtype="float64")
    tape.op("mul.Tensor", [x], tape.tensor(4, dtype="float64"))
    assert only(tape.judge(), "dtype").range.start.line == 0


def test_a_parameter_of_a_forbidden_dtype_is_told_where_it_was_declared() -> None:
    tape = Tape()
    weight = tape.parameter("encoder.fc.weight", 4, line=12, dtype="float64")
    tape.op("mul.Tensor", [weight], tape.tensor(4, dtype="float64"))
    finding = only(tape.judge(), "dtype")
    assert (finding.range.start.line, finding.op, finding.module, finding.count) == (12, None, "encoder.fc", 1)
    assert "the parameter `encoder.fc.weight` brings it in and 1 op carries it on" in finding.message
    assert [(place.range.start.line, place.message) for place in finding.related] == [(0, "used by aten.mul here")]


def test_an_input_of_a_forbidden_dtype_is_told_where_it_was_written_down() -> None:
    tape = Tape()
    tape.op("relu.default", [tape.input("x", 4, dtype="float64", line=3)], tape.tensor(4, dtype="float64"))
    assert only(tape.judge(), "dtype").range.start.line == 3


def test_a_constant_that_nobody_declared_is_told_where_it_is_used() -> None:
    tape = Tape()
    constant = tape.origin("constant", "", tape.tensor(4, dtype="float64"))
    tape.op("relu.default", [constant], tape.tensor(4, dtype="float64"), frames=at(5))
    assert only(tape.judge(), "dtype").range.start.line == 5


def test_what_is_float64_in_one_function_has_one_cause() -> None:
    tape = Tape()
    x = tape.input("x", 4)
    for line in (5, 9):
        constant = tape.origin("constant", "", tape.tensor(4, dtype="float64"))
        tape.op("mul.Tensor", [x, constant], tape.tensor(4, dtype="float64"), frames=at(line))
    found = [finding for finding in tape.judge("cuda") if finding.rule == "float64"]
    assert [(finding.range.start.line, finding.cause) for finding in found] == [
        (5, "float64 in forward"),
        (9, "float64 in forward"),
    ]


def test_float64_without_elements_is_no_finding() -> None:
    tape = Tape()
    empty = tape.origin("constant", "", tape.tensor(0, dtype="float64"))
    tape.op("mul.Tensor", [tape.input("x", 1), empty], tape.tensor(0, dtype="float64"))
    assert "float64" not in [finding.rule for finding in tape.judge("cuda")]


def test_an_input_that_nothing_touches_is_no_finding() -> None:
    tape = Tape()
    tape.input("x", 4, dtype="float64")
    assert tape.judge() == []


def test_the_innermost_expression_of_the_project_is_primary_and_the_library_related() -> None:
    tape = Tape()
    to_float64(tape, tape.input("x", 4), frames=inside_library(55, 10, 20))
    finding = only(tape.judge(), "dtype")
    assert (finding.path, finding.range.start.line) == (PROJECT, 10)
    assert [(related.path, related.range.start.line, related.message) for related in finding.related] == [
        (LIBRARY, 55, "inside transformers, in `forward`"),
        (PROJECT, 20, "called from here, in `forward`"),
    ]


def test_without_a_frame_of_the_project_the_target_is_shown_with_the_library_related() -> None:
    tape = Tape()
    to_float64(tape, tape.input("x", 4), frames=inside_library(55))
    finding = only(tape.judge(), "dtype")
    assert Location(finding.path, finding.range) == FALLBACK
    assert [related.path for related in finding.related] == [LIBRARY]


def test_two_roots_inside_one_call_of_a_library_are_one_finding() -> None:
    tape = Tape()
    x = tape.input("x", 4)
    to_float64(tape, x, frames=inside_library(55, 10))
    to_float64(tape, x, frames=inside_library(66, 10))
    finding = only(tape.judge(), "dtype")
    assert finding.count == 2
    assert [related.range.start.line for related in finding.related] == [55, 66]


def test_related_places_are_few_and_each_is_told_once() -> None:
    tape = Tape()
    to_float64(tape, tape.input("x", 4), frames=at(1, 2, 2, 3, 4, 5, 6, 7, 1))
    related = [place.range.start.line for place in only(tape.judge(), "dtype").related]
    assert related == [2, 3, 4, 5, 6]


def test_no_two_findings_share_rule_and_place() -> None:
    tape = Tape()
    x = tape.input("x", 4)
    for overload in ("kthvalue.default", "linalg_inv_ex.default", "relu_.default"):
        tape.op(overload, [x], tape.tensor(4), frames=at(1))
    finding = only(tape.judge(), "unsupported-op")
    assert finding.count == 3
    assert "also runs aten.linalg_inv_ex and aten.relu_" in finding.message
