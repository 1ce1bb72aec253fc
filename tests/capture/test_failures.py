"""Exceptions are told in the user's words: types and values of ours mean nothing to anybody."""

from __future__ import annotations

import pytest
from inductor_debug.capture.failures import describe
from inductor_debug.capture.fake_mode import MemoryBoundError
from inductor_debug.capture.inference.made import UnknownError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("no\nmore"), "ValueError: no"),
        (KeyError(UnknownError), "KeyError: a value that nobody wrote down"),
        (UnknownError(), "a value that nobody wrote down is needed"),
        (MemoryBoundError("too large"), "too large"),
        (StopIteration(), "StopIteration"),
    ],
)
def test_an_exception_in_one_line(error: BaseException, words: str) -> None:
    assert describe(error) == words
