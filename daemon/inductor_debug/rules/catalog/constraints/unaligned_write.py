"""The rule `unaligned-write`: parts of a result that begin in the middle of a stick."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.judging.stick_rule import StickCutConstraint, cut_sticks
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Op, Size
from inductor_debug.rules.recording.symbolic_sizes import misaligned


class UnalignedWriteRule(StickCutConstraint):
    """Finds joins and pads along the sticks whose parts do not begin where sticks begin."""

    id = "unaligned-write"
    order = 3
    summary = "A part of a joined or padded tensor begins in the middle of a stick."
    what = """
        `cat`, `stack`, `pad` and writes into slices put parts beside each other. Along the dimension that lies in
        sticks a part can only be written where a stick begins; the compiler refuses any other offset. Two halves of 32
        float16 numbers do not fit together to 64; two of 64 fit together to 128. Other dimensions do not matter."""
    why = """
        Compiling fails there, with a message about stick expressions that names neither the line nor the sizes."""
    example = """
        ```python
        a, b = x.chunk(2, dim=-1)               # a head of 64 features
        turned = torch.cat((-b, a), dim=-1)     # the second half begins in the middle of a stick
        ```"""
    fix = """
        Choose sizes that are multiples of the stick (heads of 128 features), join along another dimension, or do this
        part once outside of the compiled function. A rotation of halves can be written as a product with a constant
        matrix."""

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Every op that writes parts along the sticks is a root, if one begins within a stick."""
        for op in run.recording.ops:
            if not operators.joins(op.packet) or not op.outputs or not op.inputs:
                continue
            result = op.outputs[0]
            stick = run.sticks.stick_of(result)
            if stick is None or result.value in {meta.value for meta in op.inputs}:
                continue
            unit = run.profile.elements_per_stick(result.dtype, result.element_bytes)
            offset = next((start for start in _starts(op, stick) if misaligned(start, unit)), None)
            if offset is not None:
                root = roots.of_op(op, wording.operator(op.overload))
                root.detail = f"at {offset}, and sticks hold {unit} of {result.dtype}"
                root.facts = cut_sticks([offset], unit)
                root.cover(op)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """What begins where."""
        names = wording.listing(root.subject for root in found)
        return (
            f"{names} writes a part in the middle of a stick ({found[0].detail}); accelerator '{profile.name}' refuses "
            "to compile that."
        )


def _starts(op: Op, stick: int) -> list[Size]:
    """Where the parts of the result begin along its dimension `stick`; empty where the op joins along another one."""
    name = operators.name(op.packet)
    rank = len(op.outputs[0].shape)
    if name == "constant_pad_nd":
        pads = op.arguments.get("pad")
        place = 2 * (rank - 1 - stick)
        if not isinstance(pads, Sequence) or place + 1 >= len(pads):
            return []
        before, after = pads[place], pads[place + 1]
        source = op.inputs[0].shape[stick]
        ends: list[Size] = [before + source] if after and isinstance(source, int) and isinstance(before, int) else []
        return [*([before] if before else []), *ends]
    dim = op.arguments.get("dim", 0)
    if not isinstance(dim, int) or dim % rank != stick:
        return []
    if name == "stack":
        return list(range(1, len(op.inputs)))
    if name == "slice_scatter":
        start = op.arguments.get("start")
        return [start] if isinstance(start, int) and start >= 0 else []
    lengths = [meta.shape[stick] for meta in op.inputs if len(meta.shape) == rank]
    known = [length for length in lengths if isinstance(length, int)]
    return list(accumulate(known[:-1])) if len(known) == len(lengths) else []
