"""The rule `host-sync`: places in a forward pass at which the host waits for the GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from inductor_debug_schema import PricedRun, Severity

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import counted, in_bytes, in_seconds
from inductor_debug.rules.judging.gpu_rule import GpuConstraint, bounded, gpu_of, is_worth
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording.ops import Op, Recording, TensorMeta
from inductor_debug.rules.recording.symbolic_sizes import at_least

_WAITING = frozenset({
    "aten._local_scalar_dense", "aten.is_nonzero", "aten.equal", "aten.nonzero", "aten.masked_select", "aten._unique2",
    "aten.unique_dim", "aten.unique_consecutive", "aten.bincount",
})  # fmt: skip
"""What gives the host a value of its input, or has a size that only its values tell."""
_MASKS = frozenset({"bool", "uint8"})
_VALUE_BYTES = 8
"""What crosses at least where a number or a size is asked for."""


class HostSyncRule(GpuConstraint):
    """Finds what the host can only have once the GPU is through with all that it was given."""

    id = "host-sync"
    summary = "The host waits for the GPU in the middle of a run, and the GPU then for the host."
    what = """
        `.item()`, `.tolist()`, `bool(x > 0)`, `nonzero`, `x[mask]`, `unique` need a value or a size that is known only
        on the GPU; `.cpu()` and `.to("cpu")` copy a whole tensor, into pageable memory. The host starts nothing until
        they are there, and the GPU has nothing to do until the next kernel is started.

        The price is the least that it can cost: the launch that nothing hides, for each time, and the bytes at the full
        rate of the link to the host, where the profile knows it. Nothing is said of what costs less than a hundredth of
        the run, of what stands at the end of it (results have to be fetched some time), of tensors that were made on
        the CPU, and of integers that were given as inputs, which may be there as well."""
    why = """
        Kernels run one after the other without a gap only as long as the host is ahead. In a compiled model it is
        a graph break as well, and CUDA graphs cannot record it."""
    example = """
        ```python
        scale = x.abs().max().item()       # waits
        x = x / scale
        ```"""
    fix = """
        Keep values in tensors: `x / x.abs().max()`. `torch.where` instead of a branch or of `x[mask]`; fixed sizes
        instead of those that depend on values. What has to be fetched is fetched once, at the end: with
        `.to("cpu", non_blocking=True)` into pinned memory while the next batch runs."""

    def applies(self, profile: Profile) -> bool:
        """Whether it is known how long a launch takes."""
        return super().applies(profile) and gpu_of(profile).launch_seconds is not None

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Each expression that waits, where that is worth telling."""
        if run.recording.host_reads is None:
            return  # what the code has copied is not known
        waits = list(_waits(run.recording))
        gpu = gpu_of(run.profile)
        priced: dict[int, float] = {}
        met: dict[int, Root] = {}
        for op, amount in waits:
            root = roots.of_op(op, "wait", Severity.INFORMATION)
            link = gpu.host_bytes_per_second
            price = (gpu.launch_seconds or 0.0) + (amount / link if link else 0.0)
            priced[id(root)] = priced.get(id(root), 0.0) + price
            root.detail = in_bytes(amount)
            met[id(root)] = root
            root.introduced.add(op.index)
        for number, root in met.items():
            if is_worth(priced[number], run):
                root.facts = PricedRun((run.bounds.seconds or 0.0) + priced[number], priced[number])
                root.covers |= root.introduced

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """What is fetched, how often, and what that costs at least."""
        root = found[0]
        assert isinstance(root.facts, PricedRun)
        times = counted(len(root.covers), "time")
        return (
            f"the host fetches {root.detail} from the GPU here ({times} in a run) and waits for all that it computes; "
            f"on accelerator '{profile.name}' nothing runs there for at least {in_seconds(root.facts.saved_seconds)} "
            f"of {bounded(root.facts.bound_seconds)}."
        )


def _waits(recording: Recording) -> Iterator[tuple[Op, int]]:
    """Each operation that the host waits for, with the bytes that cross; of reads by name an operation that says it."""
    ops = recording.ops
    last = next((op.index for op in reversed(ops) if not op.is_view and op.packet not in _WAITING), -1)
    device = _DeviceValues(recording)
    reads = sorted(recording.host_reads or (), key=lambda read: read.after)
    for op in ops:
        while reads and reads[0].after <= op.index:
            read = reads.pop(0)
            if 0 < read.after <= last and read.frames and device.has(read.meta):
                stand_in = replace(
                    ops[read.after - 1], overload="aten._to_copy.default", inputs=(read.meta,), outputs=(read.meta,),
                    frames=read.frames, module=read.module,
                )  # fmt: skip
                yield stand_in, at_least(read.meta.storage_bytes)
            device.discard(read.meta)
        if op.index < last and _waits_for(op) and any(map(device.has, op.inputs)):
            yield op, _VALUE_BYTES
        device.follow(op)


def _waits_for(op: Op) -> bool:
    if op.packet == "aten.index":
        return any(meta.dtype in _MASKS for meta in op.inputs[1:])
    if op.packet == "aten.repeat_interleave":
        return op.arguments.get("output_size") is None and op.overload.endswith(".Tensor")
    return op.packet in _WAITING


class _DeviceValues:
    """Which tensors are on the device for certain, wherever the model is."""

    def __init__(self, recording: Recording) -> None:
        self._on_host = recording.on_host
        self._values = {
            value
            for value, origin in recording.origins.items()
            if origin.kind in ("parameter", "buffer") or (origin.kind == "input" and _is_floating(origin.meta))
        }

    def has(self, meta: TensorMeta) -> bool:
        return meta.value in self._values

    def discard(self, meta: TensorMeta) -> None:
        """It was read on the CPU: the code goes on with that, as far as anybody sees here."""
        self._values.discard(meta.value)

    def follow(self, op: Op) -> None:
        """What is made of tensors of the device is there, and so is what a factory makes on a device it was given."""
        made = not op.inputs and op.index not in self._on_host and "device" in op.arguments
        if any(map(self.has, op.inputs)) or (made and any(meta.shape for meta in op.outputs)):
            self._values.update(meta.value for meta in op.outputs)


def _is_floating(meta: TensorMeta) -> bool:
    return "float" in meta.dtype or "complex" in meta.dtype
