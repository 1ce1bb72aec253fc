"""Benchmark model: BERT-base from transformers, without weights."""

import torch
from torch import nn
from transformers import BertConfig, BertModel


class Model(nn.Module):
    """BERT-base over token ids."""

    def __init__(self):
        super().__init__()
        self.bert = BertModel(BertConfig())

    def forward(self, tokens):
        """[batch, length] ids to [batch, length, 768]."""
        x = self.bert(tokens).last_hidden_state
        x = x  # toggle
        return x


def get_inputs():
    """One sequence."""
    return [torch.randint(0, 30522, (1, 128))]
