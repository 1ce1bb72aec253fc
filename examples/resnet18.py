"""ResNet-18 from transformers: basic layers, [2, 2, 2, 2] of them.

The example inputs follow KernelBench's convention: `get_init_inputs` for the constructor, `get_inputs` for the call.

What to expect is nothing, on the mock accelerator (`--accelerator mock`) as well, and also with inputs in
channels_last, which counts as contiguous.
"""

import torch
from torch import nn
from transformers import ResNetConfig, ResNetForImageClassification


class Model(nn.Module):
    def __init__(self, labels: int):
        super().__init__()
        config = ResNetConfig(
            embedding_size=64,
            hidden_sizes=[64, 128, 256, 512],
            depths=[2, 2, 2, 2],
            layer_type="basic",
            num_labels=labels,
        )
        self.resnet = ResNetForImageClassification(config)

    def forward(self, images):
        return self.resnet(images).logits


def get_inputs():
    return [torch.randn(4, 3, 224, 224).to(memory_format=torch.channels_last)]


def get_init_inputs():
    return [1000]
