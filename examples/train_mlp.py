"""A training step: the forward pass and the loss are compiled, backward and the optimizer follow.

The file is a script. Its call of what `torch.compile` returned is what gets analysed, with the arguments of the call.

What to expect (a `dtype` with `--accelerator mock`, which has no float64):

- `float64` at `class_weights.to(torch.float64)`: somebody wanted to be exact about the weights of the classes; the loss
  inherits float64.

`nn.ReLU(inplace=True)` is no finding: compilers take such writes away, unless they go to an input or a buffer.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self, features: int, hidden: int, classes: int):
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(features, hidden), nn.Linear(hidden, hidden)])
        self.activation = nn.ReLU(inplace=True)
        self.dropout = nn.Dropout(0.1)
        self.out = nn.Linear(hidden, classes)

    def forward(self, x):
        for layer in self.hidden:
            x = self.dropout(self.activation(layer(x)))
        return self.out(x)


model = Classifier(features=784, hidden=512, classes=10)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
class_weights = torch.linspace(0.5, 1.5, 10)


@torch.compile
def compute_loss(images, labels):
    log_probabilities = F.log_softmax(model(images), dim=-1)
    picked = log_probabilities.gather(1, labels[:, None]).squeeze(1)
    weights = class_weights.to(torch.float64)[labels]
    return -(weights * picked).sum() / weights.sum()


def train_step(images, labels):
    optimizer.zero_grad()
    loss = compute_loss(images, labels)
    loss.backward()
    optimizer.step()
    return loss


train_step(torch.randn(64, 784), torch.randint(10, (64,)))
