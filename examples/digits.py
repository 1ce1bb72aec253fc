"""A network for handwritten digits, as thousands of files have it: nothing is declared, and one number is wrong.

What to expect: `capture-error` at `self.fc1(x)`. No image makes the flattened features 9200 of them, so the class is at
fault and not the inputs, which were inferred; with images of 28 x 28 they are 9216, and a quick fix sets `fc1` to that.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.fc1 = nn.Linear(9200, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, images):
        x = F.relu(self.conv1(images))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)
