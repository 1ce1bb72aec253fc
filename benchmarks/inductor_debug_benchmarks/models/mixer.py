"""Benchmark model: a two-block MLP mixer."""

import torch
from torch import nn


class Block(nn.Module):
    """Mixes tokens, then channels."""

    def __init__(self, tokens, width):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens = nn.Sequential(nn.Linear(tokens, 2 * tokens), nn.GELU(), nn.Linear(2 * tokens, tokens))
        self.channels = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        """[batch, tokens, width] to the same."""
        x = x + self.tokens(self.norm_1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm_2(x))


class Model(nn.Module):
    """Patches, two blocks, a classifier."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 64, 8, stride=8)
        self.blocks = nn.Sequential(Block(16, 64), Block(16, 64))
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        """[batch, 3, 32, 32] to [batch, 10]."""
        x = x  # toggle
        x = self.patches(x).flatten(2).transpose(1, 2)
        return self.head(self.blocks(x).mean(1))


def get_inputs():
    """One batch of images."""
    return [torch.randn(4, 3, 32, 32)]
