"""Calls whose sizes say how often something is done get smaller ones; those that only took long to find keep theirs."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from inductor_debug.capture.inference.search import input_search
from inductor_debug.capture.inference.search.trial import Trials
from inductor_debug.capture.inference.specs.specs import Guess, SpecArgument, TensorSpec

pytestmark = pytest.mark.torch

CALL = Guess((SpecArgument("x", TensorSpec(("B", "T", "D"))),), (("B", 2), ("D", 32), ("T", 256)))


class Clock:
    """Runs calls that take the seconds that their sizes say, by a clock of its own; some raise."""

    def __init__(self, takes: Callable[[dict[str, int]], float], *, least: int = 1) -> None:
        self.now, self._takes, self._least = 0.0, takes, least

    def run(self, guess: Guess) -> Any:
        sizes = guess.size_of()
        self.now += self._takes(sizes)
        return SimpleNamespace(error=None if sizes["T"] >= self._least else ValueError("too short"))


@pytest.mark.parametrize(
    ("clock", "length"),
    [
        pytest.param(Clock(lambda sizes: sizes["T"] / 100), 6, id="as long as there are steps"),
        pytest.param(Clock(lambda sizes: sizes["T"] / 100, least=10), 16, id="six steps are too few"),
        pytest.param(Clock(lambda sizes: 2.0), 256, id="long whatever the sizes"),
        pytest.param(Clock(lambda sizes: 0.1), 256, id="quick, though it took long to find"),
    ],
)
def test_sizes_shrink_where_they_are_how_often_something_is_done(
    clock: Clock, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_search, "time", SimpleNamespace(process_time=lambda: clock.now))
    found = input_search._in_fewer_rounds(cast(Trials, clock), CALL, found_in=3.0)
    assert found.size_of() == {"B": 2, "D": 32, "T": length}
