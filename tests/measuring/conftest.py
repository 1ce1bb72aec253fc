"""Lets these tests use the harness of `tests/capture`, which forks a warm process for each job."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "capture"))
