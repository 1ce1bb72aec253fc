"""Counts and sizes as people read them."""

import pytest
from inductor_debug.rules.amounts import counted, in_bytes, in_seconds


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (2_678_785, "2.555 MiB"), (5 << 30, "5 GiB")],
)
def test_sizes_have_four_digits_and_the_largest_unit_that_fits(size: int, text: str) -> None:
    assert in_bytes(size) == text
    assert in_bytes(size << 60).endswith(" PiB") is (size > 0)


@pytest.mark.parametrize(("count", "text"), [(0, "0 ops"), (1, "1 op"), (2, "2 ops"), (2400, "2,400 ops")])
def test_one_is_not_several(count: int, text: str) -> None:
    assert counted(count, "op") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 ns"), (7.31e-8, "73.1 ns"), (9.997e-7, "1 µs"), (9.996e-4, "1 ms"), (0.012, "12 ms"), (0.99999, "1 s")],
)
def test_times_never_show_a_power_of_ten(seconds: float, text: str) -> None:
    assert in_seconds(seconds) == text
    assert (in_seconds(999.4), in_seconds(999.7), in_seconds(1234.5)) == ("999 s", "1,000 s", "1,234 s")
