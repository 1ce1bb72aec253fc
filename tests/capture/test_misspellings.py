"""The name that was probably meant, where the code asks for one that is not there."""

from __future__ import annotations

import pytest
from inductor_debug.capture.failures.misspellings import unknown_name
from torch import nn

pytestmark = pytest.mark.torch


class Encoder(nn.Module):
    """Two layers whose names differ in one letter."""

    def __init__(self) -> None:
        super().__init__()
        self.fc21 = nn.Identity()
        self.fc22 = nn.Identity()


def meant(code: str) -> str | None:
    """The suggestion for what `code` raises in a function of `encoder`."""
    scope: dict[str, object] = {}
    exec(f"def run(self):\n    return {code}", scope)
    with pytest.raises(AttributeError) as raised:
        scope["run"](Encoder())  # type: ignore[operator]
    found = unknown_name(raised.value)
    return None if found is None else found.suggestion


def test_of_names_that_are_as_near_the_one_that_is_not_read_already_is_meant() -> None:
    assert meant("self.fc2l(1), self.fc22(1)") == "fc21"
    assert meant("self.fc21(1), self.fc2l(1)") == "fc22"


def test_a_nearer_name_is_meant_though_it_is_read() -> None:
    assert meant("self.fc22(1), self.fc222(1)") == "fc22"


def test_nothing_is_meant_where_nothing_is_like_it() -> None:
    assert meant("self.completely_else") is None
