"""The eager first look: what runs is recorded, what raises is explained, and the target stays as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from capture_targets import build, excerpt, places
from inductor_debug.capture.running.stage_results import StageOutcome
from inductor_debug.capture.stages.preview import run_preview
from inductor_debug_schema import Finding, Location, Severity, Stage, StageState
from torch_release import RELEASE

pytestmark = pytest.mark.torch


def preview(folder: Path, source: str, **options: bool) -> StageOutcome:
    return run_preview(*build(folder, source, **options))


def place_of(finding: Finding) -> str:
    return excerpt(Location(finding.path, finding.range))


def test_a_clean_run_reports_its_ops(tmp_path: Path) -> None:
    outcome = preview(tmp_path, "model = nn.Linear(8, 4)\ninputs = (torch.randn(2, 8),)\n")

    assert (outcome.report.stage, outcome.report.state) == (Stage.PREVIEW, StageState.DONE)
    assert outcome.report.ops == len(outcome.recording.ops) == 2
    assert (outcome.findings, outcome.retry_real, outcome.report.notes) == ([], False, [])


@pytest.mark.parametrize(
    ("body", "inputs", "message", "where"),
    [
        (
            "return nn.functional.linear(x.relu(), torch.ones(4, 7))",
            "(torch.randn(3, 8),)",
            "`x.relu()` [3, 8] and `torch.ones(4, 7)` [4, 7]: 8 ≠ 7: ",
            "nn.functional.linear(x.relu(), torch.ones(4, 7))",
        ),
        (
            "return x + x.new_ones(5)",
            "(torch.randn(3, 8),)",
            "`x` [3, 8] and `x.new_ones(5)` [5]: 8 ≠ 5: the last size of `x` ",
            "x + x.new_ones(5)",
        ),
        (
            "return x.view(5, 5)",
            "(torch.randn(3, 8),)",
            "`x` [3, 8] has 24 elements; the sizes that `view` is given make 25",
            "x.view(5, 5)",
        ),
        (
            "if x.shape[0] != 4:\n        raise ValueError(f'bad batch {len(x)}')",
            "(torch.randn(3, 8),)",
            "ValueError: bad batch 3",
            "raise ValueError(f'bad batch {len(x)}')",
        ),
        ("return x.no_such_thing", "(torch.randn(3),)", "AttributeError: 'Tensor' object has no", "x.no_such_thing"),
        ("import sys; sys.exit(3)", "(torch.randn(3),)", "SystemExit: 3", "sys.exit(3)"),
        ("return model(x)", "(torch.randn(3),)", "RecursionError: maximum recursion depth exceeded", "model(x)"),
        ("return x", "()", "TypeError: model() missing 1 required positional argument: 'x'", "inputs"),
    ],
)
def test_an_exception_is_told_in_the_users_words(
    tmp_path: Path, body: str, inputs: str, message: str, where: str
) -> None:
    outcome = preview(tmp_path, f"def model(x):\n    {body}\ninputs = {inputs}\n")

    assert outcome.report.state is StageState.FAILED
    assert not outcome.retry_real
    [finding] = outcome.findings
    assert (finding.rule, finding.severity, finding.stage) == ("capture-error", Severity.ERROR, Stage.PREVIEW)
    assert finding.message.startswith(message)
    assert place_of(finding) == where


def test_callers_and_library_code_are_related(tmp_path: Path) -> None:
    outcome = preview(
        tmp_path,
        """
        def helper(x):
            return x @ x
        def model(x):
            return helper(x)
        inputs = (torch.randn(2, 3),)
        """,
    )

    [finding] = outcome.findings
    assert place_of(finding) == "x @ x"
    assert [(item.message, item.range.start.line) for item in finding.related] == [
        ("`x` [2, 3] comes from here", 4),
        ("called from model", 3),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "return x * 2 if x.sum() > 0 else x",
        "return x * x.max().item()",
        "return torch.from_numpy((x + 1).numpy())",
        "return (x + 1)[x > 0]",
        "return (x + 1).nonzero()",
        "return f'{x.sum():.2f}'",
        "return [1] * int(x.sum())",
        "return (x + 1).tolist()",
        "return torch.unique(x + 1)",
        "return torch.allclose(x, x)",
    ],
)
def test_code_that_looks_at_values_asks_for_real_tensors(tmp_path: Path, body: str) -> None:
    source = f"def model(x):\n    y = x.double()\n    {body}\ninputs = (torch.randn(3),)\n"
    outcome = preview(tmp_path, source)

    assert outcome.retry_real
    assert outcome.findings == []
    assert outcome.report.state is StageState.FAILED
    assert "model.py:3" in outcome.report.notes[0]
    # What ran before is not lost.
    assert places(outcome.recording.ops, "aten._to_copy.default") == ["x.double()"]
    again = preview(tmp_path, source, real=True)
    assert again.report.state is StageState.DONE


def test_what_only_fake_tensors_cannot_do_is_not_held_against_the_user(tmp_path: Path) -> None:
    outcome = preview(
        tmp_path,
        """
        @torch.library.custom_op("inductor_debug_tests::secret", mutates_args=())
        def secret(x: torch.Tensor) -> torch.Tensor:
            return x + 1
        def model(x):
            return secret(x * 2)
        inputs = (torch.randn(3),)
        """,
    )

    assert outcome.findings == []
    assert "fake tensors cannot imitate" in outcome.report.notes[0]
    assert [op.packet for op in outcome.recording.ops] == ["aten.mul"]


def test_a_fake_kernel_stricter_than_the_real_one_is_not_the_users_fault(tmp_path: Path) -> None:
    outcome = preview(
        tmp_path,
        """
        def model(x, w):
            return torch._grouped_mm(x, w, offs=torch.tensor([8, 16], dtype=torch.int32))
        inputs = (torch.randn(16, 8), torch.randn(2, 8, 8))
        """,
    )

    assert outcome.findings == []
    assert outcome.retry_real is (RELEASE < (2, 15))  # whose fake kernel takes float32 as the real one does


def test_torchs_own_slips_on_fake_tensors_are_not_the_users_fault(tmp_path: Path) -> None:
    outcome = preview(
        tmp_path,
        """
        from torch._higher_order_ops import while_loop
        def model(x):
            return while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), (torch.tensor(0), x))
        inputs = (torch.randn(3),)
        """,
    )

    assert outcome.findings == []


def test_code_that_the_user_compiles_runs_eagerly(tmp_path: Path) -> None:
    outcome = preview(
        tmp_path,
        """
        @torch.compile
        def inner(x):
            return x.double()
        def model(x):
            return inner(x) + 1
        inputs = (torch.randn(3),)
        """,
    )

    assert places(outcome.recording.ops, "aten._to_copy.default") == ["x.double()"]


def test_the_target_stays_as_it_was(tmp_path: Path) -> None:
    target, sources = build(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.BatchNorm1d(8)
                self.register_buffer("seen", torch.zeros(1))
                self.calls = []
            def forward(self, x, options):
                self.cache = x
                self.seen = self.seen + 1
                options.pop("flag")
                x.add_(1).unsqueeze_(1)
                return self.norm(x[:, 0])
        model = Model()
        inputs = (torch.randn(4, 8), {"flag": True})
        """,
        training=True,
    )
    module = target.module
    assert module is not None
    before = module.seen
    for _ in range(2):
        outcome = run_preview(target, sources)
        assert outcome.findings == []

    assert not hasattr(module, "cache")
    assert module.seen is before
    assert target.args[0].shape == (4, 8)
    assert target.args[1] == {"flag": True}
    assert module.training


def test_real_inputs_keep_their_values(tmp_path: Path) -> None:
    target, sources = build(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("position", torch.zeros(1))
            def forward(self, x):
                self.position += 1
                return x.mul_(3)
        model = Model()
        inputs = (torch.ones(2, 2),)
        """,
        real=True,
    )
    run_preview(target, sources)

    assert target.module is not None
    assert torch.equal(target.args[0], torch.ones(2, 2))
    assert torch.equal(target.module.position, torch.zeros(1))


def test_ordinary_call_machinery_is_restored(tmp_path: Path) -> None:
    original = torch.nn.Module.__call__
    preview(tmp_path, "def model(x): return x.nope\ninputs = (torch.ones(1),)\n")

    assert torch.nn.Module.__call__ is original


@pytest.mark.parametrize(
    ("prepare", "dynamic", "symbolic"),
    [
        ("torch._dynamo.mark_dynamic(inputs[0], 0)", None, [0]),
        ("pass", True, [0, 1]),
        ("pass", None, []),
        ("torch._dynamo.mark_static(inputs[0], 1)", True, [0]),
    ],
)
def test_dynamic_dimensions_are_judged_as_unknown(
    tmp_path: Path, prepare: str, dynamic: bool | None, symbolic: list[int]
) -> None:
    target, sources = build(
        tmp_path,
        f"def model(x):\n    return (x + 1).double()\ninputs = (torch.randn(6, 8),)\n{prepare}\n",
        dynamic=dynamic,
    )
    outcome = run_preview(target, sources)

    assert outcome.report.state is StageState.DONE
    shape = outcome.recording.ops[-1].outputs[0].shape
    assert [index for index, length in enumerate(shape) if not isinstance(length, int)] == symbolic
    assert [origin.name for origin in outcome.recording.origins.values()] == ["x"]
