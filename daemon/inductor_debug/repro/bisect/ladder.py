"""The ladder of backends that a bisection climbs, and which layer of the compiler each rung adds.

Plain data; nothing is compiled here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from inductor_debug_schema import BisectVerdict, RungState

from inductor_debug.kerneldiff.emulation.backends import DYNAMO

Layer: TypeAlias = BisectVerdict
State: TypeAlias = RungState


@dataclass(frozen=True, slots=True)
class BackendRung:
    """One step of the ladder. `adds` says in a few words what it adds to the one before."""

    backend: str
    layer: Layer
    adds: str


EAGER = BackendRung("eager", Layer.ENVIRONMENT, "the model without any compiler")
TRANSFERS = "transfers"
_TORCH = (
    BackendRung(DYNAMO, Layer.FRONT_END, "Dynamo's capture"),
    BackendRung("aot_eager", Layer.FRONT_END, "AOTAutograd's tracing of forward and backward"),
    BackendRung("aot_eager_decomp_partition", Layer.FRONT_END, "decompositions and the partitioner"),
    BackendRung("inductor", Layer.BACK_END, "Inductor's passes, lowerings and generated code"),
)


def ladder(
    accelerator: str | None, backends: list[str] | None = None, reference: str = EAGER.backend
) -> list[BackendRung]:
    """The rungs to climb, in order.

    Args:
        accelerator: the accelerator whose transfers and arithmetic come last; None leaves them out.
        backends: names to climb in place of the usual ones, in the order given; eager always comes first.
        reference: what the others are compared with. It comes right after eager: what is wrong is no yardstick.
    """
    rungs = _rungs(accelerator, backends)
    if reference == EAGER.backend:
        return rungs
    known = {rung.backend: rung for rung in (*_TORCH, *rungs)}
    first = known.get(reference, BackendRung(reference, Layer.BACK_END, f"the backend {reference}"))
    return [rungs[0], first, *(rung for rung in rungs[1:] if rung.backend != reference)]


def _rungs(accelerator: str | None, backends: list[str] | None) -> list[BackendRung]:
    known = {rung.backend: rung for rung in _TORCH}
    there = accelerator or "the accelerator"
    transfers = BackendRung(TRANSFERS, Layer.DATA_TRANSFER, f"the way to the memory of {there} and back")
    if backends:
        known[TRANSFERS] = transfers
        named = [name for name in backends if name != EAGER.backend]
        own = [known.get(name, BackendRung(name, Layer.BACK_END, f"the backend {name}")) for name in named]
        return [EAGER, *own]
    last = []
    if accelerator is not None:
        last = [
            transfers,
            BackendRung(accelerator, Layer.BACK_END, f"the arithmetic of {accelerator}"),
        ]
    return [EAGER, *_TORCH, *last]


_MISSING = re.compile(
    r"unknown backend|InvalidCxxCompiler|No working C\+\+ compiler|No module named|"
    r"cannot open shared object|TritonMissing|"
    r"Cannot find a working triton|out of memory|OutOfMemoryError|No space left on device|Permission denied|"
    r"CUDA driver|no kernel image|Python\.h: No such file",
    re.IGNORECASE,
)


def is_about_the_environment(message: str) -> bool:
    """Whether an error tells of something that is missing on this machine, not of the compiler or the model."""
    return _MISSING.search(message) is not None
