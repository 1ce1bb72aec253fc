"""The rule `restickify`: tensors that have to be laid out in sticks along another dimension before an op."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import Restickified, Severity

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import counted, in_bytes
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.judging.stick_rule import StickConstraint
from inductor_debug.rules.recording import operators
from inductor_debug.rules.recording.ops import Op, Origin, TensorMeta
from inductor_debug.rules.recording.stick_flow import Misfit

_DECLARED = ("parameter", "buffer")


class RestickifyRule(StickConstraint):
    """Finds what makes a tensor's sticks run along another dimension than its op wants."""

    id = "restickify"
    order = 3
    summary = "A tensor is copied so that its sticks run along another dimension."
    what = """
        A tensor lies in sticks along one of its dimensions: the last one where it came from the host, and a transposed
        view keeps the sticks of what it looks at. A pointwise op wants all operands alike. A product
        `A[m, k] @ B[k, n]` wants `A` in sticks along `k` and `B` along `n`. Where that does not fit the compiler
        inserts a copy, called restickify, before the op, in every run.

        The finding stands at the expression that made the layout: the transposition, or the declaration of the
        parameter. The weight of `nn.Linear` lies along its inputs and is wanted along its outputs, so it is told once
        for all layers, as information. `.contiguous()` is such a copy itself, and is not told."""
    why = """
        The copy reads and writes the whole tensor, element by element, between memory and the cores. For weights it can
        take as long as the product."""
    example = """
        ```python
        scores = q @ k.transpose(-2, -1)    # k lies along its features, and is wanted along the keys
        mixed = x + y.t()                   # one of the two has to be laid out anew
        ```"""
    fix = """
        Keep tensors in the order in which they are used: store a weight transposed, transfer it with a layout of your
        own (`weight.to("spyre", device_layout=...)`), or use the fused operator
        (`F.scaled_dot_product_attention`). Where the copy is needed more than once, do it once with `.contiguous()`."""

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Every operand that does not fit belongs to what laid it out."""
        if not run.sticks.misfits:
            return
        makers = {meta.value: op for op in run.recording.ops if op.is_view for meta in op.outputs}
        origins = {origin.meta.storage: origin for origin in run.recording.origins.values()}
        for misfit in run.sticks.misfits:
            if misfit.op.autograd_node:
                continue  # A backward pass lays out what it saved; nobody wrote that.
            root = _root(misfit, roots, makers, origins)
            root.used_by(misfit.op)
            known = root.facts if isinstance(root.facts, Restickified) else Restickified(0, 0)
            layout = run.sticks.layout_of(misfit.operand)
            size = layout.bytes if layout is not None else 0
            root.facts = Restickified(known.restickified_tensors + 1, known.restickified_bytes + size)

    def cause(self, found: Sequence[Root]) -> str:
        """All parameters are one thing to know; anything else stands alone."""
        return "parameters" if all(root.origins for root in found) else ""

    def facts(self, found: Sequence[Root], profile: Profile) -> Restickified:
        """How many copies there are in a run, and how large."""
        known = [root.facts for root in found if isinstance(root.facts, Restickified)]
        return Restickified(
            sum(facts.restickified_tensors for facts in known), sum(facts.restickified_bytes for facts in known)
        )

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """What lies the wrong way, and what that costs."""
        facts = self.facts(found, profile)
        copies = (
            f"{counted(facts.restickified_tensors, 'copy', 'copies')} of {in_bytes(facts.restickified_bytes)} a run"
        )
        what = " and ".join(_clauses(found))
        return f"{what}, so accelerator '{profile.name}' lays it out anew (restickify): {copies}."


def _clauses(found: Sequence[Root]) -> list[str]:
    """What lies the wrong way: parameters, results of permutations, operands whose layout nothing in the code chose."""
    origins = [origin for root in found for origin in root.origins]
    if origins:
        return [f"the sticks of {wording.introducer(origins[0])} run along another dimension than its product wants"]
    clauses = []
    makers = [root for root in found if not root.detail]
    if makers:
        names, leave = wording.listing(root.subject for root in makers), wording.of_number(makers, "leaves", "leave")
        clauses.append(f"{names} {leave} the sticks along another dimension than the op that uses it wants")
    takers = [root for root in found if root.detail]
    if takers:
        names = wording.listing(root.subject for root in takers)
        clauses.append(f"an operand of {names} lies in sticks along another dimension than it wants")
    return clauses


def _root(misfit: Misfit, roots: Roots, makers: dict[int, Op], origins: dict[int, Origin]) -> Root:
    origin = origins.get(misfit.operand.storage)
    if origin is not None and origin.kind in _DECLARED:
        return roots.of_origin(origin, misfit.op, origin.kind, Severity.INFORMATION)
    maker = _permutation(misfit.operand, makers)
    root = roots.of_op(maker or misfit.op, (maker or misfit.op).packet)
    root.detail = "" if maker is not None else "operand"
    return root


def _permutation(meta: TensorMeta, makers: dict[int, Op]) -> Op | None:
    """The last view on the way to a tensor that put its dimensions into another order."""
    op = makers.get(meta.value)
    while op is not None and not operators.permutes(op.packet):
        op = makers.get(op.inputs[0].value) if op.inputs else None
    return op
