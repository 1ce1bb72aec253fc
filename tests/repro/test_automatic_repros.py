"""`mock_backend` in strict mode leaves a script behind for what it refuses, and never fails because of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from inductor_debug.capture.mock_backend import MockBackendError, mock_backend
from inductor_debug.repro.made import trial

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
    error = refuse(monkeypatch)
    (path,) = error.reproducers
    assert path in str(error)
    script = Path(path).read_text(encoding="utf-8")
    assert ".to(torch.float64)" in script
    assert trial(script).answer["status"] == 0


def test_where_nothing_can_be_written_the_error_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert refuse(monkeypatch).reproducers == []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("MOCK_REPROS", "0")
    assert refuse(monkeypatch).reproducers == []
