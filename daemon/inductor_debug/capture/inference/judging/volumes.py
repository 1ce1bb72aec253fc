"""Whether the elements of a tensor can be laid out as asked for, when a size grows: arithmetic alone.

Elements and the sizes that a `view` is given are products, so both are polynomials of each size of the call. Where one
polynomial does not divide the other, it divides the other's values for a few sizes at most: then that size is not free,
whatever the other sizes are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

STEPS = 6
"""How many values of a size are looked at: multiples of the usual one, so that windows divide them all."""
_HIGHEST = 3


def are_out_of_step(elements: Sequence[int], asked: Sequence[int]) -> bool | None:
    """Whether what is asked for divides the elements for a few sizes at most.

    Args:
        elements: how many there are, for `STEPS` multiples of a size.
        asked: the product of the sizes that they are laid out in.

    Returns:
        None where that cannot be said: one of the two is no polynomial, or does not grow.
    """
    whole, part = _polynomial(elements), _polynomial(asked)
    if whole is None or part is None or len(whole) < 2 or len(part) < 2:
        return None
    return not _divides(part, whole)


def fitting(usual: int, elements: Sequence[int], asked: Sequence[int]) -> int | bool | None:
    """The smallest size at which what is asked for divides the elements, where only one of the two follows the size.

    Args:
        usual: the size of which both are known for `STEPS` multiples.
        elements: how many there are for each.
        asked: how many are asked for.

    Returns:
        None where there is none, False where that cannot be said.
    """
    growing = elements if len(set(asked)) == 1 else asked
    if any(value != growing[0] * times for times, value in enumerate(growing, 1)) or growing[0] % usual:
        return False
    each = growing[0] // usual
    if growing is elements:
        return asked[0] // math.gcd(each, asked[0]) if asked[0] else None
    return elements[0] // each if elements[0] % each == 0 else None


def _polynomial(values: Sequence[int]) -> list[Fraction] | None:
    """Coefficients, lowest first, of the polynomial that has these values at 1, 2, 3, …; None of a high one."""
    differences: list[int] = []
    row = list(values)
    while any(row):
        differences.append(row[0])
        row = [after - before for before, after in pairwise(row)]
    if len(differences) > _HIGHEST + 1:
        return None
    # Newton's form: the sum of each difference times (x - 1)(x - 2)… / k!.
    found = [Fraction(0)] * max(len(differences), 1)
    basis = [Fraction(1)]
    for order, difference in enumerate(differences):
        for power, coefficient in enumerate(basis):
            found[power] += difference * coefficient
        basis = [
            (below - (order + 1) * here) / (order + 1)
            for below, here in zip([Fraction(0), *basis], [*basis, Fraction(0)], strict=True)
        ]
    return found


def _divides(divisor: list[Fraction], number: list[Fraction]) -> bool:
    """Whether one polynomial is another one times a polynomial; both have their leading coefficients."""
    left = list(number)
    while len(left) >= len(divisor):
        factor = left[-1] / divisor[-1]
        for offset in range(len(divisor)):
            left[len(left) - len(divisor) + offset] -= factor * divisor[offset]
        left.pop()
    return not any(left)
