"""A multilingual BERT of 178 million parameters, from transformers, with a classifier on top.

The model is built without its weights, so this takes a second and next to no memory.

What to expect is nothing, on the mock accelerator (`--accelerator mock`) as well: transposes feed attention, positions are looked up with views of
small buffers, masks are broadcast; a tool that warns about any of these here cries wolf.

With `MOCK_ALIGNMENT=8` there is an `alignment` finding for each place where odd sizes come from: the vocabulary of
119547 and the 2 token types (declared by `BertModel(...)`), the 12 heads (inside `self.bert(...)`), and the 3 labels of
the head.
"""

import torch
from torch import nn
from transformers import BertConfig, BertModel

LABELS = 3


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = BertModel(BertConfig(vocab_size=119_547))
        self.head = nn.Linear(768, LABELS)

    def forward(self, input_ids, attention_mask):
        encoded = self.bert(input_ids, attention_mask=attention_mask)
        return self.head(encoded.pooler_output)


def example_inputs():
    shape = (8, 128)
    return {
        "input_ids": torch.zeros(shape, dtype=torch.int64),
        "attention_mask": torch.ones(shape, dtype=torch.int64),
    }
