"""float64 in a narrower model: told where it stays, information where it was asked for, silence where it was meant."""

from __future__ import annotations

import pytest
from inductor_debug_schema import Severity
from recordings import Tape, only


def sum_in_double(tape: Tape, *, asked: bool, back: bool) -> None:
    """`weight.double().sum(1)`, and `.float()` of it perhaps."""
    weight = tape.parameter("weight", 8, 8)
    dtype = {"dtype": "float64"} if asked else {}
    wide = tape.op("_to_copy.default", [weight], tape.tensor(8, 8, dtype="float64"), **dtype)
    sum_ = tape.op("sum.dim_IntList", [wide], tape.tensor(8, dtype="float64"))
    if back:
        tape.op("_to_copy.default", [sum_], tape.tensor(8), dtype="float32")


@pytest.mark.parametrize(
    ("asked", "back", "severity"),
    [
        (True, True, None),
        (True, False, Severity.INFORMATION),
        (False, True, Severity.WARNING),
        (False, False, Severity.WARNING),
    ],
)
def test_precision_that_is_meant_is_not_told(asked: bool, back: bool, severity: Severity | None) -> None:
    tape = Tape()
    sum_in_double(tape, asked=asked, back=back)
    found = tape.judge("none")
    if severity is None:
        assert [item for item in found if item.rule == "float64"] == []
    else:
        assert only(found, "float64").severity is severity


def test_what_nobody_uses_of_an_op_that_makes_several_tensors_is_not_kept() -> None:
    tape = Tape()
    sum_in_double(tape, asked=True, back=True)
    wide = tape.recording.ops[1]
    object.__setattr__(wide, "outputs", (*wide.outputs, tape.tensor(8, dtype="float64")))
    assert [item for item in tape.judge("none") if item.rule == "float64"] == []
