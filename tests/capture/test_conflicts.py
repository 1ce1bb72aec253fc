"""A contradiction is told exactly where torch refuses the call: judged by torch itself, on calls made up at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from inductor_debug.capture.failures.conflicts import Conflict, ConflictKind, Side, conflict_of, operands_of
from torch import nn
from torch.overrides import TorchFunctionMode

Kind = ConflictKind


class Watched(TorchFunctionMode):
    """Judges every call of torch beside torch; `told` is what was said of the call that failed."""

    def __init__(self) -> None:
        super().__init__()
        self.told: Conflict | None = None
        self.wrong: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        told = conflict_of(func, args, kwargs)
        try:
            result = func(*args, **kwargs)
        except (RuntimeError, IndexError, ValueError):
            self.told = told
            raise
        if told is not None:
            self.wrong.append(f"{func}: {told}")
        return result


def judged(call: Callable[[], object]) -> tuple[bool, Conflict | None]:
    """Whether torch refuses a call, and what is told of it; nothing may be told of a call that torch accepts."""
    watched = Watched()
    try:
        with watched:
            call()
    except (RuntimeError, IndexError, ValueError):
        return True, watched.told
    assert not watched.wrong
    return False, watched.told


def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.zeros(shape, dtype=dtype)


REFUSED = {
    "mm": (lambda: zeros(2, 3) @ zeros(2, 3), Conflict(Kind.SIZE, Side(0, 1, 3), Side(1, 0, 2), None)),
    "heads": (
        lambda: zeros(2, 4, 16, 32) @ zeros(2, 4, 16, 32),
        Conflict(Kind.SIZE, Side(0, 3, 32), Side(1, 2, 16), None),
    ),
    "batch": (
        lambda: torch.matmul(zeros(2, 3, 4), zeros(5, 4, 6)),
        Conflict(Kind.SIZE, Side(0, 0, 2), Side(1, 0, 5), None),
    ),
    "linear": (
        lambda: nn.functional.linear(zeros(2, 9216), zeros(128, 9200)),
        Conflict(Kind.SIZE, Side(0, 1, 9216), Side(1, 1, 9200), None),
    ),
    "mixed": (
        lambda: zeros(2, 3) @ zeros(3, 4, dtype=torch.float64),
        Conflict(Kind.DTYPE, Side(0, None, 6), Side(1, None, 12), "float64"),
    ),
    "einsum": (
        lambda: torch.einsum("bij,bjk->bik", zeros(2, 3, 4), zeros(2, 5, 4)),
        Conflict(Kind.SIZE, Side(0, 2, 4), Side(1, 1, 5), None),
    ),
    "channels": (
        lambda: nn.functional.conv2d(zeros(1, 3, 8, 8), zeros(6, 4, 3, 3)),
        Conflict(Kind.SIZE, Side(0, 1, 3), Side(1, 1, 4), None),
    ),
    "grouped": (
        lambda: nn.functional.conv2d(zeros(1, 3, 8, 8), zeros(6, 2, 3, 3), groups=2),
        Conflict(Kind.SIZE, Side(0, 1, 3), Side(1, 1, 2), 4),
    ),
    "kernel": (
        lambda: nn.functional.conv2d(zeros(1, 3, 2, 8), zeros(6, 3, 5, 3), padding=1),
        Conflict(Kind.WINDOW, Side(0, 2, 2), None, 3),
    ),
    "cat": (
        lambda: torch.cat([zeros(2, 3), zeros(2, 4)]),
        Conflict(Kind.SIZE, Side(0, 1, 3), Side(1, 1, 4), None),
    ),
    "add": (lambda: zeros(2, 3) + zeros(4), Conflict(Kind.SIZE, Side(0, 1, 3), Side(1, 0, 4), None)),
    "add fractions in place": (
        lambda: torch.zeros(3, dtype=torch.int64).add_(zeros(3)),
        Conflict(Kind.DTYPE, Side(1, None, 3), Side(0, None, 3), "int64"),
    ),
    "add in place": (lambda: zeros(1, 3).add_(zeros(2, 3)), Conflict(Kind.SIZE, Side(1, 0, 2), Side(0, 0, 1), None)),
    "mask": (
        lambda: zeros(2, 4, 8, 8).masked_fill(zeros(2, 8, 8, dtype=torch.bool), 0.0),
        Conflict(Kind.SIZE, Side(0, 1, 4), Side(1, 0, 2), None),
    ),
    "mask of numbers": (
        lambda: zeros(8, 8).masked_fill(zeros(8, 8), 0.0),
        Conflict(Kind.DTYPE, Side(1, None, 64), None, "bool"),
    ),
    "view": (lambda: zeros(2, 3, 4).view(2, 10), Conflict(Kind.VOLUME, Side(0, None, 24), None, 20)),
    "view of a rest": (lambda: zeros(2, 3, 4).view(-1, 5), Conflict(Kind.VOLUME, Side(0, None, 24), None, 5)),
    "view transposed": (lambda: zeros(3, 4).t().view(12), Conflict(Kind.LAYOUT, Side(0, None, 12), None, None)),
    "unflatten": (lambda: zeros(2, 30).unflatten(1, (4, 8)), Conflict(Kind.VOLUME, Side(0, 1, 30), None, 32)),
    "layer norm": (
        lambda: nn.functional.layer_norm(zeros(2, 5), (4,), zeros(4), zeros(4)),
        Conflict(Kind.SIZE, Side(0, 1, 5), Side(1, 0, 4), None),
    ),
    "group norm": (
        lambda: nn.functional.group_norm(zeros(2, 6, 4), 4),
        Conflict(Kind.DIVISIBILITY, Side(0, 1, 6), None, 4),
    ),
    "batch norm": (
        lambda: nn.functional.batch_norm(zeros(2, 6), zeros(5), zeros(5)),
        Conflict(Kind.SIZE, Side(0, 1, 6), Side(1, 0, 5), None),
    ),
    "embedding": (
        lambda: nn.functional.embedding(zeros(2, 3), zeros(10, 4)),
        Conflict(Kind.DTYPE, Side(0, None, 6), None, "int64"),
    ),
    "cross entropy": (
        lambda: nn.functional.cross_entropy(zeros(8, 10), zeros(7, dtype=torch.int64)),
        Conflict(Kind.SIZE, Side(0, 0, 8), Side(1, 0, 7), None),
    ),
    "index": (lambda: zeros(2, 3)[:, 3], Conflict(Kind.INDEX, Side(0, 1, 3), None, 3)),
    "too many indices": (lambda: zeros(2, 3)[0, 0, 0], Conflict(Kind.RANK, Side(0, None, 2), None, 3)),
    "dimension": (lambda: zeros(2, 3).softmax(2), Conflict(Kind.INDEX, Side(0, None, 2), None, 2)),
    "permute": (lambda: zeros(2, 3).permute(0, 2, 1), Conflict(Kind.RANK, Side(0, None, 2), None, 3)),
    "split": (lambda: zeros(2, 30).split([10, 10], 1), Conflict(Kind.SIZE, Side(0, 1, 30), None, 20)),
    "mse": (
        lambda: nn.functional.mse_loss(zeros(8, 3), zeros(8, 4)),
        Conflict(Kind.SIZE, Side(0, 1, 3), Side(1, 1, 4), None),
    ),
    "expand": (lambda: zeros(2, 3).expand(2, 4), Conflict(Kind.SIZE, Side(0, 1, 3), None, 4)),
    "attention": (
        lambda: nn.functional.scaled_dot_product_attention(zeros(2, 4, 8, 16), zeros(2, 4, 8, 32), zeros(2, 4, 8, 32)),
        Conflict(Kind.SIZE, Side(0, 3, 16), Side(1, 3, 32), None),
    ),
    "pool": (lambda: nn.functional.max_pool2d(zeros(1, 3, 4, 1), 2), Conflict(Kind.WINDOW, Side(0, 3, 1), None, 2)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_contradiction_names_both_sides(name: str) -> None:
    call, expected = REFUSED[name]
    assert judged(call) == (True, expected)


OVERLOADS = {
    "aten.mm.default": (zeros(2, 3), zeros(2, 3)),
    "aten.addmm.default": (zeros(5), zeros(2, 3), zeros(4, 5)),
    "aten.convolution.default": (zeros(1, 3, 8, 8), zeros(6, 4, 3, 3), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    "aten.cat.default": ([zeros(2, 3), zeros(2, 4)],),
    "aten.add.Tensor": (zeros(2, 3), zeros(4)),
    "aten.embedding.default": (zeros(10, 4), zeros(2, 3)),
    "aten.sum.dim_IntList": (zeros(2, 3), [5]),
}


@pytest.mark.parametrize("name", OVERLOADS)
def test_operators_are_known_by_overload_and_by_name(name: str) -> None:
    _, packet, overload = name.split(".")
    operator = getattr(getattr(torch.ops.aten, packet), overload)
    with pytest.raises((RuntimeError, IndexError)):
        operator(*OVERLOADS[name])
    told = conflict_of(operator, OVERLOADS[name], {})
    assert told is not None
    assert told == conflict_of(name, OVERLOADS[name], {})
    assert told.left.operand < len(operands_of(OVERLOADS[name], {}))


@pytest.mark.parametrize(
    ("module", "shape", "expected"),
    [
        (nn.LSTM(16, 4), (2, 5, 12), Conflict(Kind.SIZE, Side(0, 2, 12), None, 16)),
        (nn.GRUCell(16, 4), (2, 12), Conflict(Kind.SIZE, Side(0, 1, 12), None, 16)),
        (nn.BatchNorm2d(3), (2, 3), Conflict(Kind.RANK, Side(0, None, 2), None, 4)),
    ],
    ids=["lstm", "gru-cell", "batch-norm"],
)
def test_what_a_module_checks_itself(module: nn.Module, shape: tuple[int, ...], expected: Conflict) -> None:
    with pytest.raises((RuntimeError, ValueError)):
        module(zeros(*shape))
    assert conflict_of(module, (zeros(*shape),), {}) == expected


def test_tensors_are_counted_through_lists_and_names() -> None:
    told = conflict_of(torch.cat, ([zeros(2, 3), zeros(2, 3), zeros(3, 4)],), {"dim": 0})
    assert told == Conflict(Kind.SIZE, Side(0, 1, 3), Side(2, 1, 4), None)
    told = conflict_of(torch.addmm, (), {"input": zeros(5), "mat1": zeros(2, 3), "mat2": zeros(4, 5)})
    assert told == Conflict(Kind.SIZE, Side(1, 1, 3), Side(2, 0, 4), None)


def test_devices_that_do_not_meet() -> None:
    there = torch.zeros(3, 4, device="meta")
    told = conflict_of(torch.matmul, (zeros(2, 3), there), {})
    assert told == Conflict(Kind.DEVICE, Side(0, None, 6), Side(1, None, 12), "meta")
    assert conflict_of(torch.add, (there, torch.tensor(1.0)), {}) is None


def test_a_bias_is_added_to_the_product_of_an_input_that_is_no_block_of_memory() -> None:
    strided, double = zeros(3, 2, 1).permute(2, 1, 0), zeros(2, dtype=torch.float64)
    for arguments in ((strided, zeros(2, 3), double), (strided, zeros(3), zeros(2))):
        assert conflict_of(nn.functional.linear, arguments, {}) is None
        nn.functional.linear(*arguments)
        arguments = (arguments[0].contiguous(), *arguments[1:])
        assert conflict_of(nn.functional.linear, arguments, {}) is not None
        with pytest.raises(RuntimeError):
            nn.functional.linear(*arguments)


def test_what_is_not_known_has_no_contradiction() -> None:
    assert conflict_of(print, (1,), {}) is None
    assert conflict_of("aten.nothing.default", (zeros(2),), {}) is None
    assert conflict_of(torch.matmul, (zeros(2), None), {}) is None
    assert conflict_of(torch.cat, (), {}) is None


SIZE = st.sampled_from((1, 2, 3, 4))
SHAPE = st.lists(SIZE, min_size=0, max_size=4).map(tuple)
DIM = st.integers(-5, 5)
FLOATS = st.sampled_from((torch.float32, torch.float32, torch.float32, torch.float64))


@st.composite
def tensors(draw: st.DrawFn, shape: st.SearchStrategy[tuple[int, ...]] = SHAPE) -> torch.Tensor:
    """A tensor whose memory may lie in another order than its dimensions."""
    made = zeros(*draw(shape), dtype=draw(FLOATS))
    order = draw(st.permutations(range(made.dim())))
    inverse = [order.index(dim) for dim in range(made.dim())]
    return made.permute(order).contiguous().permute(inverse)


NEW_SIZES = st.lists(st.sampled_from((-1, 1, 2, 3)), min_size=1, max_size=5)
NEW_SHAPE = st.lists(st.sampled_from((1, 2, 3, 4, 6, 8, -1)), max_size=4).filter(lambda sizes: sizes.count(-1) < 2)
KERNEL_1D, KERNEL_2D = st.tuples(SIZE, SIZE, SIZE), st.tuples(SIZE, SIZE, SIZE, SIZE)
CHANNELS = st.tuples(st.just(2), st.integers(2, 6), st.just(3))
MATRIX = SHAPE.filter(lambda shape: len(shape) < 4)
NO_VECTOR = MATRIX.filter(lambda shape: len(shape) != 1)
CALLS: dict[str, Any] = {
    "matmul": (torch.matmul, tensors(), tensors()),
    "mm": (torch.mm, tensors(MATRIX), tensors(MATRIX)),
    "bmm": (torch.bmm, tensors(), tensors()),
    "addmm": (torch.addmm, tensors(MATRIX), tensors(MATRIX), tensors(MATRIX)),
    "linear": (nn.functional.linear, tensors(), tensors(MATRIX)),
    "linear with bias": (nn.functional.linear, tensors(), tensors(NO_VECTOR), tensors(st.tuples(SIZE))),
    "conv1d": (nn.functional.conv1d, tensors(), tensors(KERNEL_1D), st.none(), st.just(1), st.integers(0, 2)),
    "conv2d": (nn.functional.conv2d, tensors(), tensors(KERNEL_2D), st.none(), st.just(1), st.just(1)),
    "cat": (lambda a, b, c, dim: torch.cat([a, b, c], dim), tensors(), tensors(), tensors(), DIM),
    "stack": (lambda a, b, dim: torch.stack([a, b], dim), tensors(), tensors(), DIM),
    "add": (torch.add, tensors(), tensors()),
    "mul in place": (lambda a, b: a.clone().mul_(b), tensors(), tensors()),
    "where": (lambda m, a, b: torch.where(m > 0, a, b), tensors(), tensors(), tensors()),
    "masked_fill": (lambda a, m: a.masked_fill(m > 0, 0.0), tensors(), tensors()),
    "expand": (lambda a, sizes: a.expand(*sizes), tensors(), NEW_SIZES),
    "view": (lambda a, sizes: a.view(sizes), tensors(), NEW_SHAPE),
    "reshape": (lambda a, sizes: a.reshape(sizes), tensors(), NEW_SHAPE),
    "permute": (lambda a, dims: a.permute(dims), tensors(), st.lists(DIM, max_size=4)),
    "transpose": (torch.transpose, tensors(), DIM, DIM),
    "unsqueeze": (torch.unsqueeze, tensors(), DIM),
    "softmax": (torch.softmax, tensors(), DIM),
    "sum": (torch.sum, tensors(), DIM),
    "split": (torch.split, tensors(), st.lists(SIZE, min_size=1, max_size=3), DIM),
    "narrow": (torch.narrow, tensors(), DIM, st.integers(-3, 3), st.integers(0, 3)),
    "select": (torch.select, tensors(), DIM, st.integers(-4, 4)),
    "index": (lambda a, index: a[tuple(index)], tensors(), st.lists(st.integers(-3, 3), min_size=1, max_size=4)),
    "layer_norm": (nn.functional.layer_norm, tensors(), st.lists(SIZE, min_size=1, max_size=2)),
    "group_norm": (nn.functional.group_norm, tensors(CHANNELS), st.integers(1, 4)),
    "mse_loss": (nn.functional.mse_loss, tensors(), tensors()),
    "cross_entropy": (
        lambda a, shape: nn.functional.cross_entropy(a, zeros(*shape, dtype=torch.int64)),
        tensors(SHAPE.filter(bool)),
        SHAPE,
    ),
}


@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=120, deadline=None)
@given(data=st.data())
@pytest.mark.filterwarnings("ignore")
def test_a_contradiction_is_told_exactly_where_torch_refuses(name: str, data: st.DataObject) -> None:
    function, *strategies = CALLS[name]
    arguments = [data.draw(strategy) for strategy in strategies]
    refused, told = judged(lambda: function(*arguments))
    assert refused == (told is not None)
