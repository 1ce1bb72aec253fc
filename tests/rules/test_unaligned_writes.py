"""Parts that begin in the middle of a stick: laid out otherwise where that is possible, refused where it is not."""

from __future__ import annotations

from typing import Any

import pytest
from inductor_debug_schema import Severity

from tests.rules.recordings import Tape, lines


@pytest.mark.parametrize(
    ("overload", "parts", "result", "arguments", "told"),
    [
        ("cat.default", [(8, 32), (8, 32)], (8, 64), {"dim": -1}, Severity.INFORMATION),
        ("cat.default", [(8, 64), (8, 64)], (8, 128), {"dim": -1}, None),
        ("cat.default", [(8, 32), (8, 32)], (16, 32), {"dim": 0}, None),
        ("cat.default", [(1, 24608), (1, 32)], (1, 24640), {"dim": 1}, Severity.WARNING),
        ("cat.default", [(1,), (128,)], (129,), {"dim": 0}, Severity.WARNING),
        ("cat.default", [(8, 96), (8, 1)], (8, 97), {"dim": 1}, Severity.WARNING),
        ("stack.default", [(8, 64), (8, 64)], (8, 64, 2), {"dim": 2}, Severity.WARNING),
        ("constant_pad_nd.default", [(1, 24608)], (1, 24640), {"pad": [0, 32]}, Severity.WARNING),
        ("constant_pad_nd.default", [(1, 24576)], (1, 24640), {"pad": [0, 64]}, None),
        ("constant_pad_nd.default", [(8, 64)], (8, 96), {"pad": [32, 0]}, Severity.INFORMATION),
        ("slice_scatter.default", [(8, 64), (8, 32)], (8, 64), {"dim": 1, "start": 32}, Severity.INFORMATION),
        ("slice_scatter.default", [(8, 64), (8, 32)], (8, 64), {"dim": 1, "start": 0}, None),
    ],
)
def test_a_part_within_a_stick(
    overload: str,
    parts: list[tuple[int, ...]],
    result: tuple[int, ...],
    arguments: dict[str, Any],
    told: Severity | None,
) -> None:
    tape = Tape()
    given = [tape.input(f"part {number}", *shape, dtype="float16") for number, shape in enumerate(parts)]
    tape.op(overload, given, tape.tensor(*result, dtype="float16"), **arguments)
    findings = tape.judge("spyre")

    assert [finding.severity for finding in findings if finding.rule == "unaligned-write"] == ([told] if told else [])
    assert len(lines(findings, "unaligned-write")) == (told is not None)
