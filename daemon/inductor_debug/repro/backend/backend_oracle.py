"""Judges programs by what a `torch.compile` backend does to them: it crashes, or computes something else.

A program is compiled exactly as the script will be: as the source of a function. Each attempt runs in a forked child.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from torch.fx import GraphModule

from inductor_debug.repro.minimiser.attempts import AttemptEnding, attempt
from inductor_debug.repro.minimiser.oracle import OracleVerdict, shape_of
from inductor_debug.repro.program.literals import UnprintableError
from inductor_debug.repro.program.program import Program
from inductor_debug.repro.program.program_execution import tensors_of
from inductor_debug.repro.program.value_names import tidied
from inductor_debug.repro.script.writing import function_source

Compiler = Callable[[GraphModule, list[Any]], Callable[..., Any]]
"""A backend itself, where it has no name for `torch.compile`."""
FACTOR = 10.0
"""How many times worse than eager execution, both against float64, a backend may be (`torch._dynamo.utils.same`)."""
FLOORS = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 2e-2, torch.float16: 5e-3}
"""Relative errors that are never a failure, by the dtype of the output."""
ATTEMPT_SECONDS = 60.0
HANG_SECONDS = 20.0
"""How long an attempt may take where a failure is sought that never ends: most attempts take as long as they may."""
SECONDS_PER_STEP = 0.01
"""What an attempt may take besides, for Dynamo to go through its program."""
_MODULE = "reproducer_attempt"


@dataclass(frozen=True)
class Manner:
    """How the compiled function is used: with a backward pass, and how many times it is called."""

    backward: bool = False
    calls: int = 1
    dynamic: bool = False
    """Compiled for all sizes at once."""
    writes: bool = False
    """The function writes to its inputs, so they are compared, too."""
    shared: bool = False
    """Inputs share memory, which float64 copies of them would not: eager execution is the yardstick."""


@dataclass(frozen=True)
class Symptom:
    """What a backend did to a program. `kind` is "raises", "dies", "hangs", "differs" or "" where nothing is wrong."""

    kind: str
    exception: str = ""
    message: str = ""
    signal: str = ""
    error: float = 0.0
    bound: float = 0.0

    @property
    def words(self) -> str:
        """One line for people."""
        if self.kind == "raises":
            return f"{self.exception}: {self.message}"
        if self.kind == "differs":
            return self.message or f"relative error {self.error:.3g}, {self.bound:.3g} allowed"
        return {"dies": f"the process was {self.signal}", "hangs": "it did not end"}.get(self.kind, "nothing is wrong")

    def same(self, other: Symptom) -> bool:
        """Whether it is the same failure: kind, type and shape of the message, signal."""
        return (self.kind, self.exception, self.signal) == (other.kind, other.exception, other.signal) and (
            shape_of(self.message) == shape_of(other.message)
        )


class BackendOracle:
    """Asks whether `backend` shows `symptom` on a program. `recorded` are the values that frozen inputs had.

    `name` stands for the backend, and for the text of one that is the user's own.
    """

    deterministic = False

    def __init__(
        self,
        backend: str | Compiler,
        symptom: Symptom,
        recorded: Mapping[str, torch.Tensor],
        manner: Manner | None = None,
        name: str = "",
    ) -> None:
        self._backend, self._symptom, self._recorded = backend, symptom, recorded
        self._manner = manner or Manner()
        parts = (symptom.kind, symptom.exception, symptom.signal, shape_of(symptom.message), torch.__version__)
        self.fingerprint = "|".join((name or str(backend), *parts, str(self._manner)))

    def judge(self, program: Program) -> OracleVerdict:
        """Compiles and runs the program in a child."""
        seconds = HANG_SECONDS if self._symptom.kind == "hangs" else ATTEMPT_SECONDS
        found = symptom_of(program, self._backend, self._recorded, self._manner, seconds=seconds)
        return OracleVerdict(self._symptom.same(found), found.words)


def symptom_of(
    program: Program,
    backend: str | Compiler,
    recorded: Mapping[str, torch.Tensor],
    manner: Manner,
    *,
    seconds: float = ATTEMPT_SECONDS,
) -> Symptom:
    """What `backend` does to the program; a program that does not even run eagerly has no symptom."""
    program = tidied(program)  # a backend sees the names of inputs, and the script has these
    try:
        source = function_source(program)
    except UnprintableError:
        return Symptom("")
    seconds += len(program.steps) * SECONDS_PER_STEP
    return ending_of(lambda: tried(source, program, backend, recorded, manner), seconds=seconds)


def ending_of(work: Callable[[], dict[str, Any]], *, seconds: float = ATTEMPT_SECONDS) -> Symptom:
    """The symptom whose fields `work` gives in a child, or what became of the child."""
    found = attempt(work, timeout=seconds)
    if found.ending is AttemptEnding.HUNG:
        return Symptom("hangs")
    if found.ending is AttemptEnding.CRASHED:
        return Symptom("dies", signal=found.detail) if found.detail.startswith("killed") else Symptom("")
    return Symptom(**found.answer)


def tried(
    source: str, program: Program, backend: str | Compiler, recorded: Mapping[str, torch.Tensor], manner: Manner
) -> dict[str, Any]:
    """The fields of the symptom that `backend` shows on `program`, whose text is `source`, here and now."""
    inputs = [item.name for item in program.arguments]

    def given() -> list[Any]:
        values = tensors_of(program, recorded)
        return [values[name] for name in inputs]

    return shown(made(source), given, backend, manner)


def shown(
    function: Callable[..., Any], given: Callable[[], list[Any]], backend: str | Compiler, manner: Manner
) -> dict[str, Any]:
    """The fields of the symptom that `backend` shows on a function; `given` makes its arguments anew."""
    torch._dynamo.reset()
    try:
        eager = outcome(function, given(), manner)
    except Exception:
        return {"kind": ""}
    try:
        compiled = torch.compile(function, backend=backend, dynamic=manner.dynamic)
        actual: list[Any] = []
        for _ in range(manner.calls):
            actual = outcome(compiled, given(), manner)
    except Exception as error:
        cause = innermost(error)
        return {"kind": "raises", "exception": type(cause).__name__, "message": first_line(cause)}
    return _compared(eager, _exact(function, given, eager, manner), actual)


def made(source: str) -> Any:
    """The function of a source text, as the script has it."""
    # torch 2.11 and 2.12 import the module that a function's globals name, so there has to be one.
    module = sys.modules[_MODULE] = ModuleType(_MODULE)
    vars(module).update(torch=torch, functional=torch.nn.functional, operator=operator, math=math)
    exec(compile(source, "<repro>", "exec"), vars(module))
    return vars(module)["failing"]


def outcome(function: Any, values: list[Any], manner: Manner, seed: int = 0) -> list[Any]:
    """What a call gives: its results, inputs that it may have written, and with a backward pass their gradients."""
    torch.manual_seed(seed)
    result = function(*values)
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    tensors = [item for item in results if isinstance(item, torch.Tensor)]
    if not manner.backward:
        tensors += [value for value in values if manner.writes and isinstance(value, torch.Tensor)]
        return [item.detach() for item in tensors]
    wanted = [item for item in tensors if item.requires_grad and item.dtype.is_floating_point]
    if wanted:
        # Factors that differ: the plain sum of a softmax, or of what is normalised, has no gradient at all.
        factors = [torch.arange(item.numel(), device=item.device).reshape(item.shape) % 11 + 1 for item in wanted]
        torch.autograd.backward(wanted, [(f / 16).to(item.dtype) for item, f in zip(wanted, factors, strict=True)])
    given = [value for value in values if isinstance(value, torch.Tensor)]
    grads = [torch.zeros_like(item) if item.grad is None else item.grad for item in given if item.requires_grad]
    return [item.detach() for item in (*tensors, *grads, *(given if manner.writes else []))]


def _exact(function: Any, given: Callable[[], list[Any]], eager: list[Any], manner: Manner) -> list[Any]:
    """The results in float64; eager's own where random numbers would be others, or the program insists on dtypes."""
    if manner.shared:
        return eager
    other = outcome(function, given(), manner, seed=1)
    if any(relative_error(another, one) for another, one in zip(other, eager, strict=False)):
        return eager
    try:
        return outcome(function, [_wide(value) for value in given()], manner)
    except Exception:
        return eager


def _compared(eager: list[Any], exact: list[Any], actual: list[Any]) -> dict[str, Any]:
    if len(actual) != len(eager):
        return {"kind": "differs", "message": f"tensors that come back: {len(actual)}, wanted: {len(eager)}"}
    for want, seen, near in zip(exact, actual, eager, strict=True):
        if seen.dtype is not near.dtype:
            return {"kind": "differs", "message": f"{seen.dtype} in place of {near.dtype}"}
        bound = max(FACTOR * relative_error(near, want), FLOORS.get(near.dtype, 1e-4))
        error = relative_error(seen, want)
        if not error <= bound:
            return {"kind": "differs", "error": min(error, 1e30), "bound": bound}
    return {"kind": ""}


def _wide(value: Any) -> Any:
    if not isinstance(value, torch.Tensor) or not value.dtype.is_floating_point:
        return value
    return value.detach().to(torch.float64).requires_grad_(value.requires_grad)


def relative_error(actual: torch.Tensor, expected: torch.Tensor) -> float:
    """Root mean square of the difference over that of the expected values; infinite where NaNs do not match."""
    if actual.shape != expected.shape:
        return math.inf
    left, right = _real(actual), _real(expected)
    if not bool((torch.isnan(left) == torch.isnan(right)).all()):
        return math.inf
    left, right = torch.nan_to_num(left), torch.nan_to_num(right)
    size = float(right.norm())
    return float((left - right).norm()) / (size or 1.0)


def _real(tensor: torch.Tensor) -> torch.Tensor:
    """The values in float64, of complex numbers both parts."""
    tensor = tensor.detach()
    parts = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
    return parts.to(torch.float64)


def innermost(error: BaseException) -> BaseException:
    """The exception that a backend raised, without what Dynamo wraps around it."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        inner = getattr(error, "inner_exception", None) or (
            error.__cause__ if type(error).__module__.startswith(("torch._dynamo", "torch._inductor")) else None
        )
        if inner is None:
            break
        error = inner
    return error


def first_line(error: BaseException) -> str:
    """The first line of an exception's message."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")[:400]
