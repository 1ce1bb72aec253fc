"""The roofline of a run: each expression by its operations a byte, below the roofs of the accelerator.

After Williams, Waterman and Patterson, "Roofline: an insightful visual performance model" (CACM 52, 2009). A dot stands
at the operations for each byte that has to cross the border of the memory however well ops are fused, and at the rate
of its bound, which nothing can be faster than; its area is its share of the bound. What counts no operations has no
place, and is named below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inductor_debug_schema.answers.cost_document import CostDocument, ExpressionCost

from inductor_debug.accelerators.profile import Profile
from inductor_debug.report.charts.canvas import INK, MUTED, plain, svg
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.roofs import ceilings_of
from inductor_debug.rules.amounts import in_thousands
from inductor_debug.system.matplotlib_figures import new_figure

_WIDTH, _HEIGHT = 9.0, 5.2
_MOST_NAMED = 8
_APART = 11
"""Points between two names."""
_FEWEST = 300.0
"""Operations a byte that there is room for at least: where the ceilings of fast cards begin."""
_MOST = 3e4
"""Operations a byte of what hardly moves any."""
_LARGEST_DOT = 900.0
_SMALLEST_DOT = 14.0
_DOT_COLOURS = {"memory": "#4c6a92", "compute": "#d07f4f", "launch": "#6b7280"}


def roofline(documents: Sequence[CostDocument], profile: Profile | None, places: FileNames) -> str:
    """An SVG with a chart for each document, one below the other.

    Raises:
        MatplotlibUnavailableError: matplotlib is not there.
    """
    made = new_figure(_WIDTH, _HEIGHT * max(len(documents), 1))
    for number, document in enumerate(documents):
        axes = made.add_subplot(len(documents), 1, number + 1)
        _draw(axes, document, profile, places)
    return svg(made)


def _draw(axes: Any, document: CostDocument, profile: Profile | None, places: FileNames) -> None:
    counted = [row for row in document.expressions if row.cost.operations and row.cost.seconds]
    low, high = 0.3, 3 * max([_FEWEST, *(_intensity(row) for row in counted)])
    axes.set_xscale("log")
    axes.set_yscale("log")
    _roofs(axes, profile, low, high)
    for row in counted:
        assert row.cost.seconds is not None
        share = row.cost.share or 0.0
        roof = row.cost.limited_by.value if row.cost.limited_by is not None else "launch"
        axes.scatter(
            [_intensity(row)],
            [row.cost.operations / row.cost.seconds],
            s=max(_LARGEST_DOT * share, _SMALLEST_DOT),
            color=_DOT_COLOURS.get(roof, MUTED),
            alpha=0.75,
            linewidths=0.5,
            edgecolors="white",
        )
    largest = sorted(counted, key=lambda row: -(row.cost.share or 0.0))[:_MOST_NAMED]
    for number, row in enumerate(sorted(largest, key=_intensity)):
        assert row.cost.seconds is not None
        axes.annotate(
            _name(row, places),
            (_intensity(row), row.cost.operations / row.cost.seconds),
            xytext=(-4, -_APART * (number + 2)),
            textcoords="offset points",
            fontsize=7,
            color=MUTED,
            ha="right",
            arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 0.4, "shrinkB": 3},
        )
    axes.set_xlim(low, high)
    on = document.title or document.run.accelerator or "an unknown accelerator"
    axes.set_title(f"{document.target} on {on}: what nothing can be faster than", loc="left", fontsize=10)
    axes.set_xlabel(_below(document, counted), fontsize=9)
    axes.set_ylabel("operations a second", fontsize=9)
    axes.yaxis.set_major_formatter(lambda value, _position: in_thousands(int(value)))
    axes.tick_params(labelsize=8)
    plain(axes)


def _roofs(axes: Any, profile: Profile | None, low: float, high: float) -> None:
    """The memory's slope, and a ceiling for each dtype whose rate is known."""
    speed = profile.speed if profile is not None else None
    bandwidth = speed.bytes_per_second if speed is not None else None
    ceilings = ceilings_of(profile)
    if bandwidth and ceilings:
        top = ceilings[0].operations_per_second
        axes.plot([low, top / bandwidth], [low * bandwidth, top], color=INK, linewidth=1.2)
    for ceiling in ceilings:
        rate = ceiling.operations_per_second
        start = rate / bandwidth if bandwidth else low
        axes.plot([start, high], [rate, rate], color=INK, linewidth=0.8)
        axes.annotate(
            ", ".join(ceiling.formats),
            (high, rate),
            xytext=(-3, 2),
            textcoords="offset points",
            fontsize=7,
            ha="right",
            color=INK,
        )


def _intensity(row: ExpressionCost) -> float:
    """Operations for each byte that has to cross."""
    return min(row.cost.operations / max(row.cost.crossing_bytes, 1), _MOST)


def _name(row: ExpressionCost, places: FileNames) -> str:
    backward = " (backward)" if row.backward else ""
    if row.path is None or row.range is None:
        return f"outside of the project{backward}"
    return f"{places.at(row.path, row.range.start.line)}{backward}"


def _below(document: CostDocument, counted: Sequence[ExpressionCost]) -> str:
    rest = sum(row.cost.share or 0.0 for row in document.expressions) - sum(row.cost.share or 0.0 for row in counted)
    words = "operations a byte; area: share of the bound; blue: memory, orange: compute"
    return f"{words}; {rest:.0%} of it counts no operations" if rest > 0.005 else words
