"""Errors of outputs as small tables for a page that draws them: where they are, and how they are distributed.

A map has at most `_MOST_CELLS` cells along each of the last two dimensions and `_MOST_SLICES` tables in all. A cell
holds the largest absolute error of the elements that it stands for, so nothing large is lost by making the table small.
Memory is bounded by blocks, whatever the size of the tensors. Nothing is drawn or judged here.

The file is one msgpack map; numbers are little-endian columns (`f4` and `f8`), as in `artifacts.graph_columns`.

    format   "inductor-debug-diff-maps"
    schema   1
    target, backend    str
    outputs  [{name: str,
               shape: [int], the tensor's,
               bins: [int], cells along each dimension (a 0-d tensor has none),
               steps: [int], elements of a dimension that a cell stands for,
               cells: f4 in row-major order; infinite where only one side is finite,
               first_decade, bins_per_decade: int, counts: f8, the histogram of log10 of the errors,
               equal, invalid: int, elements without any difference, and those where only one side is finite}]
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgpack
import torch
from torch import Tensor

from inductor_debug.kerneldiff.execution.structure import Pair
from inductor_debug.kerneldiff.judging.diff_report import DiffReport
from inductor_debug.kerneldiff.plots.plots import errors_of

FORMAT = "inductor-debug-diff-maps"
SCHEMA = 1
MEDIA_TYPE = "application/vnd.inductor-debug.diff-maps+msgpack"
SUFFIX = ".maps"

_MOST_CELLS = 256
_MOST_COLUMNS = 1024
"""Cells of a tensor of one dimension."""
_MOST_SLICES = 64
_MOST_IN_ALL = 1 << 20
"""Cells of one tensor, so that a file has 4 MiB for each."""
_MOST_OUTPUTS = 12
_BLOCK = 1 << 20
"""Elements that are looked at together."""
_QUICK = frozenset({torch.float32, torch.float16, torch.bfloat16})
_FIRST_DECADE, _DECADES, _BINS_PER_DECADE = -30, 60, 5


@dataclass
class Histogram:
    """How many errors there are of each size."""

    counts: Tensor = field(default_factory=lambda: torch.zeros(_DECADES * _BINS_PER_DECADE, dtype=torch.float64))
    equal: int = 0
    invalid: int = 0

    def take(self, errors: Tensor) -> None:
        """Counts a block of absolute errors."""
        invalid = int(torch.isinf(errors).sum())
        equal = int((errors == 0).sum())
        if equal + invalid < errors.numel():
            last = _FIRST_DECADE + _DECADES
            logarithms = errors.clamp(10.0**_FIRST_DECADE, 10.0**last).log10_()
            counts = torch.histc(logarithms, len(self.counts), _FIRST_DECADE, last).to(torch.float64)
            counts[0] -= equal
            counts[-1] -= invalid
            self.counts += counts
        self.equal += equal
        self.invalid += invalid


@dataclass(frozen=True)
class ErrorMap:
    """The errors of one tensor: `cells` has the shape `bins`, `steps` are the elements of a dimension in a cell."""

    name: str
    shape: tuple[int, ...]
    steps: tuple[int, ...]
    cells: Tensor
    histogram: Histogram


def error_maps(report: DiffReport, compared: Sequence[Pair]) -> bytes:
    """The file for a comparison: its outputs and gradients that are pairs of tensors of one shape, the worst first.

    Args:
        report: the outcome.
        compared: the values of its results, by path.
    """
    maps = [error_map(pair.path, pair.reference, pair.actual) for pair in _chosen(report, compared)]
    content = {
        "format": FORMAT,
        "schema": SCHEMA,
        "target": report.target,
        "backend": report.backend,
        "outputs": [_document(made) for made in maps],
    }
    return bytes(msgpack.packb(content, use_bin_type=True, unicode_errors="replace"))


def error_map(name: str, reference: Tensor, actual: Tensor) -> ErrorMap:
    """Where two tensors of one shape differ, and by how much."""
    shape = tuple(reference.shape)
    steps = _steps(shape)
    histogram = Histogram()
    if reference.numel() == 0:
        cells = torch.zeros([-(-size // step) for size, step in zip(shape, steps, strict=True)])
    else:
        cells = _pooled(reference, actual, steps, histogram)
    return ErrorMap(name, shape, steps, cells, histogram)


def _chosen(report: DiffReport, compared: Sequence[Pair]) -> Iterator[Pair]:
    values = {pair.path: pair for pair in compared}
    results = [*report.outputs, *report.gradients]
    found = 0
    for result in sorted(results, key=lambda one: (-one.verdict.rank, -(one.ratio or 0.0))):
        pair = values.get(result.name)
        if result.comparison is None or pair is None or found == _MOST_OUTPUTS:
            continue
        both = (pair.reference, pair.actual)
        if all(isinstance(side, Tensor) for side in both) and pair.reference.shape == pair.actual.shape:
            found += 1
            yield pair


def _steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """How many elements of each dimension become one cell."""
    if len(shape) < 2:
        return tuple(-(-size // min(max(size, 1), _MOST_COLUMNS)) or 1 for size in shape)
    steps = [1] * len(shape)
    bins = [max(size, 1) for size in shape]

    def coarser(dimension: int) -> None:
        steps[dimension] *= 2
        bins[dimension] = max(-(-shape[dimension] // steps[dimension]), 1)

    while math.prod(bins[:-2]) > _MOST_SLICES:
        coarser(max(range(len(shape) - 2), key=bins.__getitem__))
    for dimension in (-2, -1):
        steps[dimension] = max(-(-shape[dimension] // _MOST_CELLS), 1)
        bins[dimension] = max(-(-shape[dimension] // steps[dimension]), 1)
    while math.prod(bins) > _MOST_IN_ALL:
        coarser(max((len(shape) - 2, len(shape) - 1), key=bins.__getitem__))
    return tuple(steps)


def _pooled(reference: Tensor, actual: Tensor, steps: tuple[int, ...], histogram: Histogram) -> Tensor:
    """The largest error of each cell. Tensors that are too large for a block are cut in two until they are not."""
    if reference.numel() <= _BLOCK:
        errors = _errors(reference, actual)
        histogram.take(errors)
        return _largest(errors, steps)
    dimension = next(number for number, size in enumerate(reference.shape) if size > 1)
    size, step = reference.shape[dimension], steps[dimension]
    inside = size <= step  # one cell: its halves are laid over each other, otherwise they come one after the other
    middle = size // 2 if inside else (-(-size // step) // 2) * step
    halves = [
        _pooled(reference.narrow(dimension, start, length), actual.narrow(dimension, start, length), steps, histogram)
        for start, length in ((0, middle), (middle, size - middle))
    ]
    return torch.maximum(*halves) if inside else torch.cat(halves, dimension)


def _errors(reference: Tensor, actual: Tensor) -> Tensor:
    """Absolute errors as float32, infinite where only one side is finite; quickly where both are."""
    dtypes = {reference.dtype, actual.dtype}
    if dtypes <= _QUICK and reference.device == actual.device and reference.layout is actual.layout is torch.strided:
        errors = (actual.detach().to(torch.float32) - reference.detach().to(torch.float32)).abs_().cpu()
        if bool(torch.isfinite(errors.sum())):
            return errors
    return errors_of(reference, actual).to(torch.float32)


def _largest(errors: Tensor, steps: tuple[int, ...]) -> Tensor:
    for dimension, step in enumerate(steps):
        if step == 1:
            continue
        missing = -errors.shape[dimension] % step
        if missing:
            padding = list(errors.shape)
            padding[dimension] = missing
            errors = torch.cat([errors, errors.new_zeros(padding)], dimension)
        split = [*errors.shape[:dimension], -1, step, *errors.shape[dimension + 1 :]]
        errors = errors.reshape(split).amax(dimension + 1)
    return errors


def _document(made: ErrorMap) -> dict[str, object]:
    counts = made.histogram.counts
    used = torch.nonzero(counts).flatten().tolist()
    first = used[0] // _BINS_PER_DECADE if used else 0
    last = used[-1] // _BINS_PER_DECADE + 1 if used else 0
    return {
        "name": made.name,
        "shape": list(made.shape),
        "bins": list(made.cells.shape),
        "steps": list(made.steps),
        "cells": _column("f", made.cells.flatten().tolist()),
        "first_decade": _FIRST_DECADE + first,
        "bins_per_decade": _BINS_PER_DECADE,
        "counts": _column("d", counts[first * _BINS_PER_DECADE : last * _BINS_PER_DECADE].tolist()),
        "equal": made.histogram.equal,
        "invalid": made.histogram.invalid,
    }


def _column(code: str, values: Iterable[float]) -> bytes:
    column = array(code, values)
    if sys.byteorder == "big":
        column.byteswap()
    return column.tobytes()
