"""Sizes of a call that are varied one after another, and whether what is refused then ever meets what is wanted.

Knows numbers and guesses alone; how a call is run, and what refuses it, is the business of `contradiction`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from inductor_debug.capture.inference.specs.specs import Guess

_LARGEST = 1 << 14
"""How large a size is tried where a larger one is wanted."""
_IMAGE = ("H", "W")


@dataclass
class Axis:
    """One size of the call (or two that go together), and what the refused size is for each of its values."""

    size_at: Callable[[int], tuple[int | None, Guess]]
    usual: int
    wanted: int
    nearest: Guess | None = None
    """The call whose refused size comes nearest to the wanted one: what was meant, most likely."""

    def meets(self) -> Guess | bool | None:
        """The call whose refused size is the wanted one; True where none is, None where it does not follow this size.

        False where that could not be found out: the refused size does not grow with this one.
        """
        usual, _ = self.size_at(self.usual)
        double, _ = self.size_at(self.usual * 2)
        if usual is None or double is None:
            return None if usual is None else self._between(1, self.usual)
        if usual == double:
            return None
        if double < usual:
            return False
        low, high = 1, self.usual
        while True:
            size, call = self.size_at(high)
            if size is None or high > _LARGEST:
                return False
            if size == self.wanted:
                return call
            if size > self.wanted:
                break
            low, high = high, high * 2
        return self._between(low, high)

    def _between(self, low: int, high: int) -> Guess | bool:
        """The same between a value (or 1) whose size is too small and one whose size is too large."""
        distance = 0
        while high - low > 1:
            middle = (low + high) // 2
            size, call = self.size_at(middle)
            if size == self.wanted:
                return call
            if size is not None and (self.nearest is None or abs(size - self.wanted) < distance):
                self.nearest, distance = call, abs(size - self.wanted)
            # What refuses earlier is too small for the layers before.
            if size is None or size < self.wanted:
                low = middle
            else:
                high = middle
        return True


def axes(guess: Guess) -> Iterator[tuple[str, ...]]:
    """Sizes that are varied together: height and width as one, for images are rarely meant to have a certain shape."""
    used = guess.used_sizes()
    if all(name in used for name in _IMAGE):
        yield _IMAGE
    for name in used:
        if name not in _IMAGE or not all(other in used for other in _IMAGE):
            yield (name,)
