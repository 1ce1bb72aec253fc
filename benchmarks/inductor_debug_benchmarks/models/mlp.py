"""Benchmark model: three linear layers."""

import torch
from torch import nn


class Model(nn.Module):
    """A plain multi-layer perceptron."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x):
        """[batch, 64] to [batch, 10]."""
        x = x  # toggle
        return self.layers(x)


def get_inputs():
    """One batch."""
    return [torch.randn(8, 64)]
