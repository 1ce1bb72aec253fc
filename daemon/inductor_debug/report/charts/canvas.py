"""Figures of matplotlib that belong to no window and to no global list, and SVG of them.

matplotlib is imported when a chart is drawn: it takes a second, and need not be installed.
"""

from __future__ import annotations

import importlib
import io
from typing import Any

INK, MUTED, GRID = "#1f4e79", "#6b7280", "#d9dde3"
COLOURS = {
    "parameter": "#4c6a92",
    "buffer": "#8fb3d9",
    "constant": "#c9b458",
    "input": "#7aa974",
    "saved": "#b9bec7",
    "activation": "#d07f4f",
}
"""Told apart by deuteranopes and protanopes, too, and in grey by their lightness."""


class ChartsUnavailableError(Exception):
    """There is no matplotlib that works in this interpreter."""


def figure(width: float, height: float) -> Any:
    """A figure of so many inches.

    Raises:
        ChartsUnavailableError: matplotlib is missing or broken.
    """
    try:
        figures = importlib.import_module("matplotlib.figure")
        backend = importlib.import_module("matplotlib.backends.backend_svg")
    except Exception as error:
        raise ChartsUnavailableError(
            f"charts need matplotlib, which this interpreter cannot import ({error}): pip install inductor-debug[plots]"
        ) from error
    made = figures.Figure(figsize=(width, height), layout="constrained")
    backend.FigureCanvasSVG(made)
    return made


def svg(made: Any) -> str:
    """A figure as SVG that is the same each time: without a date, and with ids that depend on what is drawn alone."""
    context = importlib.import_module("matplotlib").rc_context(
        {"svg.hashsalt": "inductor-debug", "svg.fonttype": "none"}
    )
    stream = io.StringIO()
    with context:
        made.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


def plain(axes: Any) -> None:
    """Takes away what says nothing: two of the four lines around the chart."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(True, color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
