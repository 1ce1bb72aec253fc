"""Memory over a run: what is alive while each operation runs, by kind, with its peak."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema.answers.memory_document import MemoryDocument

from inductor_debug.report.charts.canvas import COLOURS, INK, plain, svg
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.memory_words import KINDS_OF_MEMORY
from inductor_debug.rules.amounts import in_bytes
from inductor_debug.system.matplotlib_figures import new_figure

_WIDTH, _HEIGHT = 9.0, 3.4
_STEPS = 4
"""Lines across, or up to twice as many, each at a power of two."""


def memory_chart(documents: Sequence[MemoryDocument], places: FileNames) -> str:
    """An SVG with a chart for each document, one below the other.

    Raises:
        MatplotlibUnavailableError: matplotlib is not there.
    """
    drawn = [document for document in documents if document.peak >= 0]
    made = new_figure(_WIDTH, _HEIGHT * max(len(drawn), 1))
    for number, document in enumerate(drawn):
        axes = made.add_subplot(len(drawn), 1, number + 1)
        steps = range(document.operations + 1)
        values = [[*kind.bytes, kind.bytes[-1]] for kind in document.kinds]
        labels = [KINDS_OF_MEMORY[kind.kind] for kind in document.kinds]
        colours = [COLOURS[kind.kind] for kind in document.kinds]
        axes.stackplot(steps, *values, labels=labels, colors=colours, step="post", linewidth=0)
        where = "" if document.place is None else _line(document, places)
        axes.axvline(document.peak + 0.5, color=INK, linewidth=0.8, linestyle="--")
        axes.annotate(
            f"{in_bytes(document.peak_bytes)}{where}",
            (document.peak + 0.5, document.peak_bytes),
            xytext=(4, 4),
            textcoords="offset points",
            color=INK,
            fontsize=8,
            ha="left" if document.peak < document.operations / 2 else "right",
        )
        axes.set_title(f"{document.target}: memory over its run", loc="left", fontsize=10)
        axes.set_xlabel("operation", fontsize=9)
        axes.set_ylabel("bytes alive", fontsize=9)
        axes.set_xlim(0, max(document.operations, 1))
        axes.set_ylim(0, document.peak_bytes * 1.15 or 1)
        step = 1 << max((document.peak_bytes // _STEPS).bit_length() - 1, 0)
        axes.set_yticks(range(0, int(document.peak_bytes * 1.15) + 1, step))
        axes.yaxis.set_major_formatter(lambda value, _position: in_bytes(int(value)))
        axes.tick_params(labelsize=8)
        axes.legend(fontsize=8, loc="upper left", framealpha=0.8, ncols=len(labels))
        plain(axes)
    return svg(made)


def _line(document: MemoryDocument, places: FileNames) -> str:
    assert document.place is not None
    return f" at {places.at(document.place.path, document.place.range.start.line)}"
