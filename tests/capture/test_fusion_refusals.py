"""Why two kernels are two: what Inductor's scheduler says of pairs, in words, at the kernels that they became."""

from __future__ import annotations

import pytest
from inductor_debug.capture.inductor.fusion_refusals import FusionRefusal, in_words, unfused_neighbours
from inductor_debug.capture.inductor.inductor_ir import IrBuffer, IrPart, IrStep


def step(name: str, reads: tuple[str, ...], *, library: bool = False) -> IrStep:
    ranges = None if library else (4,)
    parts = tuple(IrPart(part, "Pointwise", "", ranges) for part in name.split("_"))
    return IrStep(name, "Pointwise", parts, reads, (IrBuffer(f"of_{name}", [4], "float32", 16),))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("numel/rnumel mismatch (reduce) (64, 1), (1000, 64)", "their loops have other sizes: (64, 1) and (1000, 64)"),
        ("no shared data due to indexing mismatch", "they go through the data that they share in other orders"),
        ("node2 is extern or nop", "one of the two is a kernel of a library, which does only what it was written for"),
        ("device mismatch (cuda:0 vs cpu)", "they run on other devices: cuda:0 vs cpu"),
        ("a reason\nof next year", "Inductor says: a reason of next year"),
    ],
)
def test_reasons_are_told_in_words(said: str, words: str) -> None:
    assert in_words(said) == words


def test_the_last_word_about_two_neighbours_counts_whatever_was_fused_meanwhile() -> None:
    steps = [step("op0_op1", ()), step("op2", ("of_op0_op1",)), step("op3", ("of_op2",)), step("op4", ())]
    refusals = [
        FusionRefusal(("op0",), ("op2",), "no shared data"),
        FusionRefusal(("op0", "op1"), ("op2",), "will create cycle"),
        FusionRefusal(("op2",), ("op0", "op3"), "no shared data"),  # parts of two steps: fused otherwise since
        FusionRefusal(("op2",), ("op4",), "no shared data"),  # no neighbours
    ]
    assert unfused_neighbours(steps, refusals) == {("op0_op1", "op2"): "the fused kernel would wait for its own result"}


def test_kernels_of_libraries_need_no_word_of_inductors() -> None:
    found = unfused_neighbours([step("op0", (), library=True), step("op1", ("of_op0",))], [])
    assert list(found) == [("op0", "op1")]
