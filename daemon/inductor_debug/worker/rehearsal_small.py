"""The model that a forked worker analyses while it waits for its job; small, because the job may come any moment.

`rehearsal_broad` is its counterpart for the fork server, which has the time. Both compute nothing.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class Model(nn.Module):
    """A layer, a norm, and a dtype that the rehearsal's profile does not have, so that the rules speak up."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.norm = nn.LayerNorm(16)
        self.second = nn.Linear(16, 8)

    def forward(self, hidden: torch.Tensor) -> Any:
        """The rows, changed a little."""
        widened = torch.relu(self.norm(self.first(hidden)))
        weights = torch.softmax(widened.double(), dim=-1).float()
        return hidden + self.second(weights.reshape(2, 16))


def get_inputs() -> list[torch.Tensor]:
    """Two rows."""
    return [torch.zeros(2, 8)]


def get_init_inputs() -> list[object]:
    """The model takes no arguments."""
    return []
