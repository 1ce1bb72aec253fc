"""A model to try an adapter on."""

import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(3, 64),)
class Block(nn.Module):
    """Two layers with a gelu between them."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Linear(64, 256)
        self.narrow = nn.Linear(256, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Rows of 64 numbers in, rows of 64 numbers out."""
        hidden = nn.functional.gelu(self.wide(x))
        return self.narrow(hidden).double()
