"""Convolutions and pooling: channels, groups, and kernels that do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inductor_debug_schema import ConflictKind

from inductor_debug.capture.failures.contradictions.call_facts import (
    Conflict,
    Operand,
    dtypes_differ,
    first,
    not_divisible,
    rank_is_not,
    sizes_differ,
    spread,
)


def convolution(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    transposed: bool = False,
    output_padding: Any = 0,
    groups: int = 1,
    *_rest: Any,
    **_: Any,
) -> Conflict | None:
    """`aten.convolution`, to which all others come down; the input may lack its batch dimension."""
    spatial = weight.rank - 2

    def checks() -> Iterator[Conflict | None]:
        yield rank_is_not(input, spatial + 2, spatial + 1)
        channels = input.rank - spatial - 1
        if transposed:
            yield sizes_differ(input, channels, weight, 0)
        else:
            yield not_divisible(weight, 0, groups)
            if input.shape[channels] != weight.shape[1] * groups:
                wanted = weight.shape[1] * groups if groups > 1 else None
                yield Conflict(ConflictKind.SIZE, input.side(channels), weight.side(1), wanted)
        yield dtypes_differ((input, weight, bias))
        if bias is not None:
            made = weight.shape[1] * groups if transposed else weight.shape[0]
            yield rank_is_not(bias, 1)
            if bias.shape[0] != made:
                yield Conflict(ConflictKind.SIZE, bias.side(0), weight.side(1 if transposed else 0), None)
        if not transposed:
            yield _larger_than(input, weight.shape[2:], padding, dilation)

    return None if spatial < 1 else first(checks())


def forward(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    **_: Any,
) -> Conflict | None:
    """`F.conv1d` to `F.conv3d`."""
    return convolution(input, weight, bias, stride, padding, dilation, False, 0, groups)


def backward(
    input: Operand,
    weight: Operand,
    bias: Operand | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    **_: Any,
) -> Conflict | None:
    """`F.conv_transpose1d` to `F.conv_transpose3d`."""
    return convolution(input, weight, bias, stride, padding, dilation, True, output_padding, groups)


def max_pool(spatial: int) -> Any:
    """The check of `max_pool1d` to `max_pool3d`."""

    def check(
        input: Operand,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        *_rest: Any,
        **_: Any,
    ) -> Conflict | None:
        return _pool(input, spatial, kernel_size, padding, dilation, ceil_mode)

    return check


def avg_pool(spatial: int) -> Any:
    """The check of `avg_pool1d` to `avg_pool3d`."""

    def check(
        input: Operand,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        *_rest: Any,
        **_: Any,
    ) -> Conflict | None:
        return _pool(input, spatial, kernel_size, padding, 1, ceil_mode)

    return check


def adaptive_pool(spatial: int) -> Any:
    """The check of `adaptive_avg_pool1d` to `adaptive_max_pool3d`, which take any sizes."""

    def check(input: Operand, *_rest: Any, **_: Any) -> Conflict | None:
        return rank_is_not(input, spatial + 2, spatial + 1)

    return check


def _pool(input: Operand, spatial: int, kernel: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Conflict | None:
    conflict = rank_is_not(input, spatial + 2, spatial + 1)
    sizes = spread(kernel, spatial)
    if conflict is not None or sizes is None or ceil_mode:
        return conflict
    return _larger_than(input, sizes, padding, dilation)


def _larger_than(input: Operand, kernel: tuple[int, ...], padding: Any, dilation: Any) -> Conflict | None:
    """That a kernel does not fit into the padded input."""
    count = len(kernel)
    around, apart = spread(0 if padding == "valid" else padding, count), spread(dilation, count)
    if around is None or apart is None:  # "same" always fits
        return None
    for dim in range(count):
        needed = apart[dim] * (kernel[dim] - 1) + 1 - 2 * around[dim]
        if input.shape[dim - count] < needed:
            return Conflict(ConflictKind.WINDOW, input.side(dim - count), None, needed)
    return None
