"""Pictures of differences for reports and scripts: matplotlib figures as PNG files in memory.

Where matplotlib is missing, each raises `MatplotlibUnavailableError`. Nothing here writes files or opens windows; no
global state of matplotlib is touched.
"""

from __future__ import annotations

import importlib
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from inductor_debug.kerneldiff.metrics.wide_devices import widenable
from inductor_debug.system.matplotlib_figures import new_figure

_MOST_CELLS = 512
"""Rows and columns that a heatmap shows at most; larger tensors are shown by the largest error of each cell."""
_MOST_SAMPLES = 1 << 20
_FLOOR = 1e-30
_INK, _MUTED, _WARN = "#1f4e79", "#8a8f98", "#c0392b"


@dataclass(frozen=True, slots=True)
class OutputSummary:
    """One output in the summary picture: its name, relative error (0 for none, None for no number) and verdict."""

    name: str
    error: float | None
    expected: float | None
    passed: bool


def heatmap(reference: Tensor, actual: Tensor, title: str = "") -> bytes:
    """Where `actual` differs from `reference`, and by how much: a PNG.

    Any number of dimensions: 0-d is one cell, 1-d is folded into rows, more than two are laid side by side as tiles of
    the last two. Places where only one side is finite are red.
    """
    errors, folded = _cells(reference, actual)
    figure = new_figure(7.2, 5.6)
    axes = figure.add_subplot()
    finite = torch.isfinite(errors)
    largest = float(errors[finite].max()) if bool(finite.any()) else 0.0
    if largest > 0:
        smallest = max(float(errors[finite & (errors > 0)].min()), largest * 1e-8)
        norm = importlib.import_module("matplotlib.colors").LogNorm(smallest, max(largest, smallest * 10))
        shown = errors.clamp_min(0).masked_fill(~finite, math.nan).masked_fill(errors == 0, smallest / 2)
        colours = importlib.import_module("matplotlib").colormaps["viridis"].with_extremes(bad=_WARN, under="#f2f2f2")
        image = axes.imshow(
            shown.tolist(), norm=norm, cmap=colours, aspect="auto", interpolation="nearest", extent=folded.extent
        )
        figure.colorbar(image, ax=axes, label="absolute error", extend="min")
    else:
        colours = importlib.import_module("matplotlib.colors").ListedColormap(["#f2f2f2", _WARN])
        axes.imshow(
            (~finite).int().tolist(),
            cmap=colours,
            vmin=0,
            vmax=1,
            aspect="auto",
            interpolation="nearest",
            extent=folded.extent,
        )
        if bool(finite.all()):
            axes.text(0.5, 0.5, "no difference", transform=axes.transAxes, ha="center", va="center", color=_MUTED)
    axes.set_title(_titled(title or "absolute error", reference), fontsize=10)
    odd = int((~finite).sum())
    axes.set_xlabel(f"{folded.across}; red: not finite on one side only" if odd else folded.across, fontsize=9)
    axes.set_ylabel(folded.down, fontsize=9)
    if errors.numel() == 1:
        axes.set_xticks([])
        axes.set_yticks([])
    if errors.numel() == 1 and not bool((errors == 0).all()):
        words = f"{largest:.3g}" if bool(finite.all()) else "not finite"
        box = {"facecolor": "white", "edgecolor": "none"}
        axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", bbox=box)
    return _png(figure)


def histogram(reference: Tensor, actual: Tensor, title: str = "") -> bytes:
    """How errors are distributed by magnitude, beside how many elements agree exactly or are not finite: a PNG."""
    errors = errors_of(_sample(reference), _sample(actual))
    finite = errors[torch.isfinite(errors)]
    differing = finite[finite > 0]
    figure = new_figure(7.2, 4.2)
    axes = figure.add_subplot()
    if differing.numel():
        logarithms = differing.clamp_min(_FLOOR).log10()
        low, high = math.floor(float(logarithms.min())), math.ceil(float(logarithms.max()))
        edges = torch.linspace(low, max(high, low + 1), 61, dtype=torch.float64)
        counts = torch.histogram(logarithms, edges).hist
        axes.stairs(counts.tolist(), (10**edges).tolist(), fill=True, color=_INK)
        axes.set_xscale("log")
        axes.set_yscale("log" if float(counts.max()) > 1000 else "linear")
    else:
        axes.text(0.5, 0.5, "no difference", transform=axes.transAxes, ha="center", va="center", color=_MUTED)
    equal, odd = int((finite == 0).sum()), errors.numel() - finite.numel()
    axes.set_xlabel(f"absolute error ({equal:,} elements agree exactly, {odd:,} are not finite)", fontsize=9)
    axes.set_ylabel("elements", fontsize=9)
    axes.set_title(_titled(title or "distribution of errors", reference), fontsize=10)
    return _png(figure)


def summary(outputs: Sequence[OutputSummary], title: str = "") -> bytes:
    """All outputs beside each other: each one's error, and the error to expect of its precision: a PNG."""
    figure = new_figure(7.2, max(2.2, 0.8 + 0.34 * len(outputs)))
    axes = figure.add_subplot()
    places = list(range(len(outputs)))
    known = [value for output in outputs for value in (output.error, output.expected) if value]
    floor = min(known, default=1e-9) / 10
    ceiling = max(known, default=1.0) * 30
    lengths = [ceiling if output.error is None else max(output.error, floor) for output in outputs]
    axes.barh(places, lengths, color=[_INK if output.passed else _WARN for output in outputs], height=0.6)
    for place, output in zip(places, outputs, strict=True):
        if output.expected:
            axes.plot([output.expected] * 2, [place - 0.4, place + 0.4], color="black", linewidth=2)
        text = "not finite" if output.error is None else ("exact" if output.error == 0 else f"{output.error:.2g}")
        start = floor if output.error is None else lengths[place]
        colour = "white" if output.error is None else "black"
        axes.annotate(text, (start, place), (4, 0), textcoords="offset points", va="center", fontsize=8, color=colour)
    axes.set_xscale("log")
    axes.set_xlim(floor, ceiling)
    axes.set_yticks(places, [_short(output.name) for output in outputs], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("relative error (bar: backend, red: wrong; line: to be expected of the precision)", fontsize=9)
    axes.set_title(title or "outputs", fontsize=10)
    return _png(figure)


def growth(
    isolated: Sequence[float | None], accumulated: Sequence[float | None], blamed: Sequence[int] = (), title: str = ""
) -> bytes:
    """How the error grows along the graph: a PNG.

    Args:
        isolated: each operation's own relative error, in the order of the graph; None where there is none.
        accumulated: the error of its result in the whole chain.
        blamed: places of operations to be marked.
        title: above the picture.
    """
    figure = new_figure(8.4, 4.2)
    axes = figure.add_subplot()
    for values, label, colour, mark in (
        (accumulated, "accumulated along the graph", _INK, "-"),
        (isolated, "of the operation alone", _MUTED, "."),
    ):
        shown = [math.nan if value is None or not value > 0 else value for value in values]
        axes.plot(range(len(shown)), shown, mark, color=colour, label=label, markersize=4, linewidth=1.4)
    for number, place in enumerate(blamed):
        axes.axvline(place, color=_WARN, linewidth=1.2, linestyle="--", label="blamed" if number == 0 else None)
    if any(value and value > 0 for value in (*isolated, *accumulated)):
        axes.set_yscale("log")
    axes.set_xlabel("operations in the order of the graph", fontsize=9)
    axes.set_ylabel("relative error", fontsize=9)
    axes.set_title(title or "error along the graph", fontsize=10)
    axes.grid(True, axis="y", color="#e6e6e6", linewidth=0.6)
    axes.legend(fontsize=8, frameon=False)
    return _png(figure)


@dataclass(frozen=True, slots=True)
class _Axes:
    """What the rows and columns of a heatmap stand for."""

    down: str
    across: str
    rows: int = 1
    columns: int = 1

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """The corners of the picture, in rows and columns of the table before cells were joined."""
        return -0.5, self.columns - 0.5, self.rows - 0.5, -0.5


def _cells(reference: Tensor, actual: Tensor) -> tuple[Tensor, _Axes]:
    """The errors as a table of at most `_MOST_CELLS` rows and columns."""
    shape = tuple(reference.shape)
    if reference.numel() == 0:
        return torch.zeros(1, 1, dtype=torch.float64), _Axes("", "no elements")
    if len(shape) < 2:
        width = min(shape[0] if shape else 1, max(math.isqrt(shape[0] if shape else 1), 64))
        rows = -(-reference.numel() // width)
        axes = _Axes(
            "rows" if rows > 1 else "",
            f"{width} elements a row, {reference.numel()} in all" if shape else "one number",
            rows,
            width,
        )
        padded = _padded(reference, rows * width).view(rows, width), _padded(actual, rows * width).view(rows, width)
        return _reduced(*padded), axes
    height, width = shape[-2:]
    tiles = math.prod(shape[:-2])
    across = max(math.isqrt(max(tiles * height // max(width, 1), 1)), 1) if tiles > 1 else 1
    down = -(-tiles // across)
    left, right = (
        _padded(side.reshape(tiles, -1), down * across * height * width)
        .view(down, across, height, width)
        .transpose(1, 2)
        .reshape(down * height, across * width)
        for side in (reference, actual)
    )
    if tiles == 1:
        return _reduced(left, right), _Axes(
            f"dimension {len(shape) - 2} (of {height})", f"last dimension (of {width})", height, width
        )
    axes = _Axes(
        f"{down} tiles of {height} rows", f"{across} tiles of {width} columns: the last two dimensions", *left.shape
    )
    return _reduced(left, right), axes


def _padded(values: Tensor, elements: int) -> Tensor:
    """Flat, with zeros up to `elements`: places that both sides have and that so never differ."""
    flat = values.reshape(-1)
    missing = elements - flat.numel()
    return flat if not missing else torch.cat([flat, flat.new_zeros(missing)])


def _reduced(reference: Tensor, actual: Tensor) -> Tensor:
    """The largest error of each cell; infinite where a cell has a place with one side not finite."""
    rows, columns = reference.shape
    step = max(-(-rows // _MOST_CELLS), 1)
    found = []
    for start in range(0, rows, step):
        errors = errors_of(reference[start : start + step], actual[start : start + step]).amax(0)
        wide = max(-(-columns // _MOST_CELLS), 1)
        missing = -columns % wide
        if missing:
            errors = torch.cat([errors, errors.new_zeros(missing)])
        found.append(errors.view(-1, wide).amax(1))
    return torch.stack(found)


def errors_of(reference: Tensor, actual: Tensor) -> Tensor:
    """Absolute errors as float64: 0 where both are the same NaN or infinity, infinite where only one is."""
    left = _wide(reference)
    right = _wide(actual).to(left.device)
    same = (left == right) | (left.isnan() & right.isnan())
    errors = (right - left).abs().masked_fill(same, 0)
    return errors.masked_fill(~torch.isfinite(errors), math.inf).cpu()


def _wide(values: Tensor) -> Tensor:
    values = widenable(values.detach())
    values = values.dequantize() if values.is_quantized else values
    return values.to(torch.complex128 if values.is_complex() else torch.float64)


def _sample(values: Tensor) -> Tensor:
    """At most `_MOST_SAMPLES` elements, evenly spread."""
    flat = values.reshape(-1)
    return flat[:: max(flat.numel() // _MOST_SAMPLES, 1)]


def _titled(title: str, tensor: Tensor) -> str:
    return f"{_short(title, 70)}   {list(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"


def _short(text: str, most: int = 38) -> str:
    return text if len(text) <= most else f"{text[: most - 12]}...{text[-9:]}"


def _png(figure: Any) -> bytes:
    content = io.BytesIO()
    # Without the software's version and the date: the same tensors give the same bytes.
    figure.savefig(content, format="png", metadata={"Software": None})
    return content.getvalue()
