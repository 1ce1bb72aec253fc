"""The task `diff`: a file and a backend in, a document, findings and artifacts out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import needed
import pytest
import torch
from forked import in_child
from inductor_debug.accelerators.profile import load_document
from inductor_debug.kerneldiff.diff_task import perform
from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    DiffTask,
    Event,
    FileStatus,
    Finished,
    JobRequest,
    Loaded,
    Progressed,
    Severity,
    Stage,
    to_wire,
)

pytestmark = pytest.mark.torch

MODEL = """\
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(96, 64)

    def forward(self, x):
        y = torch.relu(self.linear(x))
        return torch.tanh(y)

def get_inputs():
    return [torch.randn(8, 96)]

def get_init_inputs():
    return []
"""


class Diff:
    """What one job sent."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.documents: list[dict[str, Any]] = [
            to_wire(event.document) for event in events if isinstance(event, Answered)
        ]
        assert isinstance(events[-1], Finished)
        self.finished: Finished = events[-1]

    @property
    def document(self) -> dict[str, Any]:
        assert len(self.documents) == 1
        return self.documents[0]


def diff(tmp_path: Path, text: str, *, memory: int = 8 << 30, seed: int = 0, **options: Any) -> Diff:
    path = tmp_path / "model.py"
    path.write_text(text)
    made: list[Event] = []
    request = JobRequest(
        1,
        str(path),
        text,
        str(tmp_path),
        [],
        load_document("spyre"),
        memory_limit=memory,
        seed=seed,
        task=DiffTask(**{"backend": "spyre", **options}),
    )

    def work() -> list[Event]:
        perform(request, made.append)
        return made

    return Diff(in_child(work)[0])


def test_a_backend_that_is_right_passes_with_a_document_and_an_artifact(tmp_path: Path) -> None:
    done = diff(tmp_path, MODEL, atol=0.5)
    assert isinstance(done.events[0], Loaded)
    assert any(isinstance(event, Progressed) for event in done.events)
    document = done.document
    assert document["schema"] == 1
    assert (document["target"], document["reference"], document["backend"]) == ("Model", "eager", "spyre")
    assert document["verdict"] == "pass", document["why"]
    result = document["outputs"][0]
    assert result["name"] == "output"
    assert result["shape"] == [8, 64]
    assert result["passed"] is True
    assert result["metrics"]["anchored_ratio"] < 2
    assert {"max_abs", "rmse", "snr_db", "max_ulp"} <= result["metrics"].keys()
    assert "aten.tanh.default" in [node["op"] for node in document["nodes"]]
    assert document["blame"] == []
    assert "seed 0" in document["weights"]
    assert done.finished.status is FileStatus.CLEAN
    kept = [event for event in done.events if isinstance(event, ArtifactMade)]
    assert [made.kind for made in kept] == [ArtifactKind.REPORTS]
    assert json.loads(kept[0].content) == document


def test_a_fault_is_a_numerics_finding_on_the_blamed_expression(tmp_path: Path) -> None:
    done = diff(tmp_path, MODEL, inject=["zero-output@10"])
    assert done.document["verdict"] == "wrong"
    finding = done.finished.findings[0]
    assert (finding.rule, finding.stage) == ("numerics", Stage.COMPARISON)
    assert finding.severity is Severity.ERROR
    assert finding.op == "aten.tanh.default"
    line = MODEL.splitlines()[finding.range.start.line]
    assert line[finding.range.start.character : finding.range.end.character] == "torch.tanh(y)"
    assert done.finished.status is FileStatus.FINDINGS


def test_weights_are_the_files_own_or_follow_the_seed(tmp_path: Path) -> None:
    loads = MODEL.replace("64)\n", "64)\n        self.load_state_dict(torch.load(__file__[:-8] + 'weights.pt'))\n", 1)

    torch.save(
        {"linear.weight": torch.full((64, 96), 0.01), "linear.bias": torch.full((64,), 0.5)}, tmp_path / "weights.pt"
    )
    text = loads.replace("torch.randn(8, 96)", "torch.ones(8, 96)").replace("torch.tanh(y)", "y")
    document = diff(tmp_path, text).document
    assert document["outputs"][0]["metrics"]["norm_reference"] == pytest.approx((8 * 64) ** 0.5 * 1.46, rel=1e-3)
    first, same, other = (
        diff(tmp_path, MODEL, seed=seed, nodes=False).document["outputs"][0]["metrics"]["norm_reference"]
        for seed in (1, 1, 2)
    )
    assert first == same != other


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (MODEL, {"backend": "spyer"}, "did you mean 'spyre'?"),
        (MODEL, {"inject": ["nonsense"]}, "unknown fault"),
        (MODEL, {"backend": "eager"}, "could not fail"),
        (MODEL.replace("torch.tanh(y)", "y @ y"), {}, "Both sides raised"),
    ],
    ids=["backend", "fault", "same", "raises"],
)
def test_what_cannot_be_compared_failed_and_says_why(
    tmp_path: Path, text: str, options: dict[str, Any], words: str
) -> None:
    done = diff(tmp_path, text, **options)
    assert done.document["verdict"] == "failed"
    assert words in done.document["why"]
    assert not [finding for finding in done.finished.findings if finding.rule == "numerics"]


def test_a_model_that_does_not_fit_is_refused_with_the_numbers(tmp_path: Path) -> None:
    done = diff(
        tmp_path, MODEL.replace("96, 64)", "96, 64)\n        self.big = torch.nn.Linear(20000, 20000)"), memory=3 << 30
    )
    assert done.document["verdict"] == "failed"
    assert "1525 MiB" in done.document["why"]
    assert "1024 MiB" in done.document["why"]


def test_a_target_that_cannot_be_built_is_answered_and_found(tmp_path: Path) -> None:
    done = diff(tmp_path, MODEL.replace("torch.nn.Linear(96, 64)", "missing"))
    assert done.document["verdict"] == "failed"
    assert "could not be built" in done.document["why"]
    assert [finding.rule for finding in done.finished.findings] == ["capture-error"]
    assert done.finished.status is FileStatus.FAILED


def test_a_file_that_does_not_parse_or_offers_nothing(tmp_path: Path) -> None:
    assert [finding.rule for finding in diff(tmp_path, "def").finished.findings] == ["syntax-error"]
    assert diff(tmp_path, "x = 1\n").finished.status is FileStatus.NO_TARGET


def test_inferred_inputs_and_models_that_name_a_device_are_compared(tmp_path: Path) -> None:
    inferred = MODEL[: MODEL.index("def get_inputs")]
    assert diff(tmp_path, inferred).document["verdict"] == "pass"
    elsewhere = MODEL.replace("self.linear(x)", "self.linear(x.to('cuda'))")
    assert diff(tmp_path, elsewhere).document["verdict"] == "pass"


def test_pictures_are_artifacts(tmp_path: Path) -> None:
    needed.library("matplotlib")
    done = diff(tmp_path, MODEL, plots=True)
    pictures = [event for event in done.events if isinstance(event, ArtifactMade) and event.suffix == ".png"]
    assert len(pictures) >= 3
    assert all(made.kind is ArtifactKind.VISUALIZATIONS for made in pictures)
    assert all(made.content.startswith(b"\x89PNG") for made in pictures)


FUNCTION = """\
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * x * scale

    @staticmethod
    def backward(ctx, grad):
        x, scale = ctx.saved_tensors
        return RETURNED


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.full((8,), 3.0))

    def forward(self, x):
        return Square.apply(x, self.scale).sum()


def get_inputs():
    return [torch.randn(4, 8)]


def get_init_inputs():
    return []
"""


def of_function(tmp_path: Path, returned: str, **options: Any) -> Diff:
    text = FUNCTION.replace("RETURNED", returned)
    return diff(tmp_path, text, **{"backend": "aot_eager", "gradients": True, **options})


def test_a_wrong_backward_that_all_backends_run_is_told_where_gradients_are_compared(tmp_path: Path) -> None:
    """Of the input, too, of which the model's own run asks no gradient."""
    found = of_function(tmp_path, "4 * x * grad * scale, None")
    document = found.document
    assert (document["verdict"], document["why"]) == (
        "suspicious",
        "aot_eager agrees with eager, but both run this: `Square.backward` gives 2 times the derivative of `forward` "
        "for `x`.",
    )
    assert [(row["op"], row["range"]["start"], row["why"]) for row in document["blame"]] == [
        (
            "Square.backward",
            {"line": 12, "character": 15},
            "`Square.backward` gives 2 times the derivative of `forward` for `x`",
        ),
        (
            "Square.backward",
            {"line": 12, "character": 37},
            "`Square.backward` gives no gradient for `scale`, on which `forward` depends",
        ),
    ]
    told = [(finding.rule, finding.severity, finding.range.start.character) for finding in found.finished.findings]
    assert told == [("autograd-function", Severity.WARNING, 15), ("autograd-function", Severity.WARNING, 37)]


@pytest.mark.parametrize(
    ("returned", "options"),
    [
        ("2 * x * grad * scale, (grad * x * x).sum(0)", {}),
        ("4 * x * grad * scale, None  # inductor-debug: ignore[autograd-function]", {}),
        ("4 * x * grad * scale, None", {"gradients": False}),
    ],
)
def test_a_right_backward_one_that_is_silenced_and_outputs_alone_pass(
    tmp_path: Path, returned: str, options: dict[str, Any]
) -> None:
    found = of_function(tmp_path, returned, **options)
    assert (found.document["verdict"], found.document["blame"], found.finished.findings) == ("pass", [], [])
