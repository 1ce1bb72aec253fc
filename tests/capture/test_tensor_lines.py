"""What a user is told of the tensors at a line: names, dimensions, who makes and reads them, and what they take."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze
from inductor_debug.accelerators.profile import Profile, load_document, read_profile
from inductor_debug.engine.live_tensors.line import KnownTimeline, Question, RanTimeline, line_tensors
from inductor_debug.engine.live_tensors.memory_run import memory_of
from inductor_debug.engine.text.source_files import texts_as_ran
from inductor_debug.report.charts.memory_chart import memory_chart
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Styler
from inductor_debug.report.text.memory_text import MemoryText
from inductor_debug_schema import LineTensors, TensorRow, TensorsSeen
from inductor_debug_schema.answers.memory_document import MemoryDocument

pytestmark = pytest.mark.torch

MODEL = """
    import torch
    from torch import nn


    def scaled(values, factor):
        doubled = values * factor
        return doubled + 1


    class Attention(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.qkv = nn.Linear(width, 3 * width)

        def forward(self, x):
            B, T, C = x.shape
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
            return x + scaled(v, 2.0)


    # inductor-debug: inputs=(torch.randn(2, 6, 32),), init=()
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([Attention(32, 4) for _ in range(3)])
            self.register_buffer("shift", torch.zeros(32))

        def forward(self, tokens):
            hidden = tokens * 2
            for layer in self.layers:
                hidden = layer(hidden)
            # done
            for n in range(2):
                hidden = scaled(hidden, n)
            means = hidden.mean(-1)
            return hidden + self.shift + means[..., None]


    class Unused:
        def method(self, x):
            return x + 1
"""
TEXT = dedent(MODEL).lstrip("\n")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    path = tmp_path_factory.mktemp("tensors") / "model.py"
    path.write_text(TEXT, encoding="utf-8")
    return analyze(path, trace_tensors=True)


def line_of(words: str, text: str = TEXT) -> int:
    return next(number for number, line in enumerate(text.split("\n")) if words in line)


def told(
    job: Job, words: str, *, text: str = TEXT, accelerator: str = "", call: int = 0, module: str = "", rows: int = 1000
) -> LineTensors:
    seen = {event.target: event.timeline for event in job.events if isinstance(event, TensorsSeen)}
    profile: Profile | None = read_profile(load_document(accelerator)) if accelerator else None
    known = KnownTimeline(
        {target: RanTimeline(timeline, job.path, job.text) for target, timeline in seen.items()},
        text,
        lambda path: None,
        profile,
        accelerator,
    )
    return line_tensors(Question(job.path, line_of(words, text), "", call, module, rows=rows), known)


def row(document: LineTensors, label: str, role: str | None = None) -> TensorRow:
    [found] = [one for one in document.rows if one.label == label and (role is None or role in one.roles)]
    return found


def test_variables_are_called_what_the_code_calls_them(job: Job) -> None:
    document = told(job, "q, k, v =")
    assert (document.target, document.function, document.module) == ("Net", "Attention.forward", "layers.0")
    assert {one.label for one in document.rows if "made" in one.roles} == {"q", "k", "v"}
    assert row(document, "x").scope == ""
    assert row(told(job, "doubled = values * factor"), "x").scope == "Attention.forward"


@pytest.mark.parametrize(
    "statement",
    [
        "a, b = x.chunk(2)",
        "a, b = (part * 2 for part in x.chunk(2))",
        "a, b = scaled(x), scaled(x + 1)",
        "a = b = x * 2",
        "a, (b, c) = x * 2, (x * 3, x * 4)",
    ],
)
def test_assignments_of_every_kind_name_what_they_assign(tmp_path: Path, statement: str) -> None:
    source = f"""
        import torch

        def scaled(x):
            y = x * 2
            return y.view(-1)

        # inductor-debug: inputs=(torch.randn(4, requires_grad=True),)
        def target(x):
            {statement}
            return a.sum() * b.sum()
    """
    path = tmp_path / "model.py"
    path.write_text(dedent(source).lstrip("\n"), encoding="utf-8")
    document = told(analyze(path, trace_tensors=True), "return a.sum()", text=path.read_text(encoding="utf-8"))
    held = {one.label: one for one in document.rows if one.named}
    assert {"a", "b", "x"} <= held.keys() or ({"a", "x"} <= held.keys() and statement.startswith("a = b"))
    assert held["a"].made is not None
    assert held["a"].made.range.start.line < document.line


def test_dimensions_are_called_what_the_code_calls_them(job: Job) -> None:
    assert row(told(job, "q, k, v ="), "x").dims == ["B", "T", "C"]
    assert row(told(job, "q, k, v ="), "v").dims == ["B", "T", ""]
    made = row(told(job, "q = q.view"), "q", "made")
    assert (made.dims, made.shape) == (["B", "heads", "T", "C/heads"], [2, 4, 6, 8])


def test_a_line_that_runs_several_times_is_told_of_each(job: Job) -> None:
    first, third = told(job, "q, k, v ="), told(job, "q, k, v =", call=2)
    assert (first.calls, first.call, first.module) == (3, 0, "layers.0")
    assert (third.calls, third.call, third.module) == (3, 2, "layers.2")
    assert told(job, "q, k, v =", module="layers.1").call == 1
    assert told(job, "hidden = layer(hidden)").calls == 3
    assert told(job, "hidden = scaled(hidden, n)").calls == 2
    assert told(job, "doubled = values * factor").calls == 5


def test_calls_far_away_are_the_last_one(job: Job) -> None:
    assert told(job, "q, k, v =", call=99).call == 2


def test_parameters_of_plain_functions_are_known(job: Job) -> None:
    inside = told(job, "doubled = values * factor", call=0)
    assert row(inside, "values").roles == ["read"]
    assert row(told(job, "doubled = values * factor", call=4), "values").dims == ["B", "T", "C"]


def test_memory_is_the_sum_of_its_rows(job: Job) -> None:
    for words in ("hidden = tokens", "q, k, v =", "return x + scaled", "doubled =", "return hidden"):
        document = told(job, words)
        assert document.memory is not None
        assert document.memory.bytes == sum(one.storage_bytes for one in document.rows if one.counted)
        assert document.memory.bytes == sum(document.memory.kinds.values())
        assert document.peak is not None
        assert document.memory.bytes <= document.peak.bytes
        assert max(document.curve) == document.peak.bytes


def test_views_count_once_and_say_of_what_they_are(job: Job) -> None:
    document = told(job, "q, k, v =")
    assert [row(document, name).counted for name in "qkv"] == [True, False, False]
    assert row(document, "k").view_of == "self.qkv(x)"
    assert row(document, "k").order == "strided"


def test_makers_and_readers_are_places_in_the_source(job: Job) -> None:
    values = row(told(job, "q, k, v ="), "v")
    assert values.made is not None
    assert (values.made.text, values.made.module) == ("self.qkv(x).chunk(3, dim=-1)", "layers.0")
    assert [(place.text, place.range.start.line) for place in values.reads] == [
        ("values * factor", line_of("doubled = values"))
    ]
    weight = row(told(job, "q, k, v ="), "layers.0.qkv.weight")
    assert (weight.kind, weight.roles) == ("parameter", ["read"])
    assert weight.declared is not None
    assert weight.declared.text == "nn.Linear(width, 3 * width)"


def test_what_goes_away_with_the_line_is_said(job: Job) -> None:
    assert "freed" in row(told(job, "hidden = scaled(hidden, n)", call=1), "hidden", "read").roles


def test_a_line_without_operations_shows_what_the_last_one_left(job: Job) -> None:
    comment = told(job, "# done")
    assert (comment.start_line, comment.calls) == (line_of("hidden = layer(hidden)"), 1)
    assert row(comment, "hidden").roles == []
    begin = told(job, "B, T, C = x.shape", call=1)
    assert begin.module == "layers.1"
    assert row(begin, "x").label == "x"


@pytest.mark.parametrize("words", ["import torch", "self.heads = heads", "return x + 1", "class Unused"])
def test_lines_that_no_run_passes_say_so(job: Job, words: str) -> None:
    document = told(job, words)
    assert document.rows == []
    assert document.why == (
        "No run passes this line: it is outside of the functions that Net called when it was checked."
    )


def test_an_accelerator_adds_the_layout_with_its_padding(job: Job) -> None:
    assert row(told(job, "q, k, v ="), "x").layout is None
    document = told(job, "q = q.view", accelerator="spyre")
    layout = row(document, "q", "made").layout
    assert layout is not None
    assert layout.waste == 0.75
    assert document.memory is not None
    assert document.memory.device_bytes is not None
    assert document.memory.device_bytes > 0


def test_a_result_of_a_reduction_over_the_sticks_has_one_element_a_stick_there(job: Job) -> None:
    document = told(job, "means = ", accelerator="spyre")
    layout = row(document, "means", "made").layout
    assert layout is not None
    assert (layout.size, layout.sparse) == ([6, 1, 2, 32], True)
    assert document.memory is not None
    assert document.memory.device_bytes is not None
    assert document.memory.device_bytes >= 6 * 2 * 128


def test_edits_above_move_the_line_and_its_places(job: Job) -> None:
    document = told(job, "q, k, v =", text="# a note\n" + TEXT)
    assert document.outdated
    values = row(document, "v")
    assert values.made is not None
    assert values.made.range.start.line == line_of("q, k, v =") + 1
    assert (document.start_line, document.calls) == (line_of("q, k, v =") + 1, 3)


def test_rows_come_in_pages(job: Job) -> None:
    whole, page = told(job, "q, k, v ="), told(job, "q, k, v =", rows=2)
    assert [one.label for one in page.rows] == [one.label for one in whole.rows[:2]]
    assert page.row_count == len(whole.rows)
    assert page.memory == whole.memory


def test_a_file_that_was_not_run_says_so(tmp_path: Path) -> None:
    document = line_tensors(Question(str(tmp_path / "model.py"), 3), KnownTimeline({}, "", lambda path: None))
    assert document.why == "Nothing in this file was run, so nothing is known of its tensors."


def stacked(document: MemoryDocument) -> dict[str, list[int]]:
    """The bytes of each kind while each operation runs, added up from the pieces."""
    found: dict[str, list[int]] = {}
    for piece in document.pieces:
        for operation in range(max(piece.first, 0), min(piece.end, document.operations)):
            kind = piece.kind if operation < piece.let_go else "saved"
            found.setdefault(kind, [0] * document.operations)[operation] += piece.bytes
    return found


def test_memory_over_a_run_is_told_by_kind_with_what_autograd_keeps(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(
        dedent(
            """
            import torch

            # inductor-debug: inputs=(torch.randn(256, 64),)
            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.wide = torch.nn.Linear(64, 1024)
                    self.narrow = torch.nn.Linear(1024, 8)

                def forward(self, x):
                    return self.narrow(self.wide(x).exp()).relu()
            """
        )
    )
    (seen,) = (event for event in analyze(path, trace_tensors=True).events if isinstance(event, TensorsSeen))
    document = memory_of("Net", str(path), seen.timeline, texts_as_ran(str(path), ""))
    by_kind = {kind.kind: kind.bytes for kind in document.kinds}
    weights = 4 * (64 * 1024 + 1024 + 1024 * 8 + 8)
    assert set(by_kind["parameter"]) == {weights}
    assert set(by_kind["input"]) == {4 * 256 * 64}
    wide = 4 * 256 * 1024
    assert wide in by_kind["saved"], "the result of exp is needed for its own gradient"
    assert max(by_kind["saved"]) < 2 * wide, "its input is not"
    assert document.peak_bytes == weights + 4 * 256 * 64 + 2 * wide
    assert document.place is not None
    assert document.place.range.start.line == 11
    assert [(row.kind, row.bytes) for row in document.held[:2]] == [("activation", wide)] * 2
    assert all(len(kind.bytes) == document.operations for kind in document.kinds)
    assert stacked(document) == by_kind, "pieces tell the same of every moment"
    assert [place.text for place in document.places] == [
        "self.wide(x)",
        "self.wide(x).exp()",
        "self.narrow(self.wide(x).exp())",
        "self.narrow(self.wide(x).exp()).relu()",
    ]
    assert [document.operation_places[at] for at in (0, document.operations - 1)] == [0, 3]
    by_name = {piece.name: piece for piece in document.pieces}
    assert (by_name["wide.weight"].module, by_name["wide.weight"].place) == ("wide", -1)
    places = FileNames(str(tmp_path), str(tmp_path), {})
    text = MemoryText(places, ShownTexts(), Styler(False)).text(document)
    assert "self.wide(x).exp()" in text
    drawn = memory_chart([document], places)
    assert "saved for the backward pass" in drawn
    assert memory_chart([document], places) == drawn
