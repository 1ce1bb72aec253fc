"""README's recipes for Neovim, run as they stand by a real Neovim, where one is on the path."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import needed
import pytest
from server_harness import PATIENCE

pytestmark = pytest.mark.torch

README = Path(__file__).resolve().parents[2] / "README.md"
RECIPES = [("Neovim 0.11,", (0, 11)), ("Neovim 0.8 to 0.10,", (0, 8))]
"""How each begins, and the first that it is for. 0.11 brought `vim.lsp.config`; most distributions have older ones."""
MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        '😀'; y = self.linear(x.flatten())
        return y


def get_inputs():
    return [torch.randn(4, 8)]
"""
TELLING = """
vim.api.nvim_create_autocmd('DiagnosticChanged', { callback = function(said)
  local found = vim.diagnostic.get(said.buf)
  if #found == 0 then return end
  local at = { line = found[1].lnum, character = 24 }
  local asked = { textDocument = vim.lsp.util.make_text_document_params(said.buf), position = at }
  local hovers = vim.lsp.buf_request_sync(said.buf, 'textDocument/hover', asked, 20000)
  local file = assert(io.open(vim.env.TOLD, 'w'))
  file:write(vim.json.encode({ found = found, hovers = hovers }))
  file:close()
  vim.schedule(function() vim.cmd('qa!') end)
end })
"""
"""Writes down what the editor has once it has something, and what it shows under the cursor there; and ends."""


@pytest.mark.parametrize(("beginning", "oldest"), RECIPES, ids=["newer", "older"])
def test_a_recipe_shows_findings_and_hovers(tmp_path: Path, beginning: str, oldest: tuple[int, int]) -> None:
    program = needed.editor("nvim", oldest)
    text = README.read_text(encoding="utf-8")
    [recipe] = re.findall(rf"^{beginning}.*?```lua\n(.*?)```", text, re.DOTALL | re.MULTILINE)
    configuration = tmp_path / "configuration" / "nvim" / "init.lua"
    configuration.parent.mkdir(parents=True)
    configuration.write_text(recipe + TELLING, encoding="utf-8")
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    (project / "model.py").write_text(MODEL, encoding="utf-8")
    told = tmp_path / "told.json"
    environment = {
        **os.environ,
        **{f"XDG_{kind}_HOME": str(tmp_path / kind.lower()) for kind in ("CACHE", "DATA", "STATE")},
        "XDG_CONFIG_HOME": str(tmp_path / "configuration"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "TOLD": str(told),
    }
    words = [program, "--headless", "model.py"]
    subprocess.run(words, cwd=project, env=environment, stdin=subprocess.DEVNULL, timeout=PATIENCE * 6, check=True)
    said = json.loads(told.read_text(encoding="utf-8"))
    [finding] = said["found"]
    assert (finding["source"], finding["code"]) == ("inductor-debug", "capture-error")
    line = MODEL.splitlines()[finding["lnum"]]
    # Neovim counts bytes; the emoji before it has four, and is two characters on the wire.
    assert line.encode()[finding["col"] : finding["end_col"]].decode() == "self.linear(x.flatten())"
    [hover] = said["hovers"]
    assert "x.flatten()" in hover["result"]["contents"]["value"]
