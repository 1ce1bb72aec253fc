"""Free sizes have the names that their code gives them, or what people call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from inductor_debug.capture.inference.specs.size_names import names_of
from inductor_debug.capture.inference.specs.specs import Guess, SpecArgument, TensorSpec

CALL = (TensorSpec(("B", "T", 8)), TensorSpec(("B", "K")))


def unpacked(x: Any, y: Any) -> Any:
    n, length, _ = x.shape
    return n, length


def one_by_one(x: Any, y: Any) -> Any:
    many, words = len(x), x.size(1)
    classes = y.shape[-1]
    return many, words, classes


def starred(x: Any, y: Any) -> Any:
    rows, *_ = x.size()
    *_, columns = y.shape
    return rows, columns


def changed_before(x: Any, y: Any) -> Any:
    x = x.transpose(0, 1)
    words, batch, _ = x.shape
    return words, batch


def clashing(x: Any, y: Any) -> Any:
    a, b = x.shape[0], x.shape[1]
    a = y.shape[1]
    return a, b


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (unpacked, {"B": "n", "T": "length", "K": "s2"}),
        (one_by_one, {"B": "many", "T": "words", "K": "classes"}),
        (starred, {"B": "rows", "T": "seq", "K": "columns"}),
        (changed_before, {"B": "batch", "T": "seq", "K": "s2"}),
        (clashing, {"B": "a", "T": "b", "K": "s2"}),
        (len, {"B": "batch", "T": "seq", "K": "s2"}),
    ],
)
def test_sizes_are_called_what_their_code_calls_them(function: Callable[..., Any], names: dict[str, str]) -> None:
    guess = Guess((SpecArgument("x", CALL[0]), SpecArgument("y", CALL[1])), (("B", 2), ("K", 5), ("T", 16)))
    assert names_of(guess, frozenset("BTK"), guess.size_of(), function) == names


def test_sizes_that_are_one_number_have_one_name() -> None:
    guess = Guess((SpecArgument("x", CALL[0]), SpecArgument("y", CALL[1])), (("B", 2), ("K", 16), ("T", 16)))
    assert names_of(guess, frozenset("BTK"), guess.size_of(), len) == {"B": "batch", "T": "seq", "K": "seq"}
