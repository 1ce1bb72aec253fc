"""`watch` drives a real daemon over stdio and shows what it finds, now and after a save."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from zygote import COMMAND

pytestmark = pytest.mark.torch

PATIENCE = 300
MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return {expression}


def get_inputs():
    return [torch.randn(4)]
"""


def watch(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    command = [*COMMAND, "watch", "--accelerator", "mock", *arguments]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_once_shows_the_findings_with_their_source_and_ends_well(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL.format(expression="x.double()"))
    process = watch("--once", "model.py", cwd=tmp_path)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "model.py:7:16: warning[dtype] float64" in out
    assert "        return x.double()\n   |                ^^^^^^^^^^" in out
    assert out.splitlines()[-1] == "model.py: 1 class checked"
    assert "done, 1 finding" in err


def test_what_the_code_may_do_is_allowed_by_name(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL.format(expression="x + 1") + "open('made', 'w').close()\n")
    for allowed, words in (([], "environment"), (["--allow", "write"], "1 class checked")):
        out, _ = watch("--once", *allowed, "model.py", cwd=tmp_path).communicate(timeout=PATIENCE)
        assert words in out
    assert (tmp_path / "made").exists()


def test_a_save_shows_the_new_findings(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL.format(expression="x + 1"))
    process = watch("model.py", cwd=tmp_path)
    try:
        assert process.stderr is not None
        assert process.stdout is not None
        for line in process.stderr:
            if "done, 0 findings" in line:
                path.write_text(MODEL.format(expression="x.kthvalue(1)[0]"))
            if "done, 1 finding" in line:
                break
        assert any("unsupported-op" in line for line in process.stdout)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


@pytest.mark.parametrize("name", ["missing.py", "."])
def test_what_is_no_file_is_refused(name: str, tmp_path: Path) -> None:
    process = watch(name, cwd=tmp_path)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert name in err
