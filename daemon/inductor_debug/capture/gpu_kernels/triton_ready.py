"""Imported for what that does: what Triton reads before its first kernel is read, for this process and its forks.

A fork server imports it ahead of time where a GPU was chosen, so that no first kernel waits for it; without Triton, or
with one that keeps what it compiles in another way, nothing happens.
"""

from __future__ import annotations

import contextlib
import importlib

with contextlib.suppress(ImportError, AttributeError):
    # Reads all files of Triton's, to know by which of them it keeps what it compiles.
    importlib.import_module("triton.runtime.cache").triton_key()
