"""What the comparison of an edited text with the text before it comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union


@dataclass(frozen=True, slots=True)
class SameResults:
    """Whether both texts compute the `same`; None where nothing could be compared, and `why` says so.

    `runs` were compared. `ran` says whether the witnessed expression ran, `ways` what it came to as a condition.
    """

    same: Union[bool, None]
    why: str = ""
    runs: int = 0
    ran: bool = False
    ways: list[bool] = field(default_factory=list)
