"""Sizes of a target's inputs that may be others: which there are, and which the user set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union


@dataclass(frozen=True, slots=True)
class FreeSize:
    """A size of the inputs that may be another one: `name` as the code calls it, `value` as it is now.

    `usual` is what it is where nobody sets it, `given` says that the user did. Where inputs were `inferred` and it is
    not given it is any size, and `value` only a usual one: it is not `known`. `minimum` and `maximum` bound what was
    proved to run, `maximum` None where nothing does. `dimensions` say where it stands: `x[0]`.
    """

    name: str
    value: int
    usual: int
    given: bool = False
    known: bool = True
    inferred: bool = False
    minimum: int = 1
    maximum: Union[int, None] = None
    dimensions: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SizeSetting:
    """A size that the user set; `target` is "" where it holds for all targets that have a size of that name."""

    target: str
    name: str
    value: int


@dataclass(frozen=True, slots=True)
class TargetSizes:
    """A target with its sizes as they are now: how it does with them, for who changes them.

    `at_once` says that it was told from a run with symbols; else the code is being run with these sizes. `seconds` is
    how long that took. `peak_bytes` is the most memory a run needs at once, None where nobody knows; not `peak_exact`,
    a size is still any. `findings` are those of the target now. `inputs` is a Python expression for inputs of these
    sizes, "" where they cannot be written down.
    """

    uri: str
    target: str
    sizes: list[FreeSize]
    at_once: bool
    seconds: float
    findings: int
    peak_bytes: Union[int, None] = None
    peak_exact: bool = True
    device_bytes: Union[int, None] = None
    inputs: str = ""
