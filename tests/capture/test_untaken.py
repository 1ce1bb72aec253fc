"""What a run left out: only what is a model's work, with what held instead, and nothing that any target ran."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest
from capture_targets import build, excerpt
from inductor_debug.capture.running.instruction_watching import instructions_of, positions_of, unwatched
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.stages.preview import run_preview
from inductor_debug.capture.untaken.untaken import RunsOfFile
from inductor_debug.rules.words.untaken_words import reason_of, sentence_of, summary_of
from inductor_debug_schema import Held, Location, Position, Range, StageState, UntakenBlock

pytestmark = pytest.mark.torch
COLUMNS = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python tells lines alone")


def untaken(folder: Path, source: str) -> list[tuple[str, str]]:
    """The text of each block that the run of `model` left out, and why."""
    target, sources = build(folder, source)
    runs = RunsOfFile(target.location.path)
    outcome = run_preview(target, sources)
    assert outcome.report.state is StageState.DONE, outcome.report.notes
    runs.add(target, outcome.ran, whole=True)
    return [
        (" ".join(excerpt(Location(runs.path, block.range)).split()), reason_of(block))
        for block in runs.untaken(sources)["model"]
    ]


def function(body: str) -> str:
    return f"def model(x, mask=None):\n{textwrap.indent(body, '    ')}\ninputs = (torch.ones(4),)\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if mask is not None:\n    x = x * mask\nreturn x", [("x = x * mask", "`mask` is None")]),
        ("if not mask:\n    x = x + 1\nelse:\n    x = x - 1\nreturn x", [("x = x - 1", "`mask` is false")]),
        (
            "if x.dim() == 2:\n    x = x.sum(0)\nelif x.dim() == 3:\n    x = x.sum(1)\n    x = x + 1\nreturn x",
            [("x = x.sum(0)", "`x.dim() == 2` is false"), ("x = x.sum(1) x = x + 1", "`x.dim() == 3` is false")],
        ),
        ("for layer in []:\n    x = layer(x)\nreturn x", [("x = layer(x)", "`[]` gives nothing to go through")]),
        ("while len(x) > 9:\n    x = x[1:]\nreturn x", [("x = x[1:]", "`len(x) > 9` is false")]),
        (
            "try:\n    x = x + 1\nexcept RuntimeError:\n    x = x - 1\nreturn x",
            [("x = x - 1", "nothing raises `RuntimeError`")],
        ),
        (
            "match x.dim():\n    case 1:\n        x = x + 1\n    case 2:\n        x = x - 1\nreturn x",
            [("x = x - 1", "nothing matches `2`")],
        ),
        ("if mask is None:\n    return x + 1\nx = x * mask\nreturn x", [("x = x * mask return x", "`mask` is None")]),
        (
            "if mask is not None:\n    if mask.dim() > 1:\n        mask = mask.sum(0)\n    x = x * mask\nreturn x",
            [("if mask.dim() > 1: mask = mask.sum(0) x = x * mask", "`mask` is None")],
        ),
    ],
)
def test_a_branch_that_was_not_taken_is_told_with_what_held(
    tmp_path: Path, body: str, expected: list[tuple[str, str]]
) -> None:
    assert untaken(tmp_path, function(body)) == expected


@COLUMNS
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return x * 2 if mask is None else x * mask", [("x * mask", "`mask` is None")]),
        ("if mask is not None: x = x * mask\nreturn x", [("x = x * mask", "`mask` is None")]),
        ("return x + (x.sum() if mask else x.mean())", [("x.sum()", "`mask` is false")]),
    ],
)
def test_branches_on_one_line_are_told_where_python_knows_columns(
    tmp_path: Path, body: str, expected: list[tuple[str, str]]
) -> None:
    assert untaken(tmp_path, function(body)) == expected


@pytest.mark.parametrize(
    "body",
    [
        "if x.dim() != 1:\n    raise ValueError(x.shape)\nreturn x",
        "if mask is not None:\n    assert mask.dim() == 2\nreturn x",
        "if mask is not None:\n    print(mask.shape)\n    logger.warning('a mask')\nreturn x",
        "if mask is not None:\n    return mask\nreturn x",
        "for _ in range(0):\n    continue\nreturn x",
        "if torch.jit.is_scripting():\n    x = x + 1\nelse:\n    x = x + 2\nreturn x",
        "if torch.compiler.is_compiling():\n    x = x + 1\nreturn x",
        "if mask is None:\n    x = x + 1\nif not isinstance(x, torch.Tensor):\n    raise TypeError('x')\nreturn x",
        "if x.is_cuda:\n    x = x + 1\nreturn x",
        "def inner(y):\n    '''Says nothing.'''\n    return y + 1\nreturn inner(x)",
    ],
)
def test_what_is_no_work_of_a_model_is_left_out(tmp_path: Path, body: str) -> None:
    assert untaken(tmp_path, function(body)) == []


MODEL = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.reset()
        layer = self.layer
        self.scaled = lambda x: layer(x * 2)

    def reset(self):
        nn.init.zeros_(self.layer.bias)

    def forward(self, x):
        return self.used(x)

    def used(self, x):
        if self.training:
            x = x + 1
        return self.scaled(x)

    def generate(self, x):
        return self(self.layer(x))

    @property
    def size(self):
        return torch.numel(self.layer.weight)

    @classmethod
    def made(cls):
        return torch.nn.Sequential(cls())

    def describe(self):
        return f"{self.layer}"

    def optimizer(self):
        return torch.optim.SGD(self.parameters())


def unrelated(x):
    return x + 1 if x else x - 1


model = Model()
inputs = (torch.ones(4),)
"""


def test_methods_that_compute_and_nobody_called_are_told(tmp_path: Path) -> None:
    assert untaken(tmp_path, MODEL) == [
        ("x = x + 1", "`self.training` is false"),
        ("def generate(self, x): return self(self.layer(x))", "`generate` is not called"),
    ]


def test_what_another_target_of_the_file_ran_is_not_told(tmp_path: Path) -> None:
    source = function("if mask is not None:\n    x = x * mask\nelse:\n    x = x + 1\nreturn x")
    target, sources = build(tmp_path, source)
    runs = RunsOfFile(target.location.path)
    other = BuiltTarget(**{field: getattr(target, field) for field in BuiltTarget.__dataclass_fields__})
    other.name, other.kwargs = "other", {"mask": target.args[0]}
    for each in (target, other):
        runs.add(each, run_preview(each, sources).ran, whole=True)

    assert runs.untaken(sources) == {"model": [], "other": []}


def test_a_run_that_broke_off_is_no_witness_of_what_it_left_out(tmp_path: Path) -> None:
    target, sources = build(tmp_path, function("if mask is not None:\n    x = x * mask\nreturn x + torch.ones(3)"))
    runs = RunsOfFile(target.location.path)
    outcome = run_preview(target, sources)
    runs.add(target, outcome.ran, whole=outcome.report.state is StageState.DONE)

    assert runs.untaken(sources) == {}


def test_a_parameter_of_the_target_is_what_other_inputs_would_change(tmp_path: Path) -> None:
    target, sources = build(tmp_path, function("y = None\nif mask:\n    x = x + 1\nif y:\n    x = x + 2\nreturn x"))
    runs = RunsOfFile(target.location.path)
    runs.add(target, run_preview(target, sources).ran, whole=True)

    assert [(block.subject, block.parameter) for block in runs.untaken(sources)["model"]] == [
        ("mask", True),
        ("y", False),
    ]


def test_a_debugger_that_watches_already_is_not_disturbed() -> None:
    if hasattr(sys, "monitoring"):
        pytest.skip("there is a place for each")
    before = sys.gettrace()
    tracer = before or (lambda frame, event, argument: None)
    sys.settrace(tracer)
    try:
        with instructions_of(__file__) as ran:
            assert ran is None
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)


def test_watching_ends_with_its_context_and_rests_where_it_is_told_to() -> None:
    before = sys.gettrace()
    with instructions_of(__file__) as ran:
        _first()
        with unwatched():
            pass
        _second()
    assert sys.gettrace() is before
    if ran is not None:
        lines = {positions.lineno for positions in positions_of(ran)}
        assert {_first.__code__.co_firstlineno + 1, _second.__code__.co_firstlineno + 1} <= lines


def _first() -> int:
    return len("first")


def _second() -> int:
    return len("second")


def block(first: int, last: int, held: Held = Held.NONE, subject: str = "mask") -> UntakenBlock:
    return UntakenBlock(Range(Position(first - 1, 0), Position(last - 1, 4)), subject, held)


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([], ""),
        ([block(40, 40)], "1 branch not taken: line 40"),
        ([block(31, 33), block(40, 40)], "2 branches not taken: lines 31-33, 40"),
        ([block(9, 12, Held.NOT_CALLED, "generate")], "`generate` not called"),
        ([block(n, n, Held.NOT_CALLED, "embed") for n in (9, 19)], "`embed` not called"),
        (
            [block(40, 40), *(block(n, n, Held.NOT_CALLED, f"f{n}") for n in range(50, 55))],
            "1 branch not taken: line 40; `f50`, `f51`, `f52` and 2 more not called",
        ),
    ],
)
def test_what_was_left_out_is_summed_up(blocks: list[UntakenBlock], words: str) -> None:
    assert summary_of(blocks, "model.py") == words


def test_one_block_in_a_sentence() -> None:
    assert sentence_of(block(31, 33), "model.py") == "lines 31-33 did not run: `mask` is None"
