"""A small model with a mistake in it: hover over the squiggle, and try the light bulb."""

import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(2, 1, 28, 28),)
class Digits(nn.Module):
    """Recognises handwritten digits."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(1, 32, 3)
        self.first = nn.Linear(32 * 13 * 13, 128)
        self.last = nn.Linear(128, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Takes images of 28 times 28 pixels, gives a score for each digit."""
        features = torch.relu(self.convolution(images))
        pooled = nn.functional.max_pool2d(features, 2)
        print("pooled", pooled.shape)  # leaves the compiled graph
        hidden = torch.relu(self.first(pooled.flatten(1)))
        return self.last(hidden)
