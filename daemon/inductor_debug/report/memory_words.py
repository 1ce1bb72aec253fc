"""What the kinds of memory over a run are called, in text and in charts."""

from __future__ import annotations

KINDS_OF_MEMORY = {
    "parameter": "parameters",
    "buffer": "buffers",
    "constant": "constants",
    "input": "inputs",
    "saved": "saved for the backward pass",
    "activation": "activations in use",
}
"""By the kinds of a `MemoryDocument`."""
