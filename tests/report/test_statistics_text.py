"""Statistics as text: what a reader of `analyze` is told of kernels."""

from __future__ import annotations

from inductor_debug.report.file_names import FileNames
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.statistics_text import StatisticsText
from inductor_debug.rules.recording.ops import Recording
from inductor_debug.rules.recording.statistics import KernelCost, statistics_of
from inductor_debug_schema import Location, Position, Range, Stage

PLACE = Location("/project/model.py", Range(Position(6, 0), Position(6, 9)))


def text_of(kernels: list[KernelCost] | None) -> str:
    stage = Stage.AOT if kernels is None else Stage.INDUCTOR
    document = statistics_of(Recording(), target="Model", stage=stage, path="/project/model.py", kernels=kernels)
    return StatisticsText(FileNames("/project", "/project", {}), Styler(False)).text(document)


def test_the_kernel_that_moves_most_comes_first_with_its_place() -> None:
    text = text_of(
        [
            KernelCost("small", "0.forward.post_grad", "cpp", 1, 8, 8),
            KernelCost("large", "0.forward.post_grad", "cpp", 2, 2048, 1024, PLACE),
            KernelCost("opaque", "0.forward.post_grad", "extern", 1),
        ]
    )
    lines = [line.split() for line in text.splitlines()]
    assert ["kernels", "3", "(2", "cpp,", "1", "extern)"] in lines
    assert "2.008 KiB read, 1.008 KiB written (without 1 of them)" in text
    assert "unknown  opaque" in text
    assert text.index("2 KiB + 1 KiB  large  model.py:7") < text.index("8 B + 8 B  small")
    assert "(before fusion)" in text


def test_a_stage_without_kernels_says_nothing_of_them() -> None:
    assert "kernel" not in text_of(None)
