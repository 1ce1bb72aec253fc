"""A language model that nobody prepared, and a card that is not there: what does not fit, and what would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from inductor_debug.cli.main import main

pytestmark = pytest.mark.torch

GPT = """\
import torch
from dataclasses import dataclass
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm = nn.LayerNorm(config.n_embd)
        self.up, self.down = nn.Linear(config.n_embd, 4 * config.n_embd), nn.Linear(4 * config.n_embd, config.n_embd)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


@dataclass
class Config:
    block_size: int = 1024
    vocab_size: int = 50304
    n_layer: int = 6
    n_embd: int = 768


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.words = nn.Embedding(config.vocab_size, config.n_embd)
        self.places = nn.Embedding(config.block_size, config.n_embd)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.n_layer)])
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)

    def forward(self, idx):
        b, t = idx.size()
        assert t <= self.config.block_size
        x = self.words(idx) + self.places(torch.arange(0, t, dtype=torch.long, device=idx.device))
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, [-1], :])

    @classmethod
    def from_pretrained(cls, model_type, override_args=None):
        config_args = {"gpt2": dict(n_layer=12)}[model_type]
        config_args["bias"] = True
        config = Config(**config_args)
        return GPT(config)
"""


def test_what_does_not_fit_is_told_with_the_batch_that_somebody_asked_for_and_then_what_makes_it_fit(
    write: Callable[[str, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its configuration is the file's own, whatever else some loader of weights gives it."""
    write("gpt.py", GPT)
    sizes = ["--size", "b=192", "--size", "t=1024", "-q", "--color", "never"]
    assert main(["check", "gpt.py", "--accelerator", "RTX 4090", *sizes]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "gpt.py:14:16: information[peak-memory] run eagerly in training" in told
    assert "are needed at once here, more than the 24 GiB of accelerator 'rtx-4090'" in told
    assert main(["check", "gpt.py", "--accelerator", "h100", *sizes]) == 0
    assert "peak-memory" not in capsys.readouterr().out
    assert main(["suggest", "gpt.py", "--accelerator", "RTX 4090", *sizes]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "does not fit into 24 GiB" in told
    assert "fits into 24 GiB" in told.partition("activation checkpointing")[2].partition(")")[0]
