"""`check --fix` and `check --diff` with a real worker."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from inductor_debug.cli.main import main

pytestmark = pytest.mark.torch

MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=(torch.ones(4, 16),)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 12)
        self.second = nn.Linear(11, 16)

    def forward(self, x):
        return self.second(self.first(x))


# inductor-debug: inputs=(torch.ones(4, 16),)
class Other(nn.Module):
    def forward(self, x):
        print("ü", x.mean())
        return x
"""
GUARDED = MODEL.replace("        print(", "        if not torch.compiler.is_compiling():\n            print(")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "model.py"
    path.write_bytes(MODEL.replace("\n", "\r\n").encode("utf-8-sig"))
    path.chmod(0o755)
    return path


def test_fixes_that_keep_the_results_are_written_and_the_rest_is_reported(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = model.read_bytes()
    assert main(["check", "--diff", "model.py"]) == 1
    shown = capsys.readouterr()
    assert model.read_bytes() == before
    assert shown.out.startswith("--- model.py")
    assert "+        if not torch.compiler.is_compiling():" in shown.out
    assert "capture-error" not in shown.out
    assert main(["check", "--fix", "model.py"]) == 2  # a declared target still raises
    told = capsys.readouterr()
    assert model.read_bytes() == GUARDED.replace("\n", "\r\n").encode("utf-8-sig")
    assert model.stat().st_mode & 0o777 == 0o755
    assert "model.py: fixed: Skip `print" in told.err
    assert "1 fix changes what a model computes and was left out (--unsafe-fixes)" in told.err
    assert "capture-error" in told.out
    assert "graph-break" not in told.out


def test_a_diff_can_be_applied_and_unsafe_fixes_are_asked_for(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model.write_text(MODEL.rstrip("\n"))
    assert main(["check", "--diff", "--unsafe-fixes", "model.py"]) == 1
    difference = capsys.readouterr().out
    patched = subprocess.run(["git", "apply", "-p0", "-"], input=difference, text=True, cwd=model.parent, check=True)
    assert patched.returncode == 0
    by_patch = model.read_text()
    model.write_text(MODEL.rstrip("\n"))
    assert main(["check", "--fix", "--unsafe-fixes", "model.py"]) == 0
    assert model.read_text() == by_patch != MODEL.rstrip("\n")
    assert main(["check", "--diff", "model.py"]) == 0


def test_a_file_in_another_encoding_is_left_alone(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = f"# coding: latin-1\n{MODEL}".encode("latin-1")
    model.write_bytes(before)
    assert main(["check", "--fix", "model.py"]) == 2
    assert model.read_bytes() == before
    assert "only UTF-8 is fixed" in capsys.readouterr().out


BACKWARD = """\
import torch
from torch import nn


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * torch.ones(63, 64).mean()


# inductor-debug: inputs=(torch.randn(64, 64),)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)

    def forward(self, x):
        return Doubled.apply(self.layer(x)).sum()
"""


def test_an_odd_size_of_the_backward_pass_is_rounded_up_in_the_line_that_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("MOCK_ALIGNMENT", "8")
    path = tmp_path / "model.py"
    path.write_text(BACKWARD, encoding="utf-8")
    asked = ["check", "--accelerator", "mock", "--stages", "preview,mock,aot"]
    assert main([*asked, str(path), "--fix", "--unsafe-fixes"]) == 0
    assert "Round 63 up to 64 (verified)" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == BACKWARD.replace("ones(63,", "ones(64,")


VOCABULARY = """import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(4096, 256, dtype=torch.bfloat16),)
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(256, 50257, bias=False, dtype=torch.bfloat16)

    def forward(self, x):
        return self.head(x)
"""


def test_a_vocabulary_is_padded_to_what_the_gpu_multiplies_in_whole_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "model.py"
    path.write_text(VOCABULARY, encoding="utf-8")
    asked = ["check", "--accelerator", "h100", "--stages", "preview"]
    assert main([*asked, str(path), "--fix", "--unsafe-fixes"]) == 0
    assert "Round 50257 up to 50304 (verified)" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == VOCABULARY.replace("50257", "50304")
