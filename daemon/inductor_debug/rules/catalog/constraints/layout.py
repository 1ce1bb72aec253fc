"""The rule `layout`: compute on tensors that are not contiguous."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug.accelerators.capabilities import MatmulOperands
from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import counted
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots, RootSet, union
from inductor_debug.rules.recording import operators, strides
from inductor_debug.rules.recording.ops import Op, Recording, TensorMeta

_BOOKKEEPING = frozenset({"int64", "int32", "bool"})


class LayoutRule(Constraint):
    """Finds the views that make tensors non-contiguous and are then computed on."""

    id = "layout"
    order = 3
    summary = "An op computes on a tensor that is not contiguous in memory."
    what = """
        `transpose`, `permute`, slices, `expand` and `as_strided` move no data; they change the order in which the same
        memory is read. The accelerator wants its operands contiguous, so it has to copy such a tensor before the
        first op that computes on it. The finding stands at the expression that made the tensor non-contiguous; the
        ops that consume it are related places, and are counted.

        What is *not* found, because it costs nothing: a view nobody computes on; one that `.contiguous()`, `cat` or a
        copying `reshape` lays out afresh; transposed operands of matrix multiplications and attention (the weight of
        `nn.Linear` among them), which hardware reads in either order; channels_last; an expanded tensor that
        broadcasting absorbs, or that repeats only a few bytes; small tensors of positions and flags. A plain `clone()`
        mends nothing: it keeps the order of what it copies."""
    why = """
        Every such op costs a hidden copy, or a kernel that reads memory in strides and runs at a fraction of the
        bandwidth; a backend without strided kernels refuses the graph."""
    example = """
        ```python
        x = x.transpose(1, 2)      # the finding stands here
        x = self.norm(x) + shift   # ...because these compute on the transposed tensor
        ```"""
    fix = """
        Compute first and transpose afterwards, or work along the other dimension (`dim=`, `F.conv1d` on the layout
        you have). If the copy is needed anyway, make it visible and do it once: `x.transpose(1, 2).contiguous()`."""

    def applies(self, profile: Profile) -> bool:
        """Whether the profile wants contiguous tensors."""
        return profile.layout is not None

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Follows non-contiguous values from the view that made them to the ops that compute on them."""
        inherited: dict[int, RootSet] = {}
        admitted = run.profile.layout.matmul_operands if run.profile.layout else MatmulOperands.STRIDED
        for op in run.recording.ops:
            matmul = operators.multiplies_matrices(op.packet) or op.index in run.attention
            handed: list[RootSet] = []
            for meta in op.inputs:
                if meta.dense or strides.is_trivial(meta):
                    continue
                origins = _roots_of(meta, op, run.recording, roots, inherited)
                if op.is_view or operators.only_moves_data(op.packet):
                    handed.append(origins)
                elif not _absorbed(op, meta, matmul, admitted):
                    handed.append(origins)
                    for root in origins:
                        root.used_by(op)
            self._outputs(op, union(handed), roots, inherited)

    def _outputs(self, op: Op, handed: RootSet, roots: Roots, inherited: dict[int, RootSet]) -> None:
        for meta in op.outputs:
            if meta.dense or strides.is_trivial(meta) or meta.value in inherited:
                continue
            if op.is_view and not op.autograd_node and all(_in_order(source) for source in op.inputs):
                inherited[meta.value] = (roots.of_op(op, op.packet),)
            else:
                # A compute op chooses the layout of what it makes; torch's choice says nothing of the accelerator's,
                # unless the op only kept the order that it was handed. A backward pass is torch's own as well.
                inherited[meta.value] = handed

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """What made the tensor non-contiguous and how many ops suffer."""
        covered = set[int]().union(*(root.covers for root in found))
        origins = [origin for root in found for origin in root.origins]
        names = list(dict.fromkeys(root.subject for root in found))
        if origins:
            maker, them = f"{wording.introducer(origins[0])} is not contiguous in memory", "it"
        elif len(names) == 1:
            maker, them = f"{names[0]} gives a tensor that is not contiguous in memory", "it"
        else:
            maker, them = f"{wording.listing(names)} give tensors that are not contiguous in memory", "them"
        verb = "computes" if len(covered) == 1 else "compute"
        copy = f"accelerator '{profile.name}' has to copy {them} first"
        return f"{maker}, and {counted(len(covered), 'op')} {verb} on {them}; {copy}."


def _in_order(meta: TensorMeta) -> bool:
    return meta.dense or strides.is_trivial(meta)


def _roots_of(meta: TensorMeta, op: Op, recording: Recording, roots: Roots, inherited: dict[int, RootSet]) -> RootSet:
    known = inherited.get(meta.value)
    if known is None:
        origin = recording.origins.get(meta.value)
        known = (roots.of_origin(origin, op, origin.kind),) if origin is not None else ()
        inherited[meta.value] = known
    return known


def _absorbed(op: Op, meta: TensorMeta, matmul: bool, admitted: MatmulOperands) -> bool:
    """Whether `op`, or the matrix product that it is part of, takes this non-contiguous operand without a copy."""
    if operators.only_reads_metadata(op.packet) or _is_bookkeeping(meta):
        return True
    if strides.is_expanded(meta) and strides.repeats_dense(meta):
        if strides.is_small(meta) or operators.looks_up(op.packet):
            return True
        return matmul or _broadcasts(op, meta)
    if not matmul or admitted is MatmulOperands.CONTIGUOUS:
        return False
    if admitted is MatmulOperands.TRANSPOSED:
        return strides.is_permuted(meta)
    return strides.has_unit_rows_or_columns(meta)


def _is_bookkeeping(meta: TensorMeta) -> bool:
    """Whether the tensor is a small one of positions or flags, which is arithmetic about the data and not on it."""
    return meta.dtype in _BOOKKEEPING and strides.is_small(meta)


def _broadcasts(op: Op, meta: TensorMeta) -> bool:
    """Whether another operand already has the full shape, so that `meta` need not be expanded in memory at all."""
    if not operators.may_broadcast(op.packet) or not op.outputs or op.outputs[0].shape != meta.shape:
        return False
    return any(other.value != meta.value and not strides.is_expanded(other) for other in op.inputs)
