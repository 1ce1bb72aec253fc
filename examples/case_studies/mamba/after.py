"""Two layers of Mamba, given texts that were padded to a multiple of 64."""

import torch
from torch import nn
from torch.nn import functional as F
from transformers import MambaConfig, MambaModel


def tokens(length: int) -> torch.Tensor:
    return F.pad(torch.zeros((1, length), dtype=torch.int64), (0, -length % 64))


# inductor-debug: inputs=[(tokens(24),), (tokens(40),), (tokens(56),), (tokens(33),)], eval
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.mamba = MambaModel(MambaConfig(num_hidden_layers=2, use_cache=False))

    def forward(self, input_ids):
        return self.mamba(input_ids).last_hidden_state
