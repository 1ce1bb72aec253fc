"""Lets these tests use the helpers of `tests/capture`."""

from __future__ import annotations

import sys
from pathlib import Path

CAPTURE = str(Path(__file__).resolve().parents[1] / "capture")
if CAPTURE not in sys.path:
    sys.path.insert(0, CAPTURE)
