"""The words by which a source text may speak of an accelerator. Reads text; asks no device anything."""

from __future__ import annotations

import re

KINDS = ("cuda", "mps", "xpu", "hpu", "npu", "mtia", "ipu", "spyre")
"""What torch calls accelerators, and those of others."""
_MENTION = re.compile(
    rf"\b(?:{'|'.join(KINDS)}|get_device|local_rank|gpu\w*)\b|\.to\(\s*(?:\d|\w*rank\b)|\bdevice\s*=\s*\d"
)


def mentions(text: str) -> bool:
    """Whether a source text could name an accelerator at all."""
    return _MENTION.search(text) is not None
