"""What is said of a class that runs: a call that it refuses though nothing in its code declares that it would.

Data only; `coincidences` and `defaults` find such calls, and a run of each gives the place and the words of torch.
"""

from __future__ import annotations

from dataclasses import dataclass

from inductor_debug.capture.inference.specs.specs import Guess


@dataclass(frozen=True, slots=True)
class Remark:
    """That a class refuses the call `otherwise`: under which rule that is told, and a sentence of why it matters."""

    rule: str
    because: str
    otherwise: Guess
