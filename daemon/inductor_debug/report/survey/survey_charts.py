"""The charts of a survey as files: those of its page, drawn by matplotlib, each as SVG and PNG.

A chart of which there is nothing to draw is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from typing import Any

from inductor_debug_schema import DiffVerdict, SurveyRow

from inductor_debug.accelerators.document import ProfileError
from inductor_debug.accelerators.profile import NO_ACCELERATOR, load_document, read_profile
from inductor_debug.engine.survey.results_file import SurveyResults
from inductor_debug.report.charts.canvas import INK, MUTED, plain, svg
from inductor_debug.report.roofs import ceilings_of
from inductor_debug.report.survey.survey_columns import speed_up
from inductor_debug.rules.amounts import in_bytes, in_thousands
from inductor_debug.system.matplotlib_figures import new_figure

_SEVERITIES = ("#c93c37", "#d9822b", "#5b8fc7", "#a9bccf")
_VERDICTS = {DiffVerdict.PASS: "#4c9a6a", DiffVerdict.SUSPICIOUS: "#d9822b", DiffVerdict.WRONG: "#c93c37"}
_PHASES = {
    "Dynamo": "#4c6a92",
    "AOTAutograd": "#7d5ba6",
    "Inductor": "#3f9c8f",
    "kernels": "#d07f4f",
    "rest": "#b9c0c8",
}
_MOST_NAMED = 45
"""Models that are named beside the heat map."""
_MOST_BARS = 20
_SIZE = (8.0, 4.6)

Draw = Callable[[Sequence[SurveyRow]], Any]
"""A figure of rows, None where there is nothing to draw."""


def survey_charts(results: SurveyResults) -> Iterator[tuple[str, bytes]]:
    """The name of each file with its content.

    Raises:
        MatplotlibUnavailableError: matplotlib is not there.
    """
    rows = results.rows
    charts: list[tuple[str, Draw]] = [("rules", _heat_map), ("breaks", _breaks), ("compile-time", _phases)]
    charts += [("errors", _errors), ("speed-up", _speed_up)]
    for name in dict.fromkeys(column.accelerator for row in rows for column in row.columns):
        charts.append((f"memory-{_plain(name)}", lambda rows, name=name: _memory(rows, name)))  # type: ignore[misc]
        charts.append((f"roofline-{_plain(name)}", lambda rows, name=name: _roofline(rows, name)))  # type: ignore[misc]
    for name, draw in charts:
        figure = draw(rows)
        if figure is not None:
            yield f"{name}.svg", svg(figure).encode()
            picture = BytesIO()
            figure.savefig(picture, format="png")
            yield f"{name}.png", picture.getvalue()


def _heat_map(rows: Sequence[SurveyRow]) -> Any:
    rules = sorted({finding.rule for row in rows for finding in row.findings})
    if not rules:
        return None
    worst = [[9] * len(rules) for _ in rows]
    for cells, row in zip(worst, rows, strict=True):
        for finding in row.findings:
            place = rules.index(finding.rule)
            cells[place] = min(cells[place], finding.severity.rank)
    height = min(max(2.4, 1.6 + 0.2 * len(rows)), 14)
    figure, axes = _axes((max(5.0, 2.2 + 0.42 * len(rules)), height), "Models × rules, by the worst finding")
    image = [[_rgb(_SEVERITIES[rank]) if rank < len(_SEVERITIES) else (1.0, 1.0, 1.0) for rank in row] for row in worst]
    axes.imshow(image, aspect="auto", interpolation="nearest")
    axes.set_xticks(range(len(rules)), rules, rotation=45, ha="right", fontsize=8)
    if len(rows) <= _MOST_NAMED:
        axes.set_yticks(range(len(rows)), [row.model for row in rows], fontsize=8)
    return figure


def _breaks(rows: Sequence[SurveyRow]) -> Any:
    causes = [finding.cause for row in rows for finding in row.findings if finding.cause]
    counts = sorted((causes.count(cause), cause) for cause in set(causes))
    if not counts:
        return None
    figure, axes = _axes((_SIZE[0], 1.4 + 0.3 * len(counts)), "Graphs break by")
    axes.barh([cause for _, cause in counts], [count for count, _ in counts], color=_PHASES["Dynamo"])
    return figure


def _phases(rows: Sequence[SurveyRow]) -> Any:
    timed = [(row, document) for row in rows for document in row.measured if document.cold]
    timed.sort(key=lambda item: item[1].cold[0].seconds)
    shown = timed[-_MOST_BARS:]
    if not shown:
        return None
    figure, axes = _axes((_SIZE[0], 1.6 + 0.3 * len(shown)), "Compile time by phase, from cold")
    names = [f"{row.model}, {document.measured_backend}" for row, document in shown]
    left = [0.0] * len(shown)
    for phase, colour in _PHASES.items():
        parts = [document.cold[0].phases.get(phase, 0.0) for _, document in shown]
        axes.barh(names, parts, left=left, color=colour, label=phase)
        left = [start + part for start, part in zip(left, parts, strict=True)]
    axes.set_xlabel("seconds", fontsize=9)
    axes.legend(fontsize=8)
    return figure


def _errors(rows: Sequence[SurveyRow]) -> Any:
    found = [(one.verdict, one.error) for row in rows for one in row.compared if one.error is not None and one.verdict]
    groups = {
        verdict: [math.log10(max(error, 1e-3)) for kind, error in found if kind is verdict] for verdict in _VERDICTS
    }
    groups = {verdict: values for verdict, values in groups.items() if values}
    if not groups:
        return None
    figure, axes = _axes(_SIZE, "Errors over the error to expect")
    colours = [_VERDICTS[verdict] for verdict in groups]
    axes.hist(list(groups.values()), bins=30, stacked=True, color=colours, label=[verdict.value for verdict in groups])
    axes.xaxis.set_major_formatter(lambda value, _position: f"{10**value:.3g}")
    axes.set_ylabel("models", fontsize=9)
    axes.legend(fontsize=8)
    return figure


def _speed_up(rows: Sequence[SurveyRow]) -> Any:
    found = sorted(
        (ratio for row in rows for one in row.measured if (ratio := speed_up(one)) is not None), reverse=True
    )
    if not found:
        return None
    figure, axes = _axes(_SIZE, "Speed-up against eager")
    axes.scatter(range(1, len(found) + 1), found, s=14, color=_PHASES["Dynamo"])
    axes.axhline(1.0, color=INK, linewidth=0.8)
    axes.set_xlabel("models, the largest first", fontsize=9)
    return figure


def _memory(rows: Sequence[SurveyRow], name: str) -> Any:
    peaks = [column.peak_bytes for row in rows for column in row.columns if column.accelerator == name]
    known = sorted((peak for peak in peaks if peak), reverse=True)
    if not known:
        return None
    figure, axes = _axes(_SIZE, "Peak memory" + ("" if name == NO_ACCELERATOR else f" on {name}"))
    axes.set_yscale("log", base=2)
    axes.scatter(range(1, len(known) + 1), known, s=14, color=_PHASES["Dynamo"])
    axes.yaxis.set_major_formatter(lambda value, _position: in_bytes(int(value)))
    axes.set_xlabel("models, the largest first", fontsize=9)
    return figure


def _roofline(rows: Sequence[SurveyRow], name: str) -> Any:
    dots = [
        (column.flops / column.moved_bytes, column.flops / column.seconds_at_least)
        for row in rows
        for column in row.columns
        if column.accelerator == name and column.flops and column.moved_bytes and column.seconds_at_least
    ]
    if not dots:
        return None
    figure, axes = _axes(_SIZE, f"Roofline on {name}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.scatter([x for x, _ in dots], [y for _, y in dots], s=16, color=_PHASES["Dynamo"], alpha=0.75)
    try:
        profile = read_profile(load_document(name))
    except ProfileError:
        profile = None
    for ceiling in ceilings_of(profile):
        axes.axhline(ceiling.operations_per_second, color=MUTED, linewidth=0.7)
        axes.annotate(
            ", ".join(ceiling.formats),
            (1, ceiling.operations_per_second),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize=7,
            color=MUTED,
        )
    axes.set_xlabel("operations for each byte that has to cross", fontsize=9)
    axes.set_ylabel("operations a second, at best", fontsize=9)
    axes.yaxis.set_major_formatter(lambda value, _position: in_thousands(float(value)))
    return figure


def _axes(size: tuple[float, float], title: str) -> tuple[Any, Any]:
    figure = new_figure(*size)
    axes = figure.add_subplot(1, 1, 1)
    axes.set_title(title, loc="left", fontsize=10)
    axes.tick_params(labelsize=8)
    plain(axes)
    return figure, axes


def _rgb(colour: str) -> tuple[float, float, float]:
    return tuple(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))  # type: ignore[return-value]


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
