"""The model that a fork server analyses before it forks the first worker, so that every worker finds torch warm.

It goes through what most models go through: embeddings, attention, convolution, norms, a loop, views, a dtype that
the rehearsal's profile does not have (so that rules have something to say), a graph break and a lambda. It computes
nothing.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class Block(nn.Module):
    """Attention and a small feed-forward network."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.widen = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * width, width))

    def forward(self, hidden: torch.Tensor, scale: float = 1.0) -> Any:
        """Mixes the tokens, then each token's features."""
        query, key, value = self.project(self.norm(hidden)).chunk(3, dim=-1)
        heads = [part.unflatten(-1, (2, -1)).transpose(1, 2) for part in (query, key, value)]
        mixed = nn.functional.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
        return hidden + self.widen(mixed.contiguous()) * scale


class Model(nn.Module):
    """A tiny language model with a convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(16, 8)
        self.blocks = nn.ModuleList(Block(8) for _ in range(2))
        self.convolution = nn.Conv1d(8, 8, 3, padding=1)
        self.batch_norm = nn.BatchNorm1d(8)
        self.register_buffer("mask", torch.ones(4, 4).tril())

    def forward(self, tokens: torch.Tensor) -> Any:
        """One number for each sequence."""
        hidden = self.embedding(tokens)
        for block in self.blocks:
            hidden = block(hidden, scale=0.5)
        weights = torch.softmax((hidden @ hidden.transpose(1, 2)).masked_fill(self.mask == 0, float("-inf")), dim=-1)
        hidden = (weights @ hidden).double().float()
        hidden = torch.relu(self.batch_norm(self.convolution(hidden.permute(0, 2, 1))))
        print(end="")  # a graph break
        pick = lambda tensor: torch.cat([tensor.mean(-1), tensor.amax(-1)], dim=-1)  # noqa: E731
        return pick(hidden).reshape(tokens.shape[0], -1).sum(dim=1)  # type: ignore[no-untyped-call]


def get_inputs() -> list[torch.Tensor]:
    """Two sequences of four tokens."""
    return [torch.zeros(2, 4, dtype=torch.long)]


def get_init_inputs() -> list[object]:
    """The model takes no arguments."""
    return []
