"""Figures of matplotlib that belong to no window and to no global list.

The only module that finds matplotlib, which takes a second to import and may be missing in the user's interpreter: it
is imported when a figure is made. Nothing here draws or writes files.
"""

from __future__ import annotations

import importlib
from typing import Any


class MatplotlibUnavailableError(Exception):
    """There is no matplotlib that works in this interpreter. The message says what to install."""


def new_figure(width: float, height: float) -> Any:
    """A figure of so many inches, which saves itself as PNG and as SVG.

    Raises:
        MatplotlibUnavailableError: matplotlib is missing or broken.
    """
    try:
        figures = importlib.import_module("matplotlib.figure")
        backend = importlib.import_module("matplotlib.backends.backend_agg")
    except Exception as error:
        raise MatplotlibUnavailableError(
            f"pictures need matplotlib, which this interpreter cannot import ({error}); pip install matplotlib"
        ) from error
    figure = figures.Figure(figsize=(width, height), dpi=110, layout="constrained")
    backend.FigureCanvasAgg(figure)
    return figure
