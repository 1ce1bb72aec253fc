"""`mock_backend` in strict mode leaves a script behind for what it refuses, and never fails because of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from inductor_debug.capture.script_backends.mock_backend import MockBackendError, mock_backend
from inductor_debug.repro.kinds import automatic
from inductor_debug.repro.script.reproducer import trial

pytestmark = pytest.mark.torch


def refuse(monkeypatch: pytest.MonkeyPatch) -> MockBackendError:
    torch._dynamo.reset()

    def model(x: torch.Tensor) -> torch.Tensor:
        return (x.relu() @ x.t()).double().sum()

    with pytest.raises(Exception, match="float64") as caught:
        torch.compile(model, backend=mock_backend(strict=True))(torch.randn(4, 8))
    error: BaseException | None = caught.value
    while error is not None and not isinstance(error, MockBackendError):
        error = getattr(error, "inner_exception", None) or error.__cause__
    assert error is not None
    return error


def test_a_refused_graph_leaves_a_reproducer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("MOCK_REPROS", raising=False)
    error = refuse(monkeypatch)
    (path,) = error.reproducers
    assert error.verified == [path]
    assert f"minimal reproducer, verified: {path}" in str(error)
    script = Path(path).read_text(encoding="utf-8")
    assert ".to(torch.float64)" in script
    assert "not verified" not in script


def test_a_script_that_is_not_run_or_does_not_reproduce_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("MOCK_REPROS", "unverified")
    error = refuse(monkeypatch)
    assert (len(error.reproducers), error.verified) == (1, [])
    assert "not verified (made while the model was compiled, and not run yet)" in str(error)
    monkeypatch.delenv("MOCK_REPROS")
    monkeypatch.setattr(automatic, "_reasons", {})
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    error = refuse(monkeypatch)
    (path,) = error.reproducers
    script = Path(path).read_text(encoding="utf-8")
    assert "Note:     not verified: the proof could not be run: No such file or directory" in script
    assert trial(script).answer["status"] == 0


def test_where_nothing_can_be_written_the_error_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_REPROS", "unverified")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert refuse(monkeypatch).reproducers == []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("MOCK_REPROS", "0")
    assert refuse(monkeypatch).reproducers == []
