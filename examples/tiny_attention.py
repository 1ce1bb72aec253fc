"""One attention layer, written out by hand, with a conversion to float64 that somebody forgot.

What `inductor-debug check examples/tiny_attention.py` should say, and `dtype` with `--accelerator mock`:

- `float64` at `scores.double()`: the expression introduces it. Dividing by the temperature, the softmax and the
  conversion back inherit it, so they are counted and not reported.

The transposes are no findings: they only feed matrix products, which read their operands in either order.
"""

import math

import torch
from torch import nn


# inductor-debug: init=(64, 4), inputs=(torch.randn(2, 16, 64),)
class TinyAttention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def split(self, x):
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = q @ k.transpose(-2, -1)
        scores = scores.double() / math.sqrt(q.shape[-1])
        weights = scores.softmax(dim=-1).float()
        mixed = (weights @ v).transpose(1, 2).reshape(x.shape)
        return self.out(mixed)
