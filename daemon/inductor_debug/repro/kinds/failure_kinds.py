"""Which failure is shown how: for each rule, how it is looked for, what makes scripts of it, and whom else to ask.

Rules that are not here have no script; `engine.orders.reproducing.NOT_CUT_OUT` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from inductor_debug_schema import Finding

from inductor_debug.repro.kinds import compilers, looks
from inductor_debug.repro.kinds.case import Case
from inductor_debug.repro.kinds.constraint_script import constraint_drafts
from inductor_debug.repro.kinds.memory_script import memory_drafts
from inductor_debug.repro.kinds.python_script import break_drafts, eager_drafts, recompile_drafts
from inductor_debug.repro.kinds.raising_script import raised_drafts
from inductor_debug.repro.program.literals import UnprintableError
from inductor_debug.repro.program.safetensors import UnsavableError
from inductor_debug.repro.program.value_names import file_name
from inductor_debug.repro.script.reproducer import NotReproducibleError, Reproducer, first_that_works
from inductor_debug.repro.script.writing import Header
from inductor_debug.rules.catalog.constraints.peak_memory import PeakMemoryRule
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.gpu_rule import GpuConstraint
from inductor_debug.rules.registry import constraints


def _nothing(*given: Any) -> Iterator[Any]:
    return iter(())


@dataclass(frozen=True)
class Kind:
    """A kind of failure.

    `observe` looks at the target, the cheapest look first, until one has the finding that is meant; a look is what
    `drafts` are made of, of which the first that works is the script. `backends` are asked where no look has it.
    `unwritable` says what it means that something has no form as Python code.
    """

    observe: Callable[[Case], Iterator[looks.Look]] = _nothing
    drafts: Callable[[Any, Finding, Header, str], Iterator[Reproducer]] = _nothing
    backends: Callable[[Case], Iterator[str]] = _nothing
    unwritable: str = "the operation cannot be written as code"


_UNSEEN = "what the code sees cannot be written down"
_NAMED = "numerics"
"""The kind of whatever a backend does that was named: most of them compute something else."""
ANYTHING = ""
"""The kind of what is meant where no rule was named. Its scripts are those of the finding's own kind."""

_OF_STICKS = ("restickify", "stick-reshape", "unaligned-write")
"""What an accelerator does with layouts of its own shows in no tensor of torch's."""


def _shows_in_tensors(rule: Constraint) -> bool:
    """Whether a script of torch can show what a constraint finds: a price shows on no other machine."""
    return not isinstance(rule, GpuConstraint) and rule.id not in _OF_STICKS


KINDS: dict[str, Kind] = {
    **{rule.id: Kind(looks.recordings, constraint_drafts) for rule in constraints() if _shows_in_tensors(rule)},
    PeakMemoryRule.id: Kind(looks.recordings, memory_drafts),
    "capture-error": Kind(looks.exceptions, raised_drafts, compilers.of_stages),
    "graph-break": Kind(looks.captures, break_drafts, unwritable=_UNSEEN),
    "recompile": Kind(looks.captures_with_guards, recompile_drafts, unwritable=_UNSEEN),
    "eager-fallback": Kind(looks.captures_with_guards, eager_drafts, unwritable=_UNSEEN),
    _NAMED: Kind(backends=compilers.named),
    ANYTHING: Kind(looks.anything),
}
"""By the rule of the finding."""


def reproducer(case: Case) -> Reproducer | None:
    """The reproducer for the failure in this target; None where the target does not have it.

    Raises:
        NotReproducibleError: it has it, and there is no script for it.
    """
    kind = KINDS.get(_NAMED if case.task.backend else case.wanted.rule, Kind())
    for look in kind.observe(case):
        case.findings.extend(look.findings)
        finding = case.wanted.choose(look.findings)
        if finding is not None:
            return _script(look, finding, case.header(finding))
    return next(filter(None, (compilers.shown_by(backend, case) for backend in kind.backends(case))), None)


def _script(look: looks.Look, finding: Finding, header: Header) -> Reproducer:
    kind = KINDS[finding.rule]
    try:
        return first_that_works(kind.drafts(look, finding, header, file_name(finding.path, finding.rule)))
    except (UnprintableError, UnsavableError) as error:
        raise NotReproducibleError(f"{kind.unwritable}: {error}") from error
