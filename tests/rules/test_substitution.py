"""Sizes in place of symbols: what formulas of names come to, and what nobody can tell."""

from __future__ import annotations

import pytest
from inductor_debug.rules.captures.size_expressions import NoValueError, holds, value_of, with_values
from inductor_debug.rules.captures.substitution import substituted
from inductor_debug.rules.recording.ops import SymbolicSize
from recordings import Tape, symbol


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("8*batch*seq + 3", 8 * 3 * 10 + 3),
        ("(seq - 3)//2 + 1", 4),
        ("batch**2", 9),
        ("Mod(seq, 4)", 2),
        ("Max(1, seq)", 10),
        ("CeilDiv(seq, 4)", 3),
        ("ModularIndexing(seq, 2, 3)", 2),
        ("TruncToInt(IntTrueDiv(seq, 4))", 2),
        ("seq/2", 5),
        ("-batch", -3),
        ("Eq(Mod(seq, 5), 0) & (seq < 11)", True),
        ("~(seq < 11)", False),
    ],
)
def test_a_formula_has_its_value(formula: str, value: int) -> None:
    assert value_of(formula, {"batch": 3, "seq": 10}) == value


@pytest.mark.parametrize(
    "formula",
    [
        "s0",
        "__import__('os').abort()",
        "open('x')",
        "seq.real",
        "[seq]",
        "seq/3",
        "seq//0",
        "2**seq**99",
        "(" * 500,
        "seq +",
        "",
    ],
)
def test_what_is_no_formula_of_known_names_has_none(formula: str) -> None:
    with pytest.raises(NoValueError):
        value_of(formula, {"seq": 10})
    assert not holds(formula, {"seq": 10})


def test_a_size_keeps_the_names_that_have_no_value_and_its_bounds_follow() -> None:
    size = SymbolicSize("8*batch*seq + 4", divisor=4, minimum=36)
    assert with_values(size, {"batch": 3, "seq": 10}, {}) == 244
    partly = with_values(size, {"batch": 3}, {"seq": (2, 512)})
    assert partly == SymbolicSize("24*seq + 4", divisor=4, minimum=52, maximum=24 * 512 + 4)
    assert with_values(size, {"batch": "B"}, {}) == SymbolicSize("8*B*seq + 4", 4, 36)


def test_every_size_of_a_recording_is_changed_and_the_recording_stays() -> None:
    tape = Tape()
    x = tape.input("x", symbol("batch"), 16)
    tape.op("view.default", [x], tape.tensor(symbol("batch"), 4, 4), size=[symbol("batch"), 4, 4])
    before = repr(tape.recording)
    (op,) = substituted(tape.recording, {"batch": 6}, {}).ops
    assert (op.inputs[0].shape, op.outputs[0].shape) == ((6, 16), (6, 4, 4))
    assert op.arguments["size"] == [6, 4, 4]
    assert repr(tape.recording) == before
