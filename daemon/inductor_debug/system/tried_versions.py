"""The versions of torch and Python that our tests have been seen to pass with, and what is said of any other.

No version is refused: a newer torch is used by its public names where the private ones that we know are gone. README,
`npm run matrix` and the workflows promise the same versions (`tests/architecture/test_promises.py`). Imports nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

TORCH = ("2.11", "2.12", "2.13", "2.14", "2.15")
"""Releases of torch, from the oldest to the newest."""
PYTHON = ("3.10", "3.11", "3.12", "3.13")
"""Versions of Python, likewise."""
_FAULTS = {
    "3.13.0": "Python 3.13.0 lets torch miss attributes of a model that have changed, so that compiled code computes "
    "with what they were; Python 3.13.1 does not"
}
"""Versions of Python in which compiled code goes wrong, and what to say of it (3.13.0: cpython#125608)."""
_NUMBERS = re.compile(r"(\d+)\.(\d+)")


def remark_on(torch: str | None, python: str | None) -> str | None:
    """What to tell the user where one of the two was never tried or is at fault; None where that is not known."""
    said = [*_of("torch", torch, TORCH), *_of("Python", python, PYTHON)]
    untried = f"{' and '.join(said)}: where it differs less may be told, or with whole lines" if said else None
    return "; ".join(filter(None, [untried, _FAULTS.get(python or "")])) or None


def _of(name: str, version: str | None, tried: Sequence[str]) -> list[str]:
    found = _NUMBERS.match(version or "")
    if found is None:
        return []
    oldest, newest = _numbers(tried[0]), _numbers(tried[-1])
    release = int(found[1]), int(found[2])
    if oldest <= release <= newest:
        return []
    side = "newer" if release > newest else "older"
    return [f"{name} {version} is {side} than any that inductor-debug was tried with ({tried[0]} to {tried[-1]})"]


def _numbers(version: str) -> tuple[int, int]:
    major, minor = version.split(".")
    return int(major), int(minor)
