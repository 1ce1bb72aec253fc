"""`inductor-debug survey` with real workers: what a row says of a model, and what is measured beside it."""

from __future__ import annotations

import base64
import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug.cli.main import main
from inductor_debug.report import data_pages

pytestmark = pytest.mark.torch

MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(4, 17),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(17, 64)

    def forward(self, x):
        y = self.fc(x)
        print(y.sum())
        return y.double()
"""


def rows(project: Path, name: str) -> list[dict[str, Any]]:
    lines = (project / "survey" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[1:]]


def test_a_row_has_what_the_model_costs_and_what_each_accelerator_makes_of_it(
    project: Path, write: Callable[[str, str], Path]
) -> None:
    write("model.py", MODEL)
    assert main(["survey", "model.py", "--accelerators", "none,Spyre,NVIDIA H100 SXM", "-q", "--no-page"]) == 1
    (row,) = rows(project, "model")
    assert (row["target"], row["checked"], row["graphs"], row["breaks"]) == ("Net", "yes", 2, 1)
    assert (row["parameters"], row["parameter_bytes"]) == (17 * 64 + 64, 4 * (17 * 64 + 64))
    none, spyre, h100 = row["columns"]
    assert none["flops"] == 2 * 4 * 17 * 64
    assert none["rules"] == {"graph-break": 1}
    assert spyre["rules"]["dtype"] >= 1
    assert spyre["padding_bytes"] > 0
    assert none["padding_bytes"] is None
    assert h100["seconds_at_least"] > 0
    found = next(finding for finding in row["findings"] if finding["rule"] == "graph-break")
    assert found["cause"] == "print"
    assert found["accelerators"] == ["none", "spyre", "h100"]
    assert found["excerpt"] == ["        print(y.sum())"]


def test_what_compiles_again_for_other_inputs_is_in_the_row_with_its_cause(
    project: Path, write: Callable[[str, str], Path]
) -> None:
    sets = "inputs=[(torch.randn(4, 17),), (torch.randn(5, 17),)]"
    write("model.py", MODEL.replace("inputs=(torch.randn(4, 17),)", sets).replace("print(y.sum())", "y = y + 1"))
    assert main(["survey", "model.py", "--accelerators", "none,spyre", "-q", "--no-page"]) == 1
    (row,) = rows(project, "model")
    assert row["recompiles"] == 1
    assert "has size 5 in dimension 0, not 4" in row["recompile_cause"]
    assert [column["rules"]["recompile"] for column in row["columns"]] == [1, 1]


def test_backends_are_measured_beside_eager_and_compared_where_that_is_asked_for(
    project: Path, write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    write("model.py", MODEL)
    words = ["--measure", "--diff", "--train", "--backends", "aot_eager,spyre", "--repeats", "5"]
    assert main(["survey", "model.py", "-q", "--no-page", *words]) == 1
    (row,) = rows(project, "model")
    assert row["stage"] == "aot"
    compiled, emulated = row["measured"]
    assert compiled["problem"] == ""
    assert compiled["training"] is True
    assert len(compiled["seconds"]) == len(compiled["eager_seconds"]) >= 5
    (cold,), (warm,) = compiled["cold"], compiled["warm"]
    assert {"Dynamo", "AOTAutograd"} <= cold["phases"].keys()
    assert sum(cold["phases"].values()) == pytest.approx(cold["seconds"], rel=0.01)
    assert warm["seconds"] > 0
    assert "emulated here" in emulated["problem"]
    assert [(one["compared_backend"], one["verdict"] in ("pass", "suspicious")) for one in row["compared"]] == [
        ("aot_eager", True),
        ("spyre", True),
    ]
    assert "aot_eager: cold" in capsys.readouterr().out


@pytest.mark.parametrize("where", [[], ["--cluster", "local:1"]], ids=["here", "on a cluster"])
def test_a_row_opens_a_page_with_the_graphs_of_its_model(
    where: list[str], project: Path, write: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    if where:
        pytest.importorskip("distributed")
    pages = write("pages/graph.html", data_pages.PLACEHOLDER).parent
    write("model.py", MODEL)
    write("small.py", "import torch\n\nclass Model(torch.nn.Module)\n")
    monkeypatch.setattr(data_pages, "PAGES", pages)
    assert main(["survey", "model.py", "small.py", "--graphs", "-q", "--name", "mine", *where]) == 2
    drawn, broken = sorted(rows(project, "mine"), key=lambda row: row["index"])
    assert drawn["graph_page"] == "mine.graphs/0001-1-model-py.html"
    assert broken["graph_page"] == ""
    data = json.loads(base64.b64decode((project / "survey" / drawn["graph_page"]).read_text()))
    assert data["title"] == "model.py"
    (captured,) = [decode(base64.b64decode(document)) for document in data["documents"]]
    assert (captured.path, len(captured.graphs)) == ("model.py", 2)
    assert [found["rule"] for found in data["findings"]] == ["graph-break"]
    page = (project / "survey" / "mine.html").read_text(encoding="utf-8")
    assert f'"graph":"{drawn["graph_page"]}"' in page


def test_architectures_of_a_library_are_built_from_their_configurations(
    project: Path, write: Callable[[str, str], Path]
) -> None:
    """Those that are filtered out or beyond the limit are not: no file is written of them either."""
    pytest.importorskip("transformers")
    write(
        "mine.toml",
        'schema = 1\n[[models]]\nname = "tiny"\ntransformers = "GPT2LMHeadModel"\n'
        'config = "n_embd=48, n_layer=2, n_head=4"\n'
        'directive = "inputs=(torch.zeros((1, 8), dtype=torch.int64),), eval"\n'
        '[[models]]\ntransformers = "GPT2(Model|LMHeadModel)|(Bert|OPT|XLNet)Model"\nlayers = 1\n',
    )
    words = ["--stages", "preview", "--filter", "^(?!OPT)", "--limit", "3"]
    assert main(["survey", "--suite", "mine.toml", "-q", "--no-page", *words]) in (0, 1)
    found = {row["model"]: row for row in rows(project, "mine")}
    assert set(found) == {"BertModel", "GPT2Model", "tiny"}
    assert all(row["checked"] != "no" for row in found.values()), [row["why"] for row in found.values()]
    assert found["BertModel"]["signature"]
    assert found["tiny"]["signature"] == ""
    written = project / "survey" / "models" / "mine"
    assert {path.stem.partition("_")[0] for path in written.glob("*.py")} == {"bertmodel", "gpt2model", "tiny"}
    assert "BertConfig(num_hidden_layers=1)" in (written / "bertmodel.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(("suite", "name"), [("torchvision", "resnet18"), ("timm", "vit_tiny_patch16_224")])
def test_models_of_vision_libraries_are_built_without_weights(suite: str, name: str, project: Path) -> None:
    try:
        importlib.import_module(suite)
    except Exception as error:  # torchvision raises RuntimeError where it was built for another torch
        pytest.skip(f"{suite} is no extra of ours, and cannot be imported here: {error}")
    words = ["--suite", suite, "-q", "--no-page", "--stages", "preview", "--filter", f"^{name}$", "--limit", "1"]
    assert main(["survey", *words]) in (0, 1)
    (row,) = rows(project, suite)
    assert (row["model"], row["checked"], row["why"]) == (name, "yes", "")
    assert row["parameters"] > 5e6
    assert row["tags"] == [suite]


def test_a_library_that_is_broken_or_not_there_is_told_in_one_sentence(
    project: Path,
    write: Callable[[str, str], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What PyPI's torchvision does beside a torch for CPUs alone, whose operations it cannot load."""
    write("site-packages/torchvision/__init__.py", "import torch\n\ntorch.ops.torchvision.nms.default\n")
    write("site-packages/torchvision/models.py", "")
    write(
        "site-packages/torchvision-9.1.dist-info/METADATA", "Metadata-Version: 2.1\nName: torchvision\nVersion: 9.1\n"
    )
    write("site-packages/timm/__init__.py", "import torchvision\n")
    monkeypatch.setenv("PYTHONPATH", str(project / "site-packages"))
    for suite in ("torchvision", "timm"):
        assert main(["survey", "--suite", suite, "-q"]) == 2
        (told,) = capsys.readouterr().err.splitlines()
        assert "torchvision 9.1 is installed and cannot be imported: " in told
        assert "Install it anew for this Python and torch" in told
    write("site-packages/timm/__init__.py", "import no_such_library\n")
    assert main(["survey", "--suite", "timm", "-q"]) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert f"{sys.executable} has timm but no no_such_library, which that needs: install it there" in told
    (project / "site-packages" / "timm" / "__init__.py").write_text("raise ModuleNotFoundError('', name='timm')\n")
    assert main(["survey", "--suite", "timm", "-q"]) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert f"{sys.executable} has no timm: install it there, or name another interpreter with --python" in told
