"""`mock_backend` in scripts of one's own: warnings at the user's line, or one error that lists everything."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from inductor_debug import mock_backend
from inductor_debug.accelerators.profile import ProfileError, load_document
from inductor_debug.capture.script_backends import mock_backend as module
from inductor_debug.capture.script_backends.mock_backend import (
    MockBackendError,
    MockBackendWarning,
    inductor_debug_mock,
)
from own_scripts import load, told
from torch._dynamo.exc import BackendCompilerFailed

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("fresh_script")]

SOURCE = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
    def forward(self, x):
        y = self.fc(x)
        return y.double().float() + y.double().float()
model = Model()
"""


@pytest.mark.parametrize(
    "backend", [mock_backend, mock_backend(strict=False), inductor_debug_mock, "inductor_debug_mock"]
)
def test_each_finding_is_one_warning_with_its_exact_place(tmp_path: Path, backend: Any) -> None:
    model, x = load(tmp_path, SOURCE), torch.randn(4, 8)
    compiled = torch.compile(model, backend=backend)
    messages = told(lambda: compiled(x))

    script = tmp_path / "script.py"
    assert [message.split(" ")[0] for message in messages] == [f"{script}:7:16:", f"{script}:7:37:"]
    assert all("[dtype] float64" in message for message in messages)
    assert torch.equal(compiled(x), model(x))
    assert told(lambda: compiled(torch.randn(5, 8))) == []


def test_a_warning_is_located_at_the_users_line(tmp_path: Path) -> None:
    model = load(tmp_path, SOURCE)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.compile(model, backend=mock_backend)(torch.randn(4, 8))
    found = [item for item in caught if item.category is MockBackendWarning]

    assert {(item.filename, item.lineno) for item in found} == {(str(tmp_path / "script.py"), 7)}


@pytest.mark.parametrize("how", ["argument", "environment", "options"])
def test_strict_raises_one_error_that_lists_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    if how == "environment":
        monkeypatch.setenv("MOCK_STRICT", "1")
    backend = mock_backend(strict=True) if how == "argument" else mock_backend
    options: Any = {"strict": True} if how == "options" else None
    compiled = torch.compile(load(tmp_path, SOURCE), backend=backend, options=options)
    with pytest.raises(BackendCompilerFailed) as caught:
        compiled(torch.randn(4, 8))

    error = caught.value.inner_exception
    assert isinstance(error, MockBackendError)
    lines = str(error).splitlines()
    assert lines[0] == "2 problems on accelerator 'mock':"
    assert lines[1].startswith(f"  {tmp_path / 'script.py'}:7:16: [dtype] float64")
    assert [finding.rule for finding in error.findings] == ["dtype", "dtype"]
    assert "backend='mock_backend'" in str(caught.value)


def test_an_argument_outweighs_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_STRICT", "1")
    compiled = torch.compile(load(tmp_path, SOURCE), backend=mock_backend(strict=False))

    assert len(told(lambda: compiled(torch.randn(4, 8)))) == 2


def test_the_environment_sets_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_MAX_MEMORY", "16")
    compiled = torch.compile(load(tmp_path, "def model(x):\n    return x + 1\n"), backend=mock_backend)

    assert any("[memory]" in message for message in told(lambda: compiled(torch.randn(4, 8))))


def test_an_accelerator_is_a_name_a_path_or_a_document(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('name = "own"\nextends = "mock"\n')
    document = load_document("mock")
    model = load(tmp_path, "def model(x):\n    return x.double().float()\n")
    for accelerator, expected in (("spyre", "'spyre'"), (document, "'mock'"), (own, "'own'")):
        torch._dynamo.reset()
        compiled = torch.compile(model, backend=mock_backend(accelerator=accelerator))
        assert expected in told(lambda compiled=compiled: compiled(torch.randn(64, 64)))[0]
    with pytest.raises(ProfileError, match="nothing"):
        mock_backend(torch.fx.symbolic_trace(model), [], accelerator="nothing")


def test_the_nearest_pyproject_names_the_accelerator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.inductor-debug]\naccelerator = "spyre"\n')
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    monkeypatch.chdir(tmp_path / "deeper")
    compiled = torch.compile(load(tmp_path, SOURCE), backend=mock_backend)

    assert all("'spyre'" in message for message in told(lambda: compiled(torch.randn(64, 8))))


def test_an_ignore_comment_silences_its_line(tmp_path: Path) -> None:
    source = "def model(x):\n    return x.double().float()  # inductor-debug: ignore[dtype]\n"
    compiled = torch.compile(load(tmp_path, source), backend=mock_backend(strict=True))

    assert told(lambda: compiled(torch.randn(4))) == []


@pytest.mark.parametrize("dynamic", [None, True])
def test_training_works_through_it(tmp_path: Path, dynamic: bool | None) -> None:
    model = load(tmp_path, SOURCE)
    compiled = torch.compile(model, backend=mock_backend, dynamic=dynamic)
    messages = told(lambda: compiled(torch.randn(4, 8)).sum().backward())

    assert len(messages) == 2
    assert model.fc.weight.grad is not None


def test_a_failure_of_its_own_never_stops_a_compilation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Any) -> Any:
        raise KeyError("ours")

    monkeypatch.setattr(module, "record_graph", broken)
    model, x = load(tmp_path, SOURCE), torch.randn(4, 8)
    compiled = torch.compile(model, backend=mock_backend(strict=True))
    messages = told(lambda: compiled(x))

    assert messages == ["inductor-debug could not judge this graph (KeyError: 'ours')"]


def test_the_graph_keeps_nothing_of_ours(tmp_path: Path) -> None:
    graphs: list[torch.fx.GraphModule] = []

    def backend(graph_module: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        graphs.append(graph_module)
        return mock_backend(graph_module, inputs)

    told(lambda: torch.compile(load(tmp_path, SOURCE), backend=backend)(torch.randn(4, 8)))
    assert all("custom" not in node.meta for node in graphs[0].graph.nodes)


def test_a_plain_script_needs_no_import_of_ours(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\n"
        "def model(x): return x.double().float()\n"
        "torch.compile(model, backend='inductor_debug_mock')(torch.randn(4))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, cwd=tmp_path, check=True
    )

    assert f"{script}:2:22: [dtype] float64" in done.stderr
