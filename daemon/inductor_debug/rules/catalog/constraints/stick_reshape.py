"""The rule `stick-reshape`: views that cut sticks into pieces, or put pieces together to sticks."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.judging.stick_rule import StickCutConstraint, cut_sticks
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Op, Recording, Size, TensorMeta
from inductor_debug.rules.recording.symbolic_sizes import misaligned


class StickReshapeRule(StickCutConstraint):
    """Finds reshapes of the innermost dimension that the sticks of the device cannot follow."""

    id = "stick-reshape"
    order = 3
    summary = "A reshape changes the innermost dimension to or from a size that is no multiple of the stick."
    what = """
        A view moves no data, so the sticks stay what they were. Where the innermost dimension is split into, or put
        together from, pieces that are no whole sticks, an element's place in its stick follows no rule that the device
        can address, and the first op that reads the view is refused. `(64, 64, 16)` flattened to `(64, 1024)` fails,
        and so does a split of 64 features into 2 × 32; `(64, 16, 64)` flattened to `(64, 1024)` is fine.

        A reshape whose result is only returned is not told."""
    why = """
        Compiling fails at the op that reads it, which may stand far away from the reshape."""
    example = """
        ```python
        x = x.view(batch, length, heads, 32)    # heads of half a stick
        return x * self.scale                   # refused here
        ```"""
    fix = """
        Choose pieces that are multiples of the stick: 64 numbers of float16 (heads of 64 or 128 features). Where sizes
        are given, do the reshape on the host, or take a copy with another innermost dimension before it."""

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Every such reshape that an op reads is a root."""
        used = _read(run.recording)
        # A convolution is a product whose result is a reshape itself; another one on top may well undo it.
        convolved = {meta.value for op in run.recording.ops if operators.convolves(op.packet) for meta in op.outputs}
        for op in run.recording.ops:
            if not operators.reviews(op.packet) or not op.inputs or not op.outputs:
                continue
            source, result = op.inputs[0], op.outputs[0]
            if source.value in convolved or result.value not in used:
                continue
            if run.sticks.stick_of(source) != _innermost(source):
                continue
            unit = run.profile.elements_per_stick(result.dtype, result.element_bytes)
            before, after = _length(source), _length(result)
            if before != after and any(misaligned(size, unit) for size in _smaller(before, after)):
                root = roots.of_op(op, f"{before} to {after}")
                root.detail = f"{unit} of {result.dtype}"
                root.facts = cut_sticks(_smaller(before, after), unit)
                root.cover(op)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """Which sizes they are."""
        changes = wording.listing(root.subject for root in found)
        return (
            f"this changes the innermost size from {changes}, which cuts through sticks ({found[0].detail} each); "
            f"accelerator '{profile.name}' refuses the op that reads it."
        )


def _read(recording: Recording) -> set[int]:
    """The values that some op computes on, directly or through views."""
    sources = {
        meta.value: op.inputs[0].value for op in recording.ops if op.is_view and op.inputs for meta in op.outputs
    }
    found: set[int] = set()
    for op in recording.ops:
        if _computes(op):
            for meta in op.inputs:
                value: int | None = meta.value
                while value is not None and value not in found:
                    found.add(value)
                    value = sources.get(value)
    return found


def _computes(op: Op) -> bool:
    return not op.is_view and not operators.only_reads_metadata(op.packet) and not operators.lays_out_anew(op.packet)


def _innermost(meta: TensorMeta) -> int | None:
    """The last dimension that has more than one element."""
    return next((index for index in reversed(range(len(meta.shape))) if meta.shape[index] != 1), None)


def _length(meta: TensorMeta) -> Size:
    index = _innermost(meta)
    return 1 if index is None else meta.shape[index]


def _smaller(before: Size, after: Size) -> list[Size]:
    """The size of the pieces: the smaller one, both where that is not known."""
    if isinstance(before, int) and isinstance(after, int):
        return [min(before, after)]
    return [before, after]
