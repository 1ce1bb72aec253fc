"""Counts, sizes and lists as people read them, in one way wherever we say them: messages, reports, hovers."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_ROUNDED_UP = 0.9995
"""From this part of a unit on, three digits show a whole one."""
_LONG = 999.5


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """`1 op`, `2,400 ops`; a `plural` is given where it is not the noun with an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def listed(words: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def in_bytes(count: int) -> str:
    """`100 B`, `1.5 MiB`, `16 GiB`."""
    amount = float(count)
    for unit in _UNITS[:-1]:
        if amount < 1024:
            return f"{amount:.4g} {unit}"
        amount /= 1024
    return f"{amount:.4g} {_UNITS[-1]}"


def in_seconds(seconds: float) -> str:
    """`12.5 µs`, `3.2 ms`, `1.5 s`, `1,200 s`: in the unit in which what is left after rounding has no power of ten."""
    if seconds >= _LONG:
        return f"{seconds:,.0f} s"
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= factor * _ROUNDED_UP:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def in_thousands(amount: float, unit: str = "") -> str:
    """`34.4 G`, `989.4 TFLOP`, in steps of a thousand as data sheets have it."""
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if amount >= factor:
            return f"{amount / factor:.4g} {prefix}{unit}"
    return f"{amount:.4g} {unit}".rstrip()


def in_rate(per_second: float, unit: str) -> str:
    """`3.352 TB/s`, `989.4 TFLOP/s`."""
    return f"{in_thousands(per_second, unit)}/s"
