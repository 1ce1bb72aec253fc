"""Benchmark model: a Llama of 70 billion parameters from transformers, without weights."""

import torch
from torch import nn
from transformers import LlamaConfig, LlamaModel


class Model(nn.Module):
    """Eighty layers of Llama over token ids."""

    def __init__(self):
        super().__init__()
        config = LlamaConfig(
            hidden_size=8192,
            intermediate_size=28672,
            num_hidden_layers=80,
            num_attention_heads=64,
            num_key_value_heads=8,
            use_cache=False,
        )
        self.llama = LlamaModel(config)

    def forward(self, tokens):
        """[batch, length] ids to [batch, length, 8192]."""
        x = self.llama(tokens).last_hidden_state
        x = x  # toggle
        return x


def get_inputs():
    """One sequence."""
    return [torch.randint(0, 32000, (1, 128))]
