"""The rule `cpu-fallback`: operators that run on the host, with a transfer there and one back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inductor_debug_schema import CpuFallback

from inductor_debug.accelerators.execution import RunsOn
from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import counted, in_bytes
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.op_execution import Executed
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording.ops import Op, TensorMeta
from inductor_debug.rules.recording.symbolic_sizes import at_least


class CpuFallbackRule(Constraint):
    """Finds operators that the accelerator leaves to the host."""

    id = "cpu-fallback"
    order = 6
    summary = "An operator needs the CPU, with one transfer to the host and one back."
    what = """
        The accelerator's software runs some operators on the host: it waits for what they read, copies it to the host's
        memory, computes there, and copies the result back. Nothing fails, and numbers are right. Conversions between
        dtypes that the device cannot do are among them, also where an operator needs them that the device computes.

        An operator that reads what another one has just computed on the host is told with that one. The finding counts
        the bytes that cross in a run of the model, and the operators that stay on the device."""
    why = """
        The device stands still meanwhile, and the graph is cut in two at each of them. In a decoding loop two small
        transfers a token can take longer than the token."""
    example = """
        ```python
        positions = torch.arange(x.shape[1])         # made on the host, copied to the device
        angles = positions[:, None] * self.rates
        return angles.cumsum(0).argmax(0)            # to the host, both computed there, and back
        ```"""
    fix = """
        Compute what does not depend on the input once, outside of the compiled function, and keep it as a buffer:
        tables of angles, positions, masks. Where the input is needed, use an operator that the device has
        (`inductor-debug explain --accelerator spyre` lists them), or do all such steps in one place."""

    def applies(self, profile: Profile) -> bool:
        """Whether the profile says what runs on the host."""
        return profile.execution is not None or any(limit.runs is RunsOn.CPU for limit in profile.operators)

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Folds each chain of operators on the host into the one that begins it."""
        seen = [(op, run.execution.of(op)) for op in run.recording.ops]
        staying = sum(
            found.place in (RunsOn.DEVICE, RunsOn.COMPILED) and not op.is_view and bool(op.outputs)
            for op, found in seen
        )
        chains: dict[int, Root] = {}
        for op, found in seen:
            before = next((chains[meta.value] for meta in op.inputs if meta.value in chains), None)
            if op.is_view and before is not None:
                chains.update({meta.value: before for meta in op.outputs})
            elif found.place is RunsOn.CPU and not op.is_view:
                root = before or roots.of_op(op, found.subject, found.severity)
                _add(root, op, found, staying)
                chains.update({meta.value: root for meta in op.outputs})

    def cause(self, found: Sequence[Root]) -> str:
        """The operators: what runs on the host is one thing to learn, wherever it is used."""
        return ", ".join(sorted({root.subject for root in found}))

    def facts(self, found: Sequence[Root], profile: Profile) -> CpuFallback:
        """The operators of all chains that begin here, and what crosses because of them."""
        known = [root.facts for root in found if isinstance(root.facts, CpuFallback)]
        return CpuFallback(
            list(dict.fromkeys(name for facts in known for name in facts.cpu_operators)),
            sum(facts.transfers for facts in known),
            sum(facts.bytes_to_host for facts in known),
            sum(facts.bytes_to_device for facts in known),
            max((facts.operators_on_device for facts in known), default=0),
        )

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """What runs on the host, what crosses, and what stays."""
        facts = self.facts(found, profile)
        names = wording.listing(facts.cpu_operators)
        verb = "needs" if len(facts.cpu_operators) == 1 else "need"
        there = f"{in_bytes(facts.bytes_to_host)} go to the host and " if facts.bytes_to_host else ""
        crossing = f"{there}{in_bytes(facts.bytes_to_device)} come back, in {counted(facts.transfers, 'transfer')}"
        stays = f"{counted(facts.operators_on_device, 'operation')} of this run stay on the device"
        detail = found[0].detail
        return f"{names} {verb} the CPU with accelerator '{profile.name}'{detail}: {crossing}; {stays}."


def _add(root: Root, op: Op, found: Executed, staying: int) -> None:
    """Counts an operator to the chain that begins with `root`."""
    known = root.facts if isinstance(root.facts, CpuFallback) else CpuFallback([], 0, 0, 0, staying)
    if found.reason and not known.cpu_operators:
        root.detail = f" ({found.reason})"
    root.facts = CpuFallback(
        list(dict.fromkeys([*known.cpu_operators, found.subject])),
        known.transfers + (2 if op.inputs else 1),
        known.bytes_to_host + _bytes(op.inputs),
        known.bytes_to_device + _bytes(op.outputs),
        staying,
    )
    root.used_by(op) if known.cpu_operators else root.cover(op)


def _bytes(metas: Iterable[TensorMeta]) -> int:
    total = 0
    for meta in {meta.value: meta for meta in metas}.values():
        elements = 1
        for size in meta.shape:
            elements *= at_least(size)
        total += elements * meta.element_bytes
    return total
