"""The ladder of backends that a bisection climbs, and which parts of a compiler each rung is made of.

Plain data; nothing is compiled here. What a climb says of the parts is `suspects`' business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from inductor_debug_schema import BisectVerdict, RungState

from inductor_debug.accelerators.capabilities import CompilerStack
from inductor_debug.kerneldiff.emulation.backends import DYNAMO

Layer: TypeAlias = BisectVerdict
State: TypeAlias = RungState


@dataclass(frozen=True, slots=True)
class CompilerPart:
    """A part of a compiler. Rungs that have one of the same name and layer have it in common."""

    name: str
    layer: Layer


@dataclass(frozen=True, slots=True)
class BackendRung:
    """One step of the ladder.

    `adds` says in a few words what it adds to the one before, `parts` are what a model meets in it, in that order.
    """

    backend: str
    adds: str
    parts: tuple[CompilerPart, ...]


EAGER = BackendRung("eager", "the model without any compiler", (CompilerPart("the model", Layer.ENVIRONMENT),))
TRANSFERS = "transfers"
_DYNAMO = CompilerPart("Dynamo", Layer.FRONT_END)
_AOT = (_DYNAMO, CompilerPart("AOTAutograd", Layer.FRONT_END))
_DECOMPOSED = (*_AOT, CompilerPart("decompositions and partitioner", Layer.FRONT_END))
_TORCH = (
    BackendRung(DYNAMO, "Dynamo's capture", (_DYNAMO,)),
    BackendRung("aot_eager", "AOTAutograd's tracing of forward and backward", _AOT),
    BackendRung("aot_eager_decomp_partition", "decompositions and the partitioner", _DECOMPOSED),
    BackendRung(
        "inductor",
        "Inductor's passes, lowerings and generated code",
        (*_DECOMPOSED, CompilerPart("Inductor", Layer.BACK_END)),
    ),
)


@dataclass(frozen=True)
class Backends:
    """What is known of backends before any is tried.

    Args:
        stacks: what backends are made of, by name, where an accelerator's profile or adapter says it.
        emulated: those that are no compilers but an accelerator's arithmetic, emulated here.
        there: the backends of the accelerator that can be climbed beside it.
    """

    stacks: Mapping[str, CompilerStack] = field(default_factory=dict)
    emulated: frozenset[str] = frozenset()
    there: tuple[str, ...] = ()

    def rung(self, name: str, accelerator: str | None) -> BackendRung:
        """The rung of a backend, whosever it is."""
        known = {rung.backend: rung for rung in (EAGER, *_TORCH, transfers_rung(accelerator))}
        if name in known:
            return known[name]
        parts: tuple[CompilerPart, ...]
        if name in self.emulated:
            parts = (CompilerPart(f"emulated arithmetic of {name}", Layer.BACK_END),)
            adds = f"the arithmetic of {name}"
        else:
            parts = self._compiled(name)
            made_of = f": {', '.join(part.name for part in parts)}" if name in self.stacks else ""
            adds = f"the backend {name}{made_of}"
        crosses = accelerator is not None and (name == accelerator or name in self.stacks)
        carried = transfers_rung(accelerator).parts if crosses else ()
        return BackendRung(name, adds, (_DYNAMO, *carried, *parts))

    def _compiled(self, name: str) -> tuple[CompilerPart, ...]:
        """A backend of which nobody says what it is made of is one part, which generates and runs code."""
        stack = self.stacks.get(name, CompilerStack())
        front = [CompilerPart(each, Layer.FRONT_END) for each in stack.front_end]
        back = [CompilerPart(each, Layer.BACK_END) for each in stack.back_end]
        return (*front, *back) or (CompilerPart(name, Layer.BACK_END),)

    def apart(self, parts: Sequence[CompilerPart], accelerator: str | None) -> list[str]:
        """Backends that have some of the parts and not all, one for each choice: trying them tells the parts apart."""
        rungs = [*_TORCH, transfers_rung(accelerator), *(self.rung(name, accelerator) for name in self.stacks)]
        by_shared: dict[frozenset[CompilerPart], str] = {}
        for rung in rungs:
            shared = frozenset(rung.parts) & frozenset(parts)
            if 0 < len(shared) < len(parts):
                by_shared.setdefault(shared, rung.backend)
        return [*by_shared.values()]


def transfers_rung(accelerator: str | None) -> BackendRung:
    """The way to an accelerator's memory and back."""
    there = accelerator or "the accelerator"
    words = f"the way to the memory of {there} and back"
    return BackendRung(TRANSFERS, words, (CompilerPart(f"transfers to {there}", Layer.DATA_TRANSFER),))


def ladder(
    accelerator: str | None,
    named: Sequence[str] = (),
    reference: str = EAGER.backend,
    known: Backends = Backends(),
) -> list[BackendRung]:
    """The rungs to climb, in order.

    Args:
        accelerator: the accelerator whose transfers and backends come last; None leaves them out.
        named: names to climb in place of the usual ones, in the order given; eager always comes first.
        reference: what the others are compared with. It comes right after eager: what is wrong is no yardstick.
        known: what is known of backends.
    """
    usual = [rung.backend for rung in _TORCH]
    if accelerator is not None:
        usual += [TRANSFERS, accelerator, *known.there]
    names = dict.fromkeys([EAGER.backend, reference, *(named or usual)])
    return [known.rung(name, accelerator) for name in names]


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
