"""Four ways to break a graph, all of them in code that one meets in real models.

What to expect is a `graph-break` at each of these expressions, and nothing else:

- `print(...)`: debugging output needs values in the middle of the graph.
- `router.sum().item()`: a Python number made from a tensor.
- `x.mean() > 0`: a branch that depends on data.
- `time.perf_counter()`: a call that cannot be traced, into the C part of Python.

Everything between the breaks is analysed as well.
"""

import time

import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(8, 32),)
class Debugged(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(32, 32)
        self.second = nn.Linear(32, 32)
        self.router = nn.Linear(32, 1)
        self.finished = 0.0

    def forward(self, x):
        x = self.first(x)
        print("after the first layer:", x.mean())
        router = self.router(x).sigmoid()
        load = router.sum().item()
        x = x * load
        if x.mean() > 0:
            x = self.second(x)
        self.finished = time.perf_counter()
        return x + 1
