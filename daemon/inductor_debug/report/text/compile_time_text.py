"""Where compiling a target spends its time (`measuring.compile_times`) as tables: `analyze --type time`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inductor_debug_schema import AlikeModules, CompileExpression, CompileTimeDocument, CompileTrials

from inductor_debug.report.cells import one_line, printable, shortened, width_of
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler
from inductor_debug.rules.amounts import counted, in_seconds
from inductor_debug.rules.words.compile_time_words import WAY_WORDS, result_of

_MOST_ROWS = 15
_LONGEST_SOURCE = 48
_COLUMNS = ("time", "share")


class CompileTimeText:
    """Writes compile-time documents for people."""

    def __init__(self, places: FileNames, sources: ShownTexts, styler: Styler) -> None:
        self._places = places
        self._sources = sources
        self._paint = styler.paint

    def text(self, document: CompileTimeDocument) -> str:
        """One document, with a line break at its end."""
        return "\n".join(self._lines(document)) + "\n"

    def _lines(self, document: CompileTimeDocument) -> Iterator[str]:
        shown = self._places.shown(document.path)
        heading = f"{shown}, compile time as logged" if document.logged else f"{shown}::{document.target}, compile time"
        yield self._paint(printable(heading), Role.HEADING)
        if document.problem:
            yield f"  {printable(one_line(document.problem))}"
        if not document.seconds:
            yield "  nothing was compiled"
            return
        parts = {phase.part: 0.0 for phase in document.compile_phases}
        for phase in document.compile_phases:
            parts[phase.part] += phase.seconds
        total = document.seconds
        shares = ", ".join(f"{part} {seconds / total:.0%}" for part, seconds in parts.items())
        yield _row("compiling", f"{in_seconds(total)} for {counted(document.graphs, 'graph')} ({shares})")
        if document.logged:
            yield _row("of it", f"{document.placed / total:.0%} is of functions that the log names")
            yield from self._phases(document)
            rows = [(self._function(row), row.seconds) for row in document.expressions if row.path is not None]
            yield from self._table("function", rows, total)
            return
        yield _row("of it", f"{document.placed / total:.0%} is work on your expressions, the rest on whole graphs")
        yield _row("before it", f"{in_seconds(document.start_up)} once in every process, whatever it compiles first")
        yield _row("not in it", "building kernels, for which compilers of C++ or Triton are started at the end")
        yield from self._phases(document)
        rows = [(self._expression(row), row.seconds) for row in document.expressions if row.path is not None]
        yield from self._table("expression", rows, total)
        rows = [(_named(row), row.seconds) for row in document.alike]
        yield from self._table("module, with all in it", rows, total)
        if document.tried is not None:
            yield ""
            yield from self._tried(document.tried)

    def _phases(self, document: CompileTimeDocument) -> Iterator[str]:
        rows = [(f"{row.part}: {row.phase}", row.seconds) for row in document.compile_phases]
        yield from self._table("phase", sorted(rows, key=lambda row: -row[1]), document.seconds)

    def _function(self, row: CompileExpression) -> str:
        """A function that a log names; the file that it names is not opened."""
        assert row.path is not None
        assert row.range is not None
        operations = f"  [{counted(row.nodes, 'operation')}]" if row.nodes else ""
        return f"{self._places.at(row.path, row.range.start.line)}  {one_line(row.text)}{operations}"

    def _tried(self, tried: CompileTrials) -> Iterator[str]:
        """Other ways to compile, what they took, and what to write for those that save much."""
        if tried.why_not:
            yield f"  other ways to compile were not tried: {printable(tried.why_not)}"
            return
        layers = ", ".join(f"{counted(row.count, 'layer')} {row.pattern} ({row.kind})" for row in tried.layers)
        yield printable(f"  tried, each in a process of its own, for {layers}")
        total = tried.trials[0].seconds
        rows = [
            (
                *((in_seconds(trial.seconds), f"{trial.seconds / total:.0%}") if not trial.problem else ("·", "·")),
                str(trial.graphs),
                str(trial.operations),
                ": ".join(filter(None, (WAY_WORDS[trial.compile_way], one_line(result_of(trial))))),
            )
            for trial in tried.trials
        ]
        yield from self._aligned([("time", "of it", "graphs", "operations", "compiled"), *rows])
        for trial in tried.trials:
            if trial.offered:
                yield ""
                yield printable(f"  to compile {WAY_WORDS[trial.compile_way]}:")
                yield from (f"    {printable(line)}" for line in trial.code.splitlines())
        if not any(trial.offered for trial in tried.trials):
            yield "  none of them saves much"

    def _expression(self, row: CompileExpression) -> str:
        assert row.path is not None
        assert row.range is not None
        where = self._sources.location(self._places.shown(row.path), row.path, row.range.start)
        worked = [
            counted(row.traced, "instruction") if row.traced else "",
            counted(row.nodes, "node") if row.nodes else "",
            f"in {row.modules} modules" if row.modules > 1 else "",
        ]
        return f"{where}  {shortened(one_line(row.text), _LONGEST_SOURCE)}  [{', '.join(filter(None, worked))}]"

    def _table(self, title: str, rows: Sequence[tuple[str, float]], total: float) -> Iterator[str]:
        if not rows:
            return
        yield ""
        shown = [(in_seconds(seconds), f"{seconds / total:.0%}", name) for name, seconds in rows[:_MOST_ROWS]]
        yield from self._aligned([(*_COLUMNS, title), *shown])
        if len(rows) > _MOST_ROWS:
            yield f"  and {counted(len(rows) - _MOST_ROWS, 'more row')}: --format csv and json have all"

    def _aligned(self, lines: Sequence[tuple[str, ...]]) -> Iterator[str]:
        """Figures under each other, with words at the end of each line; the first has the names of the columns."""
        widths = [max(width_of(line[number]) for line in lines) for number in range(len(lines[0]) - 1)]
        for number, (*figures, words) in enumerate(lines):
            text = "  ".join(" " * (width - width_of(cell)) + cell for cell, width in zip(figures, widths, strict=True))
            row = printable(f"  {text}  {words}")
            yield row if number else self._paint(row, Role.FAINT)


def _row(name: str, text: str) -> str:
    return f"  {name:<12}{text}"


def _named(row: AlikeModules) -> str:
    return f"{row.pattern}  {row.kind}" + (f", {counted(row.count, 'layer')}" if row.count > 1 else "")
