"""Benchmark model: a small convolutional network."""

import torch
from torch import nn


class Model(nn.Module):
    """Three convolutions with batch norm, pooled into a classifier."""

    def __init__(self):
        super().__init__()
        widths = [3, 16, 32, 64]
        self.blocks = nn.Sequential(
            *(
                nn.Sequential(nn.Conv2d(a, b, 3, stride=2, padding=1), nn.BatchNorm2d(b), nn.ReLU())
                for a, b in zip(widths, widths[1:])
            )
        )
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        """[batch, 3, 32, 32] to [batch, 10]."""
        x = x  # toggle
        return self.head(self.blocks(x).mean((2, 3)))


def get_inputs():
    """One batch of images."""
    return [torch.randn(4, 3, 32, 32)]
