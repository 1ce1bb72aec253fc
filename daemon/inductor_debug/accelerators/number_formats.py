"""The number formats that accelerators compute in, as plain data: how many bits, which patterns are special.

`capture.tensors.rounding` rounds tensors to them. Nothing here needs torch, nor that it knows the format.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum


class Ties(str, Enum):
    """Where a number goes that lies halfway between two others."""

    EVEN = "even"
    """To the one whose last bit is 0, as in IEEE 754."""
    AWAY = "away"
    """To the one farther from zero."""


class Overflow(str, Enum):
    """What becomes of numbers beyond the largest one."""

    INFINITY = "infinity"
    NAN = "nan"
    SATURATE = "saturate"
    """The largest number, for infinities too."""


class Reserved(str, Enum):
    """Which bit patterns are no numbers."""

    TOP_EXPONENT = "top exponent"
    """All with the largest exponent, as in IEEE 754."""
    TOP_PATTERN = "top pattern"
    """Only the one of all ones."""


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """A binary floating-point format: sign, exponent, mantissa with a hidden bit.

    With `subnormals` the smallest exponent field holds zero and numbers without the hidden bit; else results that would
    be there are flushed to zero. With `zero_exponent_normal`, which excludes subnormal numbers, that field holds
    ordinary numbers, but for the pattern of all zeros, which is zero.

    Raises:
        ValueError: both `subnormals` and `zero_exponent_normal`.
    """

    name: str
    exponent_bits: int
    mantissa_bits: int
    bias: int
    reserved: Reserved = Reserved.TOP_EXPONENT
    overflow: Overflow = Overflow.INFINITY
    ties: Ties = Ties.EVEN
    subnormals: bool = True
    zero_exponent_normal: bool = False

    def __post_init__(self) -> None:
        if self.subnormals and self.zero_exponent_normal:
            raise ValueError("the smallest exponent field holds either subnormal or ordinary numbers")

    @property
    def lowest_exponent(self) -> int:
        """The exponent of the smallest numbers that have the hidden bit."""
        return (0 if self.zero_exponent_normal else 1) - self.bias

    @property
    def largest(self) -> float:
        """The largest finite number."""
        top = (1 << self.exponent_bits) - 1 - self.bias
        if self.reserved is Reserved.TOP_EXPONENT:
            return float(2.0 ** (top - 1) * (2 - 2.0**-self.mantissa_bits))
        return float(2.0**top * (2 - 2.0 ** (1 - self.mantissa_bits)))

    @property
    def smallest(self) -> float:
        """The smallest number above zero."""
        lowest = float(2.0**self.lowest_exponent)
        if self.subnormals:
            return lowest * self.unit
        return lowest * (1 + self.unit) if self.zero_exponent_normal else lowest

    @property
    def unit(self) -> float:
        """The distance between 1 and the next number."""
        return float(2.0**-self.mantissa_bits)

    def flushing(self) -> NumberFormat:
        """The same format on hardware that flushes subnormal numbers to zero."""
        return replace(self, subnormals=False)


FLOAT64 = NumberFormat("float64", 11, 52, 1023)
FLOAT32 = NumberFormat("float32", 8, 23, 127)
FLOAT16 = NumberFormat("float16", 5, 10, 15)
BFLOAT16 = NumberFormat("bfloat16", 8, 7, 127)
FLOAT8_E5M2 = NumberFormat("float8_e5m2", 5, 2, 15)
FLOAT8_E4M3FN = NumberFormat("float8_e4m3fn", 4, 3, 7, reserved=Reserved.TOP_PATTERN, overflow=Overflow.SATURATE)
"""Too large a number becomes the largest one, as where torch 2.13 converts; older versions of it give NaN."""
SEN169_FP16 = NumberFormat(
    "sen169_fp16",
    6,
    9,
    31,
    reserved=Reserved.TOP_PATTERN,
    overflow=Overflow.INFINITY,
    ties=Ties.AWAY,
    subnormals=False,
    zero_exponent_normal=True,
)
"""IBM's 16-bit format of sign, 6 exponent bits and 9 mantissa bits, called `SEN169_FP16` in torch-spyre.

It is DLFloat (Agrawal et al., "DLFloat: A 16-b Floating Point Format Designed for Deep Learning Training and
Inference", ARITH 2019): no subnormal numbers, one rounding mode, NaN and infinity in one pattern. The details are those
of the conversions that IBM published for the same format in onnx-mlir (NNPA, `DLF16Conversion.hpp`): bias 31; exponent
field 0 holds ordinary numbers and only the pattern of all zeros is zero, so that exactly 2**-31 rounds to zero; halfway
goes away from zero; only all ones in exponent and mantissa is no number.

The largest number is 2**32 * (1 + 510/512), the pattern 0x7FFE; 0x7FFF is infinity and NaN in one (torch-spyre's
constants, 2026). One thing is assumed: that pattern is read as an infinity where a number or an infinity overflowed to
it, and as NaN where a NaN did, because that tells more.
"""

_ALL = (FLOAT64, FLOAT32, FLOAT16, BFLOAT16, FLOAT8_E5M2, FLOAT8_E4M3FN, SEN169_FP16)
_ALIASES = {
    "fp64": "float64",
    "fp32": "float32",
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp8_e5m2": "float8_e5m2",
    "fp8_e4m3": "float8_e4m3fn",
    "dlfloat16": "sen169_fp16",
}
_GENERIC = re.compile(r"e(\d{1,2})m(\d{1,2})")


def format_names() -> list[str]:
    """The names of all formats that have one; `e8m15` and the like are understood as well."""
    return [known.name for known in _ALL]


def format_of(dtype: str) -> NumberFormat | None:
    """The format of a dtype's numbers, by its name without the `torch.` prefix; None of integers and unknown ones."""
    return next((known for known in _ALL if known.name == dtype), None)


def number_format(name: str) -> NumberFormat:
    """A format by its name, in any case; `eXmY` is the format after IEEE 754 with X exponent and Y mantissa bits.

    Raises:
        ValueError: there is no such format.
    """
    asked = name.lower().removeprefix("torch.")
    asked = _ALIASES.get(asked, asked)
    for known in _ALL:
        if known.name == asked:
            return known
    found = _GENERIC.fullmatch(asked)
    if found is not None:
        exponent, mantissa = int(found[1]), int(found[2])
        if 2 <= exponent <= 8 and 1 <= mantissa <= 23:
            return NumberFormat(asked, exponent, mantissa, (1 << (exponent - 1)) - 1)
    raise ValueError(
        f"unknown number format {name!r}; there are {', '.join(format_names())}, and e8m15 and the like with up to 8 "
        "exponent and 23 mantissa bits"
    )
