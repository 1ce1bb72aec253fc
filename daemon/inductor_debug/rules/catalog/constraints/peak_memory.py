"""The rule `peak-memory`: more memory at once than the accelerator has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inductor_debug_schema import LiveMemory, MemoryOverrun, MemoryShare, Severity

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import counted, in_bytes
from inductor_debug.rules.judging import wording
from inductor_debug.rules.judging.base import Constraint
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording.liveness import Holding, Peak, eager_peak_of, peak_of, total_of
from inductor_debug.rules.recording.ops import Recording, as_written

_MOST_SHOWN = 3
_MOST_KEPT = 16
"""Pieces of memory that travel with a finding."""
_PLURALS = {"parameter": "parameters", "buffer": "buffers", "input": "inputs", "constant": "constants"}


class PeakMemoryRule(Constraint):
    """Finds the op during which all that is alive does not fit into the accelerator's memory."""

    id = "peak-memory"
    order = 4
    summary = "At some point the tensors that are alive together need more memory than the accelerator has."
    what = """
        Every tensor may be small enough and all together still too large. Counted is what a compiled graph holds:
        parameters, buffers and inputs throughout; every other tensor from the op that makes it to the last one that
        uses it. Views and in-place writes count as nothing new. The finding stands at the op during which most memory
        is needed, and names the largest tensors alive then.

        With the stage `aot`, training counts as well: what the forward pass saves lives until the backward pass has
        used it, and gradients live to the end. Without it, a forward pass that would fit by itself is told, as a note,
        where what autograd keeps of it when it runs eagerly does not: `torch.compile` may keep less.

        The number is a lower bound. Workspaces of kernels and fragmentation come on top; sizes that are not known count
        with the smallest value they can have; sizes that were inferred are never held against a model."""
    why = """
        The model cannot run on one such accelerator as it is, however the compiler orders its ops. On real devices this
        shows late, as an out-of-memory error in the middle of a run."""
    example = """
        ```python
        h = self.up(x)      # (32, 8192, 28672) in float32: 28 GiB
        g = self.gate(x)    # 28 GiB more
        return self.down(F.silu(g) * h)
        ```"""
    fix = """
        Use a narrower dtype or a smaller batch, drop tensors earlier, or split the work into chunks. In training,
        recompute instead of saving (`torch.utils.checkpoint`). Where parameters alone are too much, shard the model.
        The bound is `memory.device_bytes` of the accelerator's profile: the mock accelerator has 512 GiB, more than any
        single device has today, and IBM Spyre 128 GB."""

    def applies(self, profile: Profile) -> bool:
        """Whether the profile says how much memory there is."""
        return profile.memory_bytes is not None

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Finds the peak, and makes its op a root where it is certainly too high."""
        limit = run.profile.memory_bytes or 0
        if total_of(run.recording, run.measure) <= limit:
            return
        peak = peak_of(run.recording, run.measure)
        eager = peak.bytes <= limit and _is_training(run.recording)
        if eager:
            peak = eager_peak_of(run.recording, run.measure)
        if peak.op is None or peak.bytes <= limit:
            return
        root = roots.of_op(peak.op, in_bytes(peak.bytes), Severity.INFORMATION if eager else Severity.WARNING)
        root.facts = replace(_facts(peak, limit), eager_training=eager)
        root.cover(peak.op)
        for holding in peak.holdings[:_MOST_SHOWN]:
            frames = holding.maker.frames if holding.maker else holding.origin.frames if holding.origin else ()
            root.remarks.append((frames, f"{_name(holding)}: {in_bytes(holding.bytes)}, alive at the peak"))

    def facts(self, found: Sequence[Root], profile: Profile) -> MemoryOverrun:
        """How much is needed, and of what it consists."""
        facts = found[0].facts
        assert isinstance(facts, MemoryOverrun)
        return facts

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """How much is needed and of what it consists."""
        facts = self.facts(found, profile)
        bound = f"more than the {in_bytes(facts.bytes_available)} of accelerator '{profile.name}'"
        told = f"at least {in_bytes(facts.bytes_needed)} are needed at once here, {bound}: {_composition(facts)}."
        if not facts.eager_training:
            return told
        return (
            f"run eagerly in training, with what autograd keeps for the backward pass, {told} What torch.compile keeps "
            "of it, the stage aot tells."
        )


def _is_training(recording: Recording) -> bool:
    """Whether autograd keeps what it needs, and it is known when everything else went away."""
    return recording.lifetimes is not None and any(meta.requires_grad for op in recording.ops for meta in op.outputs)


def _facts(peak: Peak, limit: int) -> MemoryOverrun:
    pieces = [holding for holding in peak.holdings if holding.bytes > 0]
    shares = [
        MemoryShare(kind, sum(holding.kind == kind for holding in pieces), size)
        for kind, size in sorted(peak.by_kind().items(), key=lambda item: -item[1])
        if size > 0
    ]
    largest = [
        LiveMemory(holding.kind, _bare_name(holding), as_written(holding.meta), holding.bytes)
        for holding in pieces[:_MOST_KEPT]
    ]
    return MemoryOverrun(peak.bytes, limit, shares, largest)


def _composition(facts: MemoryOverrun) -> str:
    """`60 GiB of parameters, 1 GiB of inputs and 32 GiB of 12 other tensors`."""
    parts = [
        f"{in_bytes(share.storage_bytes)} of {_PLURALS.get(share.kind) or counted(share.pieces, 'other tensor')}"
        for share in facts.shares
    ]
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]])) if parts else "nothing"


def _bare_name(holding: Holding) -> str:
    if holding.maker is not None:
        return holding.maker.overload
    return holding.origin.name if holding.origin is not None else ""


def _name(holding: Holding) -> str:
    if holding.maker is not None:
        return wording.operator(holding.maker.overload)
    name = holding.origin.name if holding.origin is not None else ""
    return f"the {holding.kind} `{name}`" if name else f"a {holding.kind}"
