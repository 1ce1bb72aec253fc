"""What code says that `torch.jit` runs: its interpreter puts the way there, with sources, around every exception."""

from __future__ import annotations

import re

_SCRIPTED = re.compile(
    r"failed in the TorchScript interpreter\.\n(?s:.*)^\w+(?:Error|Exception): (.*\S)\s*\Z", re.MULTILINE
)


def said_by(error: BaseException) -> str:
    """What an exception says; one that came through the interpreter of `torch.jit` what it said before."""
    said = str(error)
    scripted = _SCRIPTED.search(said)
    return scripted[1] if scripted is not None else said
