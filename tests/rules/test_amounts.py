"""Counts and sizes as people read them."""

import pytest
from inductor_debug.rules.amounts import counted, in_bytes


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
