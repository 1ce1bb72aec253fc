"""Exceptions are told in the user's words: types and values of ours mean nothing to anybody."""

from __future__ import annotations

import pytest
from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.inference.values.symbolic_values import UnknownError
from inductor_debug.capture.tensors.fake_mode import MemoryBoundError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("no\nmore"), "ValueError: no"),
        (
            ImportError("no timm. Get it:\n`pip install timm`. Restart then."),
            "ImportError: no timm. Get it: `pip install timm`",
        ),
        (KeyError(UnknownError), "KeyError: a value that nobody wrote down"),
        (UnknownError(), "a value that nobody wrote down is needed"),
        (MemoryBoundError("too large"), "too large"),
        (StopIteration(), "StopIteration"),
    ],
)
def test_an_exception_in_one_line(error: BaseException, words: str) -> None:
    assert describe(error) == words
