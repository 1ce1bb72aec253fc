"""The rule `padding`: sizes that leave the last stick of each row partly empty."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import PaddedSticks, Severity

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import in_bytes
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots, Trouble, fold_inherited
from inductor_debug.rules.judging.stick_rule import StickConstraint
from inductor_debug.rules.recording import strides
from inductor_debug.rules.recording.ops import TensorMeta, as_written
from inductor_debug.rules.recording.stick_flow import StickFlow

_BOOKKEEPING = ("int", "uint", "bool")


class PaddingRule(StickConstraint):
    """Tells sizes along the sticks that do not fill them."""

    id = "padding"
    order = 6
    summary = "A size does not fill whole sticks, so the rest of the last stick is padding."
    what = """
        The accelerator keeps a tensor in sticks of a fixed number of bytes (64 numbers of float16 in 128 bytes). Where
        the size along the sticks is no multiple of that, the last stick of every row is padded, silently and correctly.
        The note stands where such a size first appears, and says how many bytes the padding of that tensor takes.

        Not told: small tensors of positions and flags, and results of reductions, which have one element a stick."""
    why = """
        Padding is moved and computed with like everything else. A head of 65 features costs as much as one of 128."""
    example = """
        ```python
        x = torch.randn(65, dtype=torch.float16).clone()    # two sticks, the second with one element
        ```"""
    fix = """
        Nothing has to be done. Where it is cheap, choose multiples of the stick: 64 outputs of which 10 are used, a
        vocabulary padded to the next multiple, a sequence padded with a mask."""

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Folds sizes along the sticks that do not fill them."""
        # A view has the sticks of what it looks at; further results (indices, sums of logarithms) are rarely kept.
        untold = [op.outputs if op.is_view else op.outputs[1:] for op in run.recording.ops]
        known: dict[int, Trouble | None] = {meta.value: None for metas in untold for meta in metas}

        def trouble_of(meta: TensorMeta) -> Trouble | None:
            if meta.value not in known:
                known[meta.value] = _trouble(meta, run.sticks)
            return known[meta.value]

        fold_inherited(run.recording, roots, trouble_of)

    def facts(self, found: Sequence[Root], profile: Profile) -> PaddedSticks | None:
        """The first of the tensors."""
        return next((root.facts for root in found if isinstance(root.facts, PaddedSticks)), None)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """Which size it is, and what the padding costs."""
        facts = self.facts(found, profile)
        assert facts is not None
        shape = f"({', '.join(map(str, facts.padded_shape))})"
        unit = f"{facts.elements_per_stick} of {facts.dtype} in a stick"
        cost = (
            f"{in_bytes(facts.padding_bytes)} of the {in_bytes(facts.bytes_on_device)} that {shape} takes are padding"
        )
        sizes = wording.listing(root.subject for root in found)
        size, does = wording.of_number(found, "size", "sizes"), wording.of_number(found, "does", "do")
        return f"{size} {sizes} {does} not fill the sticks of accelerator '{profile.name}' ({unit}): {cost}."


def _trouble(meta: TensorMeta, flow: StickFlow) -> Trouble | None:
    if strides.is_small(meta) and meta.dtype.startswith(_BOOKKEEPING):
        return None
    layout = flow.layout_of(meta)
    if layout is None or layout.stick_dimension is None or not layout.padding_bytes:
        return None
    size = meta.shape[layout.stick_dimension]
    if size == 1:
        return None
    facts = PaddedSticks(as_written(meta), layout.padding_bytes, layout.bytes, layout.size[-1], meta.dtype)
    return Trouble(str(size), Severity.INFORMATION, facts)
