"""Where an accelerator runs one op of a recording, and why not on the device where it does not.

First the limits of the profile are asked, whose conditions look at arguments, dtypes and ranks; then its list of what
is known to run, with the dtypes in which only some operators compute and the conversions that the device does itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from inductor_debug_schema import Severity

from inductor_debug.accelerators.capabilities import OperatorLimit
from inductor_debug.accelerators.execution import Execution, RunsOn
from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging import wording
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Op, Recording, Size, TensorArgument, TensorMeta
from inductor_debug.rules.recording.stick_flow import StickFlow
from inductor_debug.rules.recording.symbolic_sizes import misaligned

_ATTENTION = "aten.scaled_dot_product_attention.default"


@dataclass(frozen=True, slots=True)
class Executed:
    """Where an op runs. `subject` names it with what decides on that, `limit` is the profile's, where one does."""

    place: RunsOn
    subject: str
    limit: OperatorLimit | None = None
    reason: str = ""
    severity: Severity = Severity.WARNING


class OpExecution:
    """Judges the ops of one recording.

    Args:
        recording: the ops.
        profile: what the accelerator can do.
        attention: the indexes of ops that are parts of an attention (`operators.attention_calls`).
        sticks: how the recording's tensors lie there; None where the accelerator has no sticks.
    """

    def __init__(
        self, recording: Recording, profile: Profile, attention: Collection[int], sticks: StickFlow | None
    ) -> None:
        self._profile = profile
        # What torch takes apart is one operator to an accelerator that lists it as one.
        whole = profile.execution is not None and profile.execution.place_of(_ATTENTION) is not RunsOn.UNKNOWN
        self._attention = attention if whole else frozenset[int]()
        self._outside = {origin.meta.storage for origin in recording.origins.values() if origin.name}
        self._limits: dict[str, tuple[OperatorLimit, ...]] = {}
        self._listed: dict[tuple[str, tuple[str, ...], tuple[str, ...]], Executed] = {}
        self._sticks = sticks
        self._found: dict[int, Executed] = {}

    def of(self, op: Op) -> Executed:
        """Where `op` runs."""
        known = self._found.get(op.index)
        if known is None:
            known = self._found[op.index] = self._judged(op)
        return known

    def _judged(self, op: Op) -> Executed:
        if op.index in self._attention and self._profile.execution is not None:
            return Executed(self._profile.execution.place_of(_ATTENTION), wording.operator(_ATTENTION))
        limits = self._limits.get(op.overload)
        if limits is None:
            limits = self._limits[op.overload] = self._profile.limits_on(op.overload)
        for limit in limits:
            if self._holds(limit, op):
                return Executed(limit.runs, _subject(limit, op), limit, limit.reason, limit.severity)
        execution = self._profile.execution
        if execution is None or op.is_view or operators.only_reads_metadata(op.packet):
            return Executed(RunsOn.DEVICE, wording.operator(op.overload))
        key = (op.overload, tuple(meta.dtype for meta in op.inputs), tuple(meta.dtype for meta in op.outputs))
        known = self._listed.get(key)
        if known is None:
            known = self._listed[key] = _listed(op, execution, self._profile)
        return known

    def _holds(self, limit: OperatorLimit, op: Op) -> bool:
        """Whether every condition of `limit` is true of `op`."""
        if limit.mutates_inputs and not any(
            meta.storage in self._outside for meta in op.inputs if meta.value in op.mutates
        ):
            return False
        if limit.dtypes and not any(meta.dtype in limit.dtypes for meta in op.inputs):
            return False
        if limit.input_ranks and not (op.inputs and len(op.inputs[0].shape) in limit.input_ranks):
            return False
        if limit.output_ranks and not (op.outputs and len(op.outputs[0].shape) in limit.output_ranks):
            return False
        if limit.autograd and not any(fnmatchcase(op.autograd_node, pattern) for pattern in limit.autograd):
            return False
        if not all(name in op.arguments and _same(op.arguments[name], want) for name, want in limit.arguments.items()):
            return False
        if any(_same(op.arguments.get(name, kept), kept) for name, kept in limit.except_arguments.items()):
            return False
        return self._holds_of_sticks(limit, op)

    def _holds_of_sticks(self, limit: OperatorLimit, op: Op) -> bool:
        if limit.varies_along_stick and not any(_varies(op, name) for name in limit.varies_along_stick):
            return False
        if self._sticks is None or not op.inputs:
            return not limit.partial_stick and not limit.stick_arguments
        stick = self._sticks.stick_of(op.inputs[0])
        if limit.partial_stick and (stick is None or not self._partial(op.inputs[0], stick)):
            return False
        rank = len(op.inputs[0].shape)
        return not limit.stick_arguments or any(
            stick is not None and stick in _dimensions(op.arguments.get(name), rank) for name in limit.stick_arguments
        )

    def _partial(self, meta: TensorMeta, stick: int) -> bool:
        return misaligned(meta.shape[stick], self._profile.elements_per_stick(meta.dtype, meta.element_bytes))


def _listed(op: Op, execution: Execution, profile: Profile) -> Executed:
    """What the list of operators says, once no limit does."""
    name = wording.operator(op.overload)
    made = op.outputs[0].dtype if op.outputs else ""
    given = op.inputs[0].dtype if op.inputs else made
    known = profile.supports(given) and profile.supports(made)  # Of another dtype the rule `dtype` tells.
    if operators.converts(op.packet) and known and not execution.converts(given, made):
        return Executed(RunsOn.CPU, f"{name} from {given} to {made}", reason="the device does not convert these dtypes")
    place = execution.place_of(op.overload)
    part = execution.part_on(place, op.overload)
    if place is RunsOn.CPU and part is not None:
        name = f"{part} within {name}"
    if place not in (RunsOn.DEVICE, RunsOn.COMPILED) or not op.inputs:
        return Executed(place, name)
    moves = operators.only_moves_data(op.packet) or operators.reshapes(op.packet) or operators.looks_up(op.packet)
    if moves or operators.only_aliases(op.packet):
        return Executed(place, name)
    for dtype in dict.fromkeys(meta.dtype for meta in op.inputs):
        stored = profile.stored_as.get(dtype)
        computed = dtype if stored is None else stored.dtype
        unable = execution.cannot_compute(op.overload, computed)
        if unable is not None and not _only_indexes(op, dtype):
            inside = "" if unable == op.packet else f": it is made of {unable}, which"
            reason = f"{inside or ': it'} does not compute in {computed}".removeprefix(": ")
            return Executed(RunsOn.REFUSED, f"{name} with {dtype} input", reason=reason)
    return Executed(place, name)


def _only_indexes(op: Op, dtype: str) -> bool:
    """Whether tensors of an integer dtype only say where to look among others: what is made is not of their dtype."""
    floating = any(not meta.dtype.startswith(("int", "uint", "bool")) for meta in op.inputs)
    return floating and dtype.startswith(("int", "uint"))


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(value, (list, tuple)) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(map(_same, value, wanted))
    return type(value) is type(wanted) and bool(value == wanted)


def _varies(op: Op, name: str) -> bool:
    """Whether a tensor argument has more than one element along its last dimension, and does not repeat one."""
    given = op.arguments.get(name)
    if not isinstance(given, TensorArgument):
        return False
    meta = op.inputs[given.index]
    return not meta.shape or (meta.shape[-1] != 1 and meta.stride[-1] != 0)


def _dimensions(value: Any, rank: int) -> Sequence[int]:
    """The dimensions that an argument names; all of them where it names none, as reductions take it."""
    if value is None or value == []:
        return range(rank)
    dims = [value] if isinstance(value, int) else value
    if not isinstance(dims, Sequence) or not rank:
        return []
    return [dim % rank for dim in dims if isinstance(dim, int)]


def _subject(limit: OperatorLimit, op: Op) -> str:
    conditions = [f"{name}={value}" for name, value in limit.arguments.items()]
    conditions += [f"{name}={op.arguments.get(name)}" for name in (*limit.except_arguments, *limit.stick_arguments)]
    if limit.dtypes:
        conditions.append(wording.listing(meta.dtype for meta in op.inputs if meta.dtype in limit.dtypes) + " input")
    if limit.input_ranks:
        conditions.append(f"a {len(op.inputs[0].shape)}-dimensional input")
    if limit.output_ranks:
        conditions.append(f"a {len(op.outputs[0].shape)}-dimensional result")
    if limit.mutates_inputs:
        conditions.append("a write into an input, a parameter or a buffer")
    if limit.partial_stick:
        conditions.append(f"sticks that {_size_words(op.inputs[0].shape)} does not fill")
    conditions += [f"a {name} of single elements" for name in limit.varies_along_stick]
    given = f" with {' and '.join(conditions)}" if conditions else ""
    inside = f" in {op.autograd_node}" if limit.autograd else ""
    return wording.operator(op.overload) + inside + given


def _size_words(shape: Sequence[Size]) -> str:
    return f"({', '.join(map(str, shape))})"
