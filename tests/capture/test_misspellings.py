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


class Decoder(Encoder):
    """Reads one layer and not the others."""

    def __init__(self) -> None:
        super().__init__()
        self.fc3 = nn.Identity()

    def decode(self, z: object) -> object:
        """What another method reads has its use already."""
        return self.fc3(z)

    def encode(self, x: object) -> object:
        """Asks for a layer that is not there."""
        return self.fc21(x), self.fc23(x)


def test_a_name_that_nothing_reads_is_meant_rather_and_the_others_are_told() -> None:
    with pytest.raises(AttributeError) as raised:
        Decoder().encode(1)
    found = unknown_name(raised.value)
    assert found is not None
    assert (found.suggestion, set(found.others)) == ("fc22", {"fc21", "fc3"})


def test_nothing_is_meant_where_nothing_is_like_it() -> None:
    assert meant("self.completely_else") is None
