"""The rule `matrix-padding`: sizes of large products that are no multiple of what the GPU's matrix units take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from inductor_debug_schema import Misalignment, OddSize, Severity

from inductor_debug.accelerators.profile import Profile
from inductor_debug.rules.amounts import in_bytes, in_seconds
from inductor_debug.rules.judging.gpu_rule import GpuConstraint, bounded, copies, gpu_of, is_worth
from inductor_debug.rules.judging.judged_run import JudgedRun
from inductor_debug.rules.judging.roots import Root, Roots
from inductor_debug.rules.recording import operators, strides
from inductor_debug.rules.recording.ops import Op, Origin, Product, Recording, TensorMeta
from inductor_debug.rules.recording.symbolic_sizes import at_least, misaligned


@dataclass(slots=True)
class _Odd:
    """A size and the products that have it: the bytes of the operands that a run copies to pad it."""

    multiple: int
    dtype: str
    copied: int = 0
    ops: list[Op] = field(default_factory=list)


class MatrixPaddingRule(GpuConstraint):
    """Finds sizes that keep large products from being fed to the matrix units in whole pieces."""

    id = "matrix-padding"
    summary = "A size of a large product is no multiple of what the GPU's matrix units are fed with."
    what = """
        Matrix units read their operands in pieces of 16 bytes: 8 numbers of float16 or bfloat16, 4 of TF32. Rows of
        another length begin in the middle of such a piece. `torch.compile` then pads the operands in every run, or
        takes a kernel that reads number by number, whichever is faster; the copies that padding needs are so the most
        that is lost, and that is the price told. A vocabulary of 50257 is the classic.

        Nothing is said where the copies are less than a hundredth of what the run takes at least, of float32 without
        TF32, and of sizes that only the inputs bring along."""
    why = """
        A few more rows of a weight, which nobody asks for, make the largest product of a language model faster in every
        step."""
    example = """
        ```python
        self.lm_head = nn.Linear(768, 50257, bias=False)   # 50304 is a multiple of 64
        ```"""
    fix = """
        Declare the next multiple, and let the loss or the sampling ignore what is too much: a vocabulary is usually
        padded to a multiple of 64 or 128. Checkpoints need the same padding."""

    def applies(self, profile: Profile) -> bool:
        """Whether it is known what the matrix units are fed with."""
        return super().applies(profile) and bool(gpu_of(profile).matrix_multiple_bytes)

    def inspect(self, run: JudgedRun, roots: Roots) -> None:
        """Adds up, for each odd size of a parameter, what padding costs in all products that have it."""
        declared = _declared(run.recording)
        found: dict[tuple[int, int], _Odd] = {}
        for op in run.recording.ops:
            for size, odd in _odd_sizes(op, run):
                owner = next((meta.storage for meta in op.inputs if size in _sizes(declared, meta)), None)
                if owner is not None:
                    origin = declared[owner].meta.storage
                    known = found.setdefault((origin, size), _Odd(odd.multiple, odd.dtype))
                    known.copied += odd.copied
                    known.ops.append(op)
        for (owner, size), odd in found.items():
            lost = copies(odd.copied, run.profile)
            if is_worth(lost, run):
                root = roots.of_origin(declared[owner], odd.ops[0], str(size), Severity.INFORMATION)
                next_size = OddSize(size, _next(size, odd, run.profile))
                root.facts = Misalignment([next_size], odd.multiple, odd.dtype, True, lost)
                root.detail = f"{in_bytes(odd.copied)}, {in_seconds(lost)} beside {bounded(run.bounds.seconds or 0)}"
                for op in odd.ops:
                    root.cover(op)

    def message(self, found: Sequence[Root], profile: Profile) -> str:
        """The size, the next that fits, what padding at run time costs, and what padding for good does."""
        root = found[0]
        assert isinstance(root.facts, Misalignment)
        [odd] = root.facts.odd_sizes
        assert isinstance(odd.odd_size, int)
        assert odd.next_size is not None
        more = (odd.next_size / odd.odd_size - 1) * 100
        return (
            f"{odd.odd_size} is no multiple of {root.facts.multiple}, as the matrix units of accelerator "
            f"'{profile.name}' want of {root.facts.dtype}: a copy is padded in every run ({root.detail}), "
            f"or read number by number where that is faster; {odd.next_size} is {more:.2g} % more memory."
        )


def _declared(recording: Recording) -> dict[int, Origin]:
    """The parameters and buffers by the storages that hold their values, also those of copies in another dtype."""
    found = {
        origin.meta.storage: origin for origin in recording.origins.values() if origin.kind in ("parameter", "buffer")
    }
    for op in recording.ops:
        if op.packet == "aten._to_copy" and op.inputs[0].storage in found:
            found[op.outputs[0].storage] = found[op.inputs[0].storage]
    return found


def _sizes(declared: dict[int, Origin], meta: TensorMeta) -> tuple[object, ...]:
    """The sizes of the parameter that a tensor shows."""
    origin = declared.get(meta.storage)
    return () if origin is None else origin.meta.shape


def _odd_sizes(op: Op, run: JudgedRun) -> Iterator[tuple[int, _Odd]]:
    """The sizes of a product (…, m, k) times (…, k, n) that do not fit, with the bytes that padding each copies."""
    factors = operators.factors_of(op)
    if factors is None:
        return
    left, right = factors
    multiple = gpu_of(run.profile).matrix_multiple_bytes.get(left.dtype, 0) // left.element_bytes
    if multiple < 2 or (left.dtype == "float32" and Product.MATMUL not in run.recording.tf32):
        return
    rows = left.shape[-2] if strides.innermost(left) == len(left.shape) - 2 else 1
    concerned = {left.shape[-1]: (left, right), right.shape[-1]: (right,), rows: (left,)}
    for size, operands in concerned.items():
        if isinstance(size, int) and misaligned(size, multiple):
            yield size, _Odd(multiple, left.dtype, sum(map(_bytes, operands)))


def _bytes(meta: TensorMeta) -> int:
    elements = 1
    for size in meta.shape:
        elements *= at_least(size)
    return elements * meta.element_bytes


def _next(size: int, odd: _Odd, profile: Profile) -> int:
    """The next size whose rows fill whole lines of the cache, where that is known."""
    gpu = gpu_of(profile)
    unit = odd.multiple * (gpu.cache_line_bytes or 0) // gpu.matrix_multiple_bytes[odd.dtype] or odd.multiple
    return -(-size // unit) * unit
