"""Benchmark model: one transformer block, written by hand."""

import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    """Pre-norm attention and feed-forward."""

    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x):
        """Self-attention over [batch, length, width]."""
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        """[batch, length, width] to the same."""
        x = x  # toggle
        x = x + self.attend(self.norm_1(x))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


def get_inputs():
    """One batch of embedded tokens."""
    return [torch.randn(2, 32, 64)]
