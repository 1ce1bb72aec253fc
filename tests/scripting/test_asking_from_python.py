"""What scripts and notebooks get that ask for a reproducer or a bisection, of files and of models in memory."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
from inductor_debug import NoSourceError, OrderFailedError, bisect, reproduce
from inductor_debug.engine.orders.file_targets import FileTargetError
from inductor_debug.rules.registry import UnknownRuleError
from inductor_debug_schema import BisectVerdict

pytestmark = pytest.mark.torch

MODELS = """
import torch
from torch import nn


class Wide(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, 4)

    def forward(self, x):
        return torch.relu(self.layer(x)).double()


# inductor-debug: inputs=(torch.randn(4),)
def told(x):
    return x.double()


# inductor-debug: inputs=(torch.randn(4),)
def other(x):
    return x.sin()
"""


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "asked_models.py").write_text(MODELS, encoding="utf-8")
    sys.modules.pop("asked_models", None)
    return importlib.import_module("asked_models")


def test_a_finding_of_a_file_becomes_a_script_that_is_kept_and_saved(models: ModuleType, tmp_path: Path) -> None:
    heard: list[str] = []
    path = f"{models.__file__}::told"
    report = reproduce(path, rule="dtype", line=17, accelerator="mock", progress=heard.append)
    assert report.verified, report.why
    assert report.path is not None
    assert Path(report.path).read_text(encoding="utf-8") == report.script
    report.save(tmp_path / "repro.py")
    assert (tmp_path / "repro.py").read_text(encoding="utf-8") == report.script
    assert json.loads(report.to_json())["nodes_after"] == 1
    assert "looking for the failure in told" in heard


def test_a_model_in_memory_is_shown_with_its_own_lines(models: ModuleType) -> None:
    report = reproduce(models.Wide(8), (torch.randn(3, 8),), rule="dtype", accelerator="mock")
    assert report.verified, report.why
    assert report.script is not None
    assert "asked_models.py:12:16" in report.script


async def test_a_bisection_blames_the_line_of_a_model_in_memory_even_from_a_notebook(models: ModuleType) -> None:
    report = bisect(
        models.Wide(8), {"x": torch.randn(3, 8)}, backends=["aot_eager", "relu_accuracy_error_TESTING_ONLY"]
    )
    assert report.verdict is not BisectVerdict.NONE
    assert [rung.state.value for rung in report.ladder] == ["ok", "ok", "wrong"]
    assert report.guilty is not None
    assert (report.guilty.path, report.guilty.backend) == (models.__file__, "relu_accuracy_error_TESTING_ONLY")
    assert json.loads(report.to_json())["target"] == "Wide_in_memory()"


async def test_which_target_is_meant_has_to_be_said_where_there_are_several(models: ModuleType) -> None:
    with pytest.raises(OrderFailedError, match="offers several targets: name one of told, other"):
        bisect(str(models.__file__))
    with pytest.raises(OrderFailedError, match="did you mean 'other'"):
        reproduce(f"{models.__file__}::othr", rule="dtype")


def test_a_script_that_asks_while_a_worker_runs_it_is_told_where_to_ask(tmp_path: Path) -> None:
    script = tmp_path / "asks.py"
    script.write_text(
        "import torch\nfrom inductor_debug import reproduce\n\n\ndef f(x):\n    return x.sin()\n\n\n"
        "reproduce(f, (torch.randn(4),))\n",
        encoding="utf-8",
    )
    with pytest.raises(OrderFailedError, match=r"put the call under `if __name__ == .__main__.:`"):
        reproduce(str(script))


def test_what_cannot_be_asked_is_refused_before_anything_runs(models: ModuleType, tmp_path: Path) -> None:
    report = reproduce(f"{models.__file__}::told", rule="syntax-error")
    assert (report.script, report.verified) == (None, False)
    assert "there is nothing to run" in report.why
    with pytest.raises(ValueError, match="there is nothing to run"):
        report.save(tmp_path / "repro.py")
    with pytest.raises(UnknownRuleError):
        reproduce(f"{models.__file__}::told", rule="dtyp")
    with pytest.raises(FileTargetError, match="does not exist"):
        reproduce(tmp_path / "nowhere.py")
    with pytest.raises(TypeError, match="needs inputs"):
        reproduce(models.Wide(8))
    with pytest.raises(TypeError, match="a file says its own"):
        bisect(str(models.__file__), (torch.randn(4),))


def test_a_model_that_no_other_process_could_build_is_refused_by_name(models: ModuleType) -> None:
    wide = models.Wide(8)
    wide.layer.scale = lambda x: x
    with pytest.raises(NoSourceError, match=r"the model\[0\]\._modules\.layer\.scale is .*<lambda>"):
        reproduce(wide, (torch.randn(3, 8),))
    cell = type("Cell", (torch.nn.Module,), {"__module__": "a_notebook"})
    with pytest.raises(NoSourceError, match="notebook's cell"):
        reproduce(cell(), (torch.randn(3),))
