"""The `measurement` document: how long a backend took to compile one target, and how long it then runs.

Times are what a clock said on one machine while nothing else of ours ran there. Nothing here is a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileTime:
    """One compilation in a process of its own, from the first call until it has returned.

    `seconds` is all of it; `phases` are its parts by name ("Dynamo", "AOTAutograd", "Inductor", "kernels", "rest"),
    as far as torch tells them apart.
    """

    seconds: float
    phases: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementDocument:
    """One backend on one target. Where it could not be measured, `problem` says why and the rest is what there is.

    `cold` began with empty caches, `warm` with those that the cold ones left; they are empty for eager. `seconds` are
    the repeats of the backend, `eager_seconds` those of eager, which took turns with it; warm-up is left out. Peaks are
    what a run adds to the memory that the process had, None where that cannot be seen. `device` is the kind of device.
    """

    schema: int
    target: str
    measured_backend: str
    training: bool
    device: str
    threads: int
    cold: list[CompileTime]
    warm: list[CompileTime]
    seconds: list[float]
    eager_seconds: list[float]
    peak_bytes: Union[int, None]
    eager_peak_bytes: Union[int, None]
    problem: str
