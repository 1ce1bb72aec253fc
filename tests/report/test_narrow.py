"""Text and pages where there is little room: a terminal of 60 columns, an editor's page beside another one."""

from __future__ import annotations

import pytest
from inductor_debug.report.cells import in_columns, width_of
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.html.suggestions_page import suggestions_page
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.memory_text import MemoryText
from inductor_debug.report.text.statistics_text import KernelsText
from inductor_debug.report.text.suggestions_text import suggestions_text
from inductor_debug.rules.recording.ops import Recording
from inductor_debug.rules.recording.statistics import KernelCost, statistics_of
from inductor_debug_schema import Location, Position, Range, RunFigures, RunWay, Stage, SuggestionsDocument, TriedWay
from inductor_debug_schema.answers.memory_document import KindMemory, MemoryDocument

HEAD = ("bound", "unfused", "bytes")
ROWS = [("15.3 ms", "20.1 ms", "3.4 GiB"), ("1.2 ms", "-", "12 MiB")]
NAMES = ["expression", "gpt.py:48:18  self.head(self.norm(x))", "gpt.py:50:9  self.mlp(x)"]
DOCUMENT = SuggestionsDocument(
    schema=1,
    target="GPT",
    stage=Stage.AOT,
    path="/project/gpt.py",
    accelerator="rtx-4090",
    title="NVIDIA GeForce RTX 4090, 24 GB",
    device_type="cuda",
    device_bytes=24 << 30,
    training=True,
    inputs="idx i64[b, t], with b = 8, t = 512 (made up; set yours with --size, or in an editor at the lens)",
    before=RunFigures(0.0271, 0.0, 5 << 30, 3 << 30),
    tried=[
        TriedWay([RunWay.AUTOCAST], offered=True, figures=RunFigures(0.0129, 0.0, 3 << 30, 2 << 30), dtype="bfloat16"),
        TriedWay([RunWay.CUDA_GRAPHS], offered=False, figures=RunFigures(0.0271, 0.0, 5 << 30, 3 << 30)),
    ],
)
PLACES = FileNames("/project", "/project", {})


def test_a_table_that_goes_nowhere_narrow_is_whole() -> None:
    head, first, _ = in_columns(HEAD, ROWS, NAMES, spare=["unfused"])
    assert "unfused" in head
    assert first.endswith(NAMES[1])


def test_names_are_cut_where_the_terminal_ends() -> None:
    lines = in_columns(HEAD, ROWS, NAMES, within=60, spare=["unfused"])
    assert "unfused" in lines[0], "a third of the line is left for names"
    assert max(map(width_of, lines)) == 60
    assert lines[1].endswith("…")


def test_a_narrow_terminal_does_without_some_columns() -> None:
    lines = in_columns(HEAD, ROWS, NAMES, within=40, spare=["unfused"])
    assert lines[0].split() == ["bound", "bytes", "expression"]
    assert "20.1 ms" not in lines[1]
    assert max(map(width_of, lines)) <= 40


@pytest.mark.parametrize("width", [60, 80, 100])
def test_suggestions_keep_within_the_terminal(width: int) -> None:
    text = suggestions_text(DOCUMENT, PLACES, ShownTexts(), Styler(False, width))
    _heading, *lines = text.splitlines()
    assert max(map(width_of, lines)) <= width
    assert "bfloat16 autocast: -52 % time, -33 % memory" in text
    assert " ".join(text.split()).count("with b = 8, t = 512 (made up; set yours with --size") == 1


def test_a_page_says_what_each_number_is_where_columns_do_not_fit() -> None:
    page = suggestions_page([DOCUMENT], PLACES, ShownTexts())
    row = page[page.index('<th scope="row">bfloat16 autocast</th>') :].partition("</tr>")[0]
    assert 'data-column="Time">12.9 ms<' in row
    assert 'data-column="Memory">2 GiB<' in row
    assert "Copies" not in page, "nothing is copied in any of them"


def test_the_curve_of_memory_fits_and_keeps_its_peak() -> None:
    heights = [1, 9, *range(2, 200)]
    document = MemoryDocument(
        schema=1,
        target="Net",
        path="/project/net.py",
        operations=len(heights),
        peak=199,
        peak_bytes=199,
        place=None,
        kinds=[KindMemory("activation", heights)],
        held=[],
        symbols={},
        places=[],
        operation_places=[-1] * len(heights),
        pieces=[],
    )
    text = MemoryText(PLACES, ShownTexts(), Styler(False, 60)).text(document)
    [curve] = [line for line in text.splitlines() if line.startswith("  over the run: ")]
    assert width_of(curve) == 60
    assert curve.endswith("█")


def test_a_narrow_terminal_says_where_a_kernel_comes_from_before_its_name() -> None:
    place = Location("/project/gpt.py", Range(Position(47, 17), Position(47, 37)))
    kernel = KernelCost(
        "triton_per_fused_add_native_layer_norm_backward_view_8", "0.backward", "triton", 2, 64, 8, place
    )
    document = statistics_of(Recording(), target="GPT", stage=Stage.INDUCTOR, path="/project/gpt.py", kernels=[kernel])
    wide, narrow = (KernelsText(PLACES, ShownTexts(), Styler(False, width)).text(document) for width in (None, 60))
    assert f"{kernel.name}  gpt.py:48:18" in wide
    [row] = [line for line in narrow.splitlines() if "gpt.py:48:18" in line]
    assert "gpt.py:48:18  triton_per" in row
    assert width_of(row) <= 60
