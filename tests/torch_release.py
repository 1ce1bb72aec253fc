"""Which torch the tests run with, as numbers."""

from __future__ import annotations

import re

import torch

_NUMBERS = re.match(r"(\d+)\.(\d+)", str(torch.__version__))
assert _NUMBERS is not None
RELEASE = int(_NUMBERS[1]), int(_NUMBERS[2])
"""Major and minor version; pre-releases and builds count as what they become."""
QUANTISED_ON_FAKE = RELEASE >= (2, 12)
"""Whether fake tensors know quantised ones."""
