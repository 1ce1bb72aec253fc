"""The rule `unaligned-write`: parts of a result that begin in the middle of a stick."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from inductor_debug_schema import Severity

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
        sticks a part can only be written where a stick begins: two halves of 32 float16 numbers do not fit together to
        64, two of 64 fit together to 128. Other dimensions do not matter.

        The compiler helps itself where the result has another dimension: it lets the sticks run along that one
        meanwhile, which costs copies of the parts and of the result. That is told as information. It refuses a result
        that has no other dimension of more than one element, and parts of one element."""
    why = """
        Refused operations fail while compiling, with a message about stick dimensions that names neither the line nor
        the sizes. The copies of the others take as long as the operation, in every run."""
    example = """
        ```python
        a, b = x.chunk(2, dim=-1)               # a head of 64 features
        turned = torch.cat((-b, a), dim=-1)     # the second half begins in the middle of a stick: copied
        offsets = torch.cat((zero, sums))       # 1 number before 128, in one dimension: refused
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
            cut = [(start, length) for start, length in _parts(op, stick) if _within_stick(start, unit)]
            if cut:
                other = any(size != 1 for index, size in enumerate(result.shape) if index != stick)
                moves = other and all(length != 1 for _, length in cut)
                root = roots.of_op(
                    op, wording.operator(op.overload), Severity.INFORMATION if moves else Severity.WARNING
                )
                root.detail = f"at {cut[0][0]}, and sticks hold {unit} of {result.dtype}"
                root.facts = cut_sticks([cut[0][0]], unit)
                root.cover(op)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """What begins where, and what becomes of it."""
        names = wording.listing(root.subject for root in found)
        refused = any(root.severity is Severity.WARNING for root in found)
        writes = wording.of_number(found, "writes", "write")
        copies = "lays the result out along another dimension, at the cost of copies"
        does = f"accelerator '{profile.name}' {'refuses to compile that' if refused else copies}"
        return f"{names} {writes} a part in the middle of a stick ({found[0].detail}); {does}."


def _within_stick(start: Size, unit: int) -> bool:
    """Whether a part that begins there certainly begins within a stick."""
    return start % unit != 0 if isinstance(start, int) else misaligned(start, unit)


def _parts(op: Op, stick: int) -> list[tuple[Size, Size]]:
    """Where along its dimension `stick` the parts of the result begin, and how long each is.

    Empty where the op joins along another dimension, or where sizes are not known.
    """
    name = operators.name(op.packet)
    rank = len(op.outputs[0].shape)
    if name == "constant_pad_nd":
        return _padded(op, stick, 2 * (rank - 1 - stick))
    dim = op.arguments.get("dim", 0)
    if not isinstance(dim, int) or dim % rank != stick:
        return []
    if name == "stack":
        return [(index, 1) for index in range(len(op.inputs))]
    if name == "slice_scatter":
        start = op.arguments.get("start")
        return [(start, op.inputs[-1].shape[stick])] if isinstance(start, int) and start >= 0 else []
    lengths = [meta.shape[stick] for meta in op.inputs if len(meta.shape) == rank]
    known = [length for length in lengths if isinstance(length, int)]
    if len(known) != len(lengths):
        return []
    return list(zip(accumulate(known, initial=0), known, strict=False))


def _padded(op: Op, stick: int, place: int) -> list[tuple[Size, Size]]:
    """What is padded, and the padding behind it; `place` is where the dimension's paddings stand among all."""
    pads = op.arguments.get("pad")
    if not isinstance(pads, Sequence) or place + 1 >= len(pads):
        return []
    before, after = pads[place], pads[place + 1]
    source = op.inputs[0].shape[stick]
    parts: list[tuple[Size, Size]] = [(before, source)]
    if after and isinstance(source, int) and isinstance(before, int):
        parts.append((before + source, after))
    return parts
