"""Llama with 70 billion parameters: 80 layers, 8192 wide, 64 heads over 8 groups.

Its weights would fill 141 GB. None are made: the model is built and compiled on tensors that have shapes but no data.

What to expect is nothing, and on the mock accelerator (`--accelerator mock`) one finding, told at the call of the library with the places inside it:

- `layout` at `self.llama(...)`: transformers transposes queries and keys *before* it rotates them, so the rotary
  embedding computes on transposed tensors, in all 80 layers. (Attention alone would not mind.)
"""

import torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM


class Llama70B(nn.Module):
    def __init__(self):
        super().__init__()
        config = LlamaConfig(
            vocab_size=128_256,
            hidden_size=8192,
            intermediate_size=28_672,
            num_hidden_layers=80,
            num_attention_heads=64,
            num_key_value_heads=8,
            max_position_embeddings=8192,
            use_cache=False,
        )
        self.llama = LlamaForCausalLM(config).to(torch.bfloat16)

    def forward(self, input_ids):
        return self.llama(input_ids).logits

    @staticmethod
    def example_inputs():
        return (torch.zeros(1, 512, dtype=torch.int64),)
