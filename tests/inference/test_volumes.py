"""When elements can be laid out as asked for: arithmetic, held to counting."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from inductor_debug.capture.inference.judging.volumes import STEPS, are_out_of_step, fitting

USUAL = 4


def values(of: Callable[[int], int]) -> list[int]:
    return [of(USUAL * times) for times in range(1, STEPS + 1)]


@pytest.mark.parametrize(
    ("elements", "asked", "verdict"),
    [
        pytest.param(lambda n: 32 * n * n, lambda n: n * n, False, id="as many rows as columns"),
        pytest.param(lambda n: 32 * n * n, lambda n: n * (n + 1), True, id="a row too many"),
        pytest.param(lambda n: 6 * (n + 1), lambda n: 2 * (n + 1), False, id="both have one more"),
        pytest.param(lambda n: 6 * n, lambda n: 4 * n, False, id="in proportion"),
        pytest.param(lambda n: 6 * n, lambda n: n * n, True, id="asked for is a square"),
        pytest.param(lambda n: 6 * n, lambda n: int(n**0.5) ** 2, None, id="a root, which is no polynomial"),
        pytest.param(lambda n: 6 * n, lambda n: 49, None, id="a number of the class"),
    ],
)
def test_what_grows_otherwise_is_told(
    elements: Callable[[int], int], asked: Callable[[int], int], verdict: bool | None
) -> None:
    assert are_out_of_step(values(elements), values(asked)) is verdict
    if verdict:
        # A few sizes may fit by chance, but not for ever.
        assert all(elements(n) % asked(n) for n in range(100, 400))


@pytest.mark.parametrize(
    ("elements", "asked", "size"),
    [
        pytest.param(lambda n: 30 * n, lambda n: 49, 49, id="a multiple is wanted"),
        pytest.param(lambda n: 14 * n, lambda n: 49, 7, id="a part is there already"),
        pytest.param(lambda n: 96, lambda n: 4 * n, 24, id="what is asked for grows"),
        pytest.param(lambda n: 98, lambda n: 4 * n, None, id="no size fits"),
        pytest.param(lambda n: n * n, lambda n: 49, False, id="more than in proportion"),
    ],
)
def test_the_size_that_fits_is_found(
    elements: Callable[[int], int], asked: Callable[[int], int], size: int | bool | None
) -> None:
    assert fitting(USUAL, values(elements), values(asked)) is size if size in (None, False) else True
    if type(size) is int:
        assert fitting(USUAL, values(elements), values(asked)) == size
        assert elements(size) % asked(size) == 0
