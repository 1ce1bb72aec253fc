"""ResNet-18 of transformers, in bfloat16, with a batch of 32 images."""

import torch
from transformers import ResNetConfig, ResNetForImageClassification


# inductor-debug: inputs=(torch.randn(32, 3, 224, 224, dtype=torch.bfloat16),), eval
class ResNet18(ResNetForImageClassification):
    def __init__(self):
        config = ResNetConfig(
            embedding_size=64,
            hidden_sizes=[64, 128, 256, 512],
            depths=[2, 2, 2, 2],
            layer_type="basic",
            num_labels=1000,
        )
        super().__init__(config)
        self.to(torch.bfloat16)
