"""Random numbers start from a seed wherever user code is about to run: the same file is the same model each time.

Python's, numpy's (where it is loaded) and torch's on the CPU. What a program draws from the system itself cannot be
seeded: `secrets`, `uuid4`, a generator that it makes without a seed.
"""

from __future__ import annotations

import random
import sys

import torch

SEED = 0
"""What analyses start from; tasks that take a seed have their own."""


def seed_host(seed: int = SEED) -> None:
    """Starts the random numbers that are drawn on the CPU; `torch.manual_seed` would talk to every accelerator."""
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))
