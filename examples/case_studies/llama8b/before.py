"""Llama with 8 billion parameters, in bfloat16, reading a prompt of 2048 tokens. No weights are made."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM


# inductor-debug: inputs=(torch.zeros((1, 2048), dtype=torch.int64),), eval
class Llama8B(LlamaForCausalLM):
    def __init__(self):
        config = LlamaConfig(
            vocab_size=128_256,
            hidden_size=4096,
            intermediate_size=14_336,
            num_hidden_layers=32,
            num_attention_heads=32,
            num_key_value_heads=8,
            max_position_embeddings=8192,
        )
        super().__init__(config)
        self.to(torch.bfloat16)
