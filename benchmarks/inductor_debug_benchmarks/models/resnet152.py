"""Benchmark model: ResNet-152, written out."""

import torch
from torch import nn


class Bottleneck(nn.Module):
    """Three convolutions around which the input is carried."""

    def __init__(self, inside, width, stride=1, downsample=None):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, width * 4, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(width * 4)
        self.relu = nn.ReLU()
        self.downsample = downsample

    def forward(self, x):
        """[batch, inside, height, width] to four times the width."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        carried = x if self.downsample is None else self.downsample(x)
        return self.relu(out + carried)


class Model(nn.Module):
    """ResNet-152 over images."""

    def __init__(self):
        super().__init__()
        self.inside = 64
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2, padding=1),
        )
        self.layers = nn.Sequential(
            self._layer(64, 3), self._layer(128, 8, 2), self._layer(256, 36, 2), self._layer(512, 3, 2)
        )
        self.head = nn.Linear(2048, 1000)

    def _layer(self, width, blocks, stride=1):
        narrow = nn.Conv2d(self.inside, width * 4, 1, stride=stride, bias=False)
        first = Bottleneck(self.inside, width, stride, nn.Sequential(narrow, nn.BatchNorm2d(width * 4)))
        self.inside = width * 4
        return nn.Sequential(first, *(Bottleneck(self.inside, width) for _ in range(blocks - 1)))

    def forward(self, x):
        """[batch, 3, height, width] to [batch, 1000]."""
        x = self.layers(self.stem(x))
        x = x  # toggle
        return self.head(x.mean((2, 3)))


def get_inputs():
    """Two images."""
    return [torch.randn(2, 3, 224, 224)]
