"""Findings of inferred inputs: what rests on a size of ours is not told. Sizes are read off facts, never off words."""

from __future__ import annotations

import pytest
from inductor_debug.rules.captures.inferred_findings import honest
from inductor_debug_schema import (
    Basis,
    Facts,
    Finding,
    LiveMemory,
    Location,
    MemoryOverrun,
    Misalignment,
    OddSize,
    OversizedTensor,
    OversizedTensors,
    Position,
    Range,
    Severity,
    Stage,
)

PLACE = Location("/project/model.py", Range(Position(0, 0), Position(0, 5)))
ELSEWHERE = Range(Position(3, 0), Position(3, 5))


def told(rule: str, facts: Facts, **basis: object) -> list[Finding]:
    # The words name neither a symbol nor a number that could decide anything.
    finding = Finding(rule, Severity.WARNING, "something batch 7", PLACE.path, ELSEWHERE, Stage.PREVIEW, facts=facts)
    rests_on = {"symbols": ["batch", "s1"], "lengths": [7], **basis}
    return honest([finding], Basis("x f32[batch, s1]", PLACE, **rests_on))  # type: ignore[arg-type]


def odd(size: int | str) -> Misalignment:
    return Misalignment([OddSize(size, None)], 64, "float16", False)


def oversized(*shape: int | str) -> OversizedTensors:
    return OversizedTensors([OversizedTensor(list(shape), "float32", 1 << 40)], 1 << 30)


def overrun(*held: tuple[int | str, int]) -> MemoryOverrun:
    pieces = [LiveMemory("activation", "aten.mm.default", [size], count) for size, count in held]
    return MemoryOverrun(sum(count for _, count in held), 100, [], pieces)


@pytest.mark.parametrize(
    ("rule", "facts", "stays"),
    [
        ("alignment", odd(63), True),
        ("alignment", odd("63*hidden"), True),
        ("alignment", odd("63*batch"), False),
        ("alignment", odd(7), False),
        ("memory", oversized(1 << 20, 1 << 20), True),
        ("memory", oversized(1 << 20, "s1 + 1"), False),
        ("peak-memory", overrun((512, 120), ("batch", 30)), True),
        ("peak-memory", overrun((512, 90), ("batch", 60)), False),
    ],
)
def test_what_rests_on_a_size_of_ours_is_not_told(rule: str, facts: Facts, stays: bool) -> None:
    found = told(rule, facts)
    assert bool(found) is stays
    assert all(finding.inferred for finding in found)


def test_nothing_is_told_of_sizes_where_invented_ones_stand_as_numbers() -> None:
    assert not told("alignment", odd(63), made_up=True)
