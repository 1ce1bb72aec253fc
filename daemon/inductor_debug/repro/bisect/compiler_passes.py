"""Which pass, decomposition or lowering of Inductor makes the difference: torch's `CompilerBisector`, tamed.

Read in torch 2.11 to 2.13 (`torch._inductor.compiler_bisector`). It keeps its state in files and in the class, prints,
and replaces the backend of every `torch.compile`; so it runs only in a worker that ends with its task, with a folder of
its own. Where the name is gone, the answer is "nothing known".
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from inductor_debug.system.torch_names import with_settings


@dataclass(frozen=True, slots=True)
class Guilty:
    """What has to be left out for the difference to go.

    `subsystem` is torch's word for it (`lowerings`, `post_grad_passes`, `decomposition`), `number` counts its
    applications up to the guilty one (0 for a setting that is on or off), `detail` is what torch says of that one.
    """

    subsystem: str
    number: int
    detail: str

    def __str__(self) -> str:
        count = f" number {self.number}" if self.number else ""
        detail = f": {self.detail}" if self.detail and self.detail != self.subsystem else ""
        return f"{self.subsystem}{count}{detail}"


class OutOfTimeError(Exception):
    """The search was given up; what it found so far says nothing."""


def guilty_pass(is_right: Callable[[], bool], deadline: float) -> Guilty | None:
    """Searches the passes of torch's own backends.

    Args:
        is_right: compiles the target anew with `torch.compile(..., backend="inductor")`, runs it, and says whether the
            result is right. Called some twenty times.
        deadline: `time.perf_counter()` after which nothing more is compiled.

    Returns:
        None where no single pass is guilty.

    Raises:
        OutOfTimeError: the deadline passed.
    """
    try:
        from torch._inductor.compiler_bisector import CompilerBisector
    except ImportError:
        return None

    def attempt() -> bool:
        if time.perf_counter() > deadline:
            raise OutOfTimeError
        return is_right()

    with _no_caches():
        try:
            found = CompilerBisector.do_bisect(attempt)
        except (RuntimeError, AssertionError, FileNotFoundError):
            return None  # its own words for "it went right where it should have gone wrong"
    if found is None or found.subsystem is None:
        return None
    detail = " ".join(str(found.debug_info or "").split())
    return Guilty(found.subsystem, int(found.bisect_number or 0), detail)


@contextlib.contextmanager
def _no_caches() -> Iterator[None]:
    """Every attempt compiles for real: a cached result would hide what was left out."""
    from torch._inductor import config

    with with_settings(config, force_disable_caches=True):
        yield
