"""What a contradiction is made of, and the small words that the families of operations share to tell one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from inductor_debug_schema import ConflictKind


@dataclass(frozen=True, slots=True)
class Side:
    """One operand's part in a contradiction.

    `operand` is its index among the tensors that the operation was given, in order and flattened through lists; `dim`
    a non-negative dimension, None where the whole volume, the rank, the dtype or the device is meant. `size` is the
    size of that dimension; without one the volume, for RANK the number of dimensions.
    """

    operand: int
    dim: int | None
    size: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sides of one call that cannot both be.

    `right` is None where the other side is a number of the call (a view's sizes, `num_groups`, a dimension), which is
    then `wanted`. With both, `wanted` is None unless the right side's size has to be multiplied to be compared (the
    channels of a grouped convolution). For DTYPE and DEVICE `wanted` is the name that the left side should have.
    """

    kind: ConflictKind
    left: Side
    right: Side | None
    wanted: int | str | None


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor of the call as plain data. `dtype` has no `torch.` prefix, `stride` is None where it has no strides."""

    index: int
    shape: tuple[int, ...]
    dtype: str
    device: str
    stride: tuple[int, ...] | None = None

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def volume(self) -> int:
        """The number of elements."""
        return product(self.shape)

    @property
    def is_contiguous(self) -> bool:
        """Whether it is known to lie in memory as one block, in the order of its dimensions."""
        blocks = [product(self.shape[dim + 1 :]) for dim in range(self.rank)]
        found = zip(self.shape, self.stride or (), blocks, strict=False)
        return self.stride is not None and all(size == 1 or step == block for size, step, block in found)

    def side(self, dim: int | None = None) -> Side:
        """This operand's part, by a dimension that may count from the end."""
        if dim is None:
            return Side(self.index, None, self.volume)
        dim = dim % self.rank
        return Side(self.index, dim, self.shape[dim])

    @property
    def kind(self) -> int:
        """How wide its kind of numbers is: truth values, whole, real or complex numbers."""
        return 3 if "complex" in self.dtype else 2 if "float" in self.dtype else 0 if self.dtype == "bool" else 1

    @property
    def is_floating(self) -> bool:
        """Whether its numbers are floating or complex."""
        return "float" in self.dtype or "complex" in self.dtype


def product(sizes: Iterable[int]) -> int:
    """The product of sizes, 1 of none."""
    result = 1
    for size in sizes:
        result *= size
    return result


def sizes_differ(left: Operand, left_dim: int, right: Operand, right_dim: int) -> Conflict | None:
    """That two dimensions must be equal and are not."""
    if left.shape[left_dim] == right.shape[right_dim]:
        return None
    return Conflict(ConflictKind.SIZE, left.side(left_dim), right.side(right_dim), None)


def size_is_not(left: Operand, dim: int, wanted: int) -> Conflict | None:
    """That a dimension must have a size which is a number of the call, and has not."""
    return None if left.shape[dim] == wanted else Conflict(ConflictKind.SIZE, left.side(dim), None, wanted)


def rank_is_not(operand: Operand, *allowed: int) -> Conflict | None:
    """That a tensor must have one of several ranks; the first is the one to name."""
    if operand.rank in allowed:
        return None
    return Conflict(ConflictKind.RANK, Side(operand.index, None, operand.rank), None, allowed[0])


def rank_below(operand: Operand, least: int) -> Conflict | None:
    """That a tensor must have at least so many dimensions."""
    return rank_is_not(operand, *range(least, operand.rank + 1), least)


def dtypes_differ(operands: Sequence[Operand | None]) -> Conflict | None:
    """That all these tensors must have one dtype, and the first that differs from the first."""
    given = [operand for operand in operands if operand is not None]
    for other in given[1:]:
        if other.dtype != given[0].dtype:
            return Conflict(ConflictKind.DTYPE, given[0].side(), other.side(), other.dtype)
    return None


def not_divisible(operand: Operand, dim: int, divisor: int) -> Conflict | None:
    """That a size must be a multiple of a number of the call."""
    if divisor > 0 and operand.shape[dim] % divisor == 0:
        return None
    return Conflict(ConflictKind.DIVISIBILITY, operand.side(dim), None, divisor)


def no_such_dim(operand: Operand, dim: object, extra: int = 0) -> Conflict | None:
    """That a number names a dimension which the tensor does not have.

    Args:
        operand: the tensor.
        dim: what was given; anything but an int is left alone.
        extra: dimensions that the operation adds before it counts (1 for `unsqueeze` and `stack`).
    """
    if not isinstance(dim, int) or isinstance(dim, bool):
        return None
    count = max(operand.rank + extra, 1)
    if -count <= dim < count:
        return None
    return Conflict(ConflictKind.INDEX, Side(operand.index, None, operand.rank), None, dim)


def not_broadcast(operands: Sequence[Operand], skip: int = 0) -> Conflict | None:
    """That shapes cannot be broadcast together.

    Args:
        operands: the tensors.
        skip: trailing dimensions that are not broadcast (2 for batches of matrices).
    """
    shapes = [operand.shape[: operand.rank - skip] if skip else operand.shape for operand in operands]
    for offset in range(1, max(map(len, shapes), default=0) + 1):
        larger: tuple[Operand, int] | None = None
        for operand, shape in zip(operands, shapes, strict=True):
            dim = len(shape) - offset
            if dim < 0 or shape[dim] == 1:
                continue
            if larger is None:
                larger = operand, dim
            elif larger[0].shape[larger[1]] != shape[dim]:
                return sizes_differ(*larger, operand, dim)
    return None


def not_broadcast_to(operand: Operand, target: Operand) -> Conflict | None:
    """That a tensor cannot be broadcast to the shape of another one, which stays as it is."""
    if operand.rank > target.rank:
        if target.rank or operand.rank:
            return Conflict(ConflictKind.RANK, Side(operand.index, None, operand.rank), None, target.rank)
        return None
    for offset in range(1, operand.rank + 1):
        size = operand.shape[-offset]
        if size not in (1, target.shape[-offset]):
            return sizes_differ(operand, -offset, target, -offset)
    return None


def first(conflicts: Iterable[Conflict | None]) -> Conflict | None:
    """The first contradiction of several checks, which are made one after another."""
    return next((conflict for conflict in conflicts if conflict is not None), None)


def ints(value: Any) -> tuple[int, ...] | None:
    """A tuple of ints where `value` is a list or tuple of those, None otherwise."""
    if isinstance(value, (list, tuple)) and all(isinstance(item, int) for item in value):
        return tuple(value)
    return None


def spread(value: Any, count: int) -> tuple[int, ...] | None:
    """A number or list of numbers for `count` dimensions, as torch spreads them; None where it is neither."""
    if isinstance(value, int):
        return (value,) * count
    numbers = ints(value)
    if numbers is not None and len(numbers) == 1:
        return numbers * count
    return numbers if numbers is not None and len(numbers) == count else None
