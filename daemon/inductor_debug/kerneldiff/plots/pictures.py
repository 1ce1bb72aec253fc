"""Which pictures a comparison is worth: a summary, the growth of errors, and the worst results element by element.

It chooses and names; `plots` draws.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import torch

from inductor_debug.kerneldiff.execution.structure import Pair
from inductor_debug.kerneldiff.judging.diff_report import DiffReport, NodeError, TensorResult, Verdict
from inductor_debug.kerneldiff.plots.plots import OutputSummary, growth, heatmap, histogram, summary

_MOST_RESULTS = 4


def pictures_of(report: DiffReport, compared: Sequence[Pair]) -> Iterator[tuple[str, bytes]]:
    """Titles and PNGs.

    Args:
        report: the outcome.
        compared: the values of its results, by path.

    Raises:
        MatplotlibUnavailableError: matplotlib is not installed.
    """
    results = [result for result in (*report.outputs, *report.gradients) if result.comparison is not None]
    title = f"{report.target}: {report.backend} against {report.reference}"
    if results:
        yield f"{title}, summary", summary([_summary(result) for result in results], title)
    if report.nodes:
        blamed = {(blame.graph, blame.node) for blame in report.blame}
        marked = [place for place, node in enumerate(report.nodes) if (node.graph, node.node) in blamed]
        isolated = [_relative(node.isolated) for node in report.nodes]
        accumulated = [_relative(node.accumulated) for node in report.nodes]
        yield f"{title}, growth of errors", growth(isolated, accumulated, marked, title)
    values = {pair.path: pair for pair in compared}
    for result in sorted(results, key=lambda found: (-found.verdict.rank, -(found.ratio or 0.0)))[:_MOST_RESULTS]:
        pair = values.get(result.name)
        if pair is None or not _drawable(pair):
            continue
        yield f"{title}, {result.name}, heatmap", heatmap(pair.reference, pair.actual, result.name)
        yield f"{title}, {result.name}, histogram", histogram(pair.reference, pair.actual, result.name)


def file_name(title: str) -> str:
    """A title as the name of a file."""
    return re.sub(r"[^\w.-]+", "_", title).strip("_") + ".png"


def _summary(result: TensorResult) -> OutputSummary:
    assert result.comparison is not None
    metrics = result.comparison.metrics
    error = None
    if metrics.rmse is not None and metrics.norm_reference and metrics.elements:
        error = metrics.rmse * metrics.elements**0.5 / metrics.norm_reference
    expected = error / result.ratio if error and result.ratio and 0 < result.ratio < float("inf") else None
    return OutputSummary(result.name, error, expected, result.verdict is Verdict.PASS)


def _relative(error: NodeError | None) -> float | None:
    return None if error is None or error.invalid else error.relative


def _drawable(pair: Pair) -> bool:
    both = (pair.reference, pair.actual)
    return all(isinstance(value, torch.Tensor) for value in both) and pair.reference.shape == pair.actual.shape
