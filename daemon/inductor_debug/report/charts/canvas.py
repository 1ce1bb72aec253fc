"""What charts share: colours, the lines around them, and SVG of a figure."""

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
