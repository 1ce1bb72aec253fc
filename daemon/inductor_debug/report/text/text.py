"""The report for people: every finding with its place, its source and what is known about it.

model.py:12:9: warning[dtype] float64 is not supported by mock
   |
12 |     y = x.double() @ w
   |         ^^^^^^^^^^
   = aten._to_copy.default in encoder.layer.0, and 11 ops that inherit it (target Model, run)
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Hashable, Iterator, Sequence

from inductor_debug_schema import Finding, GraphBreak, Range, Related, Stage, StageReport, TargetReport

from inductor_debug.engine.results.target_coverage import remark, small_inputs
from inductor_debug.engine.selection.selection import tally, words
from inductor_debug.report.cells import printable
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.run_report import CheckedFile, CheckResult, ExitCode, SkippedFile, ToldBefore, summary
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug.report.styles import Role, Styler, role_of
from inductor_debug.report.text.snippet import ShownSnippet
from inductor_debug.report.unchecked_classes import coverage_lines
from inductor_debug.rules.amounts import counted, in_bytes, in_seconds
from inductor_debug.rules.words.break_words import details_of
from inductor_debug.rules.words.stage_names import stage_name
from inductor_debug.rules.words.untaken_words import sentence_of
from inductor_debug.source.notebooks.reading import place_in_words

_FEW = 4
"""Related places shown without `--verbose`."""
_LOG_PREFIX = re.compile(r"^([A-Z])\d{4} [\d:.]+ \d+ (?:[^\]\s]*[/\\])?([^\]/\\]+\])")
_SHORT_PREFIX = r"\1 \2"
"""What torch puts before each line that it logs; its time, process and folders are the same for all."""
_WIDE = 110
"""Columns that explanations are wrapped at, and from which a message is split after its first sentence."""
_ABOUT_COSTS = "`inductor-debug analyze --type cost` says where that goes, and `suggest` what makes it less"
_SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z])")


class TextReport:
    """Renders findings file by file as they come, and a summary at the end.

    What several files find in one that they import is shown once, of the first; the others are named at the end. So
    are those that lack the same library.
    """

    def __init__(
        self, places: FileNames, sources: ShownTexts, styler: Styler, *, verbose: bool = False, quiet: bool = False
    ) -> None:
        self._places = places
        self._sources = sources
        self._styler = styler
        self._verbose = verbose
        self._quiet = quiet
        self._told = ToldBefore()
        self._again: dict[str, None] = {}
        self._noted: set[Hashable] = set()

    def file(self, file: CheckedFile) -> str:
        """The findings of one file, and with `verbose` what each stage saw."""
        self._noted.clear()
        blocks = [self._finding(finding) for finding in file.findings if not self._is_known(finding, file)]
        if file.problem is not None:
            blocks.append(f"{printable(file.shown)}: {self._styler.paint('error', Role.ERROR)}: {file.problem}\n")
        if self._verbose:
            blocks.append(self._stages(file))
        return "".join(block + "\n" for block in blocks)

    def end(self, result: CheckResult) -> str:
        """What was found again through other files, the summary line, and how much was checked."""
        covered = "\n".join(coverage_lines(result.files, self._sources))
        lacking = any(map(remark, (target for file in result.files for target in file.report.targets)))
        if self._quiet:
            return "".join([self._met_again(), f"{covered}\n" if lacking else ""])
        good = result.exit_code() is ExitCode.CLEAN and not lacking
        head, last = (self._styler.paint(line, Role.GOOD) if good else line for line in (summary(result), covered))
        costs = "".join(f"{printable(line)}\n" for line in _costs(result))
        costs += self._styler.paint(f"{_ABOUT_COSTS}\n", Role.FAINT) if costs else ""
        skipped = self._skipped(result.skipped)
        return "".join([head, "\n", self._met_again(), skipped, f"{last}\n" if covered else "", costs])

    def _skipped(self, files: Sequence[SkippedFile]) -> str:
        """`12 files not opened: 7 tests, 1 set-up, 4 without torch`, with `verbose` each of them and why."""
        if not files:
            return ""
        line = f"{counted(len(files), 'file')} not opened: {tally([file.skip for file in files])}"
        if not self._verbose:
            return f"{line}; --verbose lists them, --include opens them\n"
        listed = (self._styler.paint(f"  {printable(file.shown)}: {words(file.skip)}", Role.FAINT) for file in files)
        return "\n".join([line, *listed]) + "\n"

    def _is_known(self, finding: Finding, file: CheckedFile) -> bool:
        """Whether it was shown of another file: it lies in that, or in one that both import, or both lack a library."""
        if self._verbose:
            return False
        first = self._told.first(finding, file.shown)
        if first != file.shown and finding.path != file.path:
            self._again.setdefault(file.shown, None)
        return first != file.shown

    def _met_again(self) -> str:
        """`Some of them were met again through 2 more files: a.py, b.py`."""
        names = [printable(name) for name in self._again]
        listed = ", ".join(names[:_FEW]) + (", …: all with --verbose" if len(names) > _FEW else "")
        return f"some of them were met again through {counted(len(names), 'more file')}: {listed}\n" if names else ""

    def _head(self, finding: Finding) -> str:
        """`model.py:12:9: warning[dtype]`."""
        kind = self._styler.paint(f"{finding.severity.value}[{finding.rule}]", role_of(finding.severity))
        return f"{self._place(finding.path, finding.range)}: {kind}"

    def _finding(self, finding: Finding) -> str:
        role = role_of(finding.severity)
        headline, *more = split_message(printable(finding.message))
        gutter = self._gutter([finding.range, *(related.range for related in finding.related)])
        lines = [f"{self._head(finding)} {headline}"]
        lines += self._excerpt(finding.path, finding.range, gutter, ShownSnippet(self._styler, "^", role))
        lines += [row for line in more for row in self._remarks(line, gutter)]
        if self._verbose and isinstance(finding.facts, GraphBreak):
            lines += [row for line in details_of(finding.facts) for row in self._remarks(printable(line), gutter)]
        about = describe(finding)
        if about:
            lines.append(self._remark(about, gutter))
        if finding.link:
            lines.append(self._remark(f"see {printable(finding.link)}", gutter))
        lines += self._notes(finding, gutter)
        return "\n".join(lines) + "\n"

    def _notes(self, finding: Finding, gutter: int) -> list[str]:
        shown = finding.related if self._verbose else finding.related[:_FEW]
        lines: list[str] = []
        for related in shown:
            lines += self._note(related, finding, gutter)
        if len(shown) < len(finding.related):
            rest = counted(len(finding.related) - len(shown), "related place")
            lines.append(self._remark(f"{rest} more with --verbose", gutter))
        return lines

    def _note(self, related: Related, finding: Finding, gutter: int) -> list[str]:
        headline, *more = printable(related.message).split("\n")
        label = self._styler.paint("note", Role.PLACE)
        lines = [f"  {self._place(related.path, related.range, Role.FAINT)}: {label}: {headline}"]
        known = (related.path, related.range, related.message)
        above = (related.path, related.range) == (finding.path, finding.range)
        if not above and (self._verbose or known not in self._noted):
            snippet = ShownSnippet(self._styler, "-", Role.INFORMATION)
            lines += self._excerpt(related.path, related.range, gutter, snippet)
            self._noted.add(known)
        return lines + [" " * gutter + self._styler.paint(f" | {line}", Role.FAINT) for line in more]

    def _place(self, path: str, area: Range, role: Role = Role.PLACE) -> str:
        return self._styler.paint(self._sources.location(printable(self._places.shown(path)), path, area.start), role)

    def _excerpt(self, path: str, area: Range, gutter: int, snippet: ShownSnippet) -> list[str]:
        rows = snippet.render(self._sources.of(path), area, gutter)
        return [self._styler.paint(" " * gutter + " |", Role.FRAME), *rows] if rows else []

    def _remark(self, text: str, gutter: int) -> str:
        return " " * gutter + self._styler.paint(f" = {text}", Role.FAINT)

    def _remarks(self, text: str, gutter: int) -> list[str]:
        """A remark of any length, over several lines if need be."""
        lead = " " * gutter
        first, *more = textwrap.wrap(text, _WIDE, break_long_words=False, break_on_hyphens=False) or [""]
        return [f"{lead} = {first}", *(f"{lead}   {line}" for line in more)]

    @staticmethod
    def _gutter(ranges: list[Range]) -> int:
        return max(len(str(area.end.line + 1)) for area in ranges) + 1

    def _stages(self, file: CheckedFile) -> str:
        head = f"{printable(file.shown)}: {file.report.status.value}, {file.seconds:.2f} s"
        if not file.report.targets:
            return head + "\n"
        rows = [("target", "stage", "state", "graphs", "ops", "breaks", "seconds")]
        for target in file.report.targets:
            rows += _stage_rows(target, file.report.path)
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = [head]
        for index, row in enumerate(rows):
            cells = [
                cell.ljust(width) if column < 3 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            line = "  " + "  ".join(cells).rstrip()
            lines.append(self._styler.paint(line, Role.FAINT) if index == 0 else line)
        lines += [
            self._styler.paint(f"  {stage_name(stage.stage)}: {printable(note)}", Role.FAINT)
            for target in file.report.targets
            for stage in target.stages
            for note in stage.notes
        ]
        lines += [
            line
            for target in file.report.targets
            for stage in target.stages
            if stage.log
            for line in self._logged(target.name, stage)
        ]
        lines += [
            self._styler.paint(f"  {printable(f'{target.name} {remark(target)}')}", Role.WARNING)
            for target in file.report.targets
            if remark(target)
        ]
        lines += [
            self._styler.paint(f"    {printable(sentence_of(block, file.path))}", Role.FAINT)
            for target in file.report.targets
            for block in target.untaken
        ]
        return "\n".join(lines) + "\n"

    def _logged(self, target: str, stage: StageReport) -> list[str]:
        """What torch logged of one stage of a target."""
        head = f"  {printable(target)}, {stage_name(stage.stage)}, logged by torch:"
        said = [f"    {printable(_LOG_PREFIX.sub(_SHORT_PREFIX, line))}" for line in stage.log.splitlines()]
        return [head, *(self._styler.paint(line.rstrip(), Role.FAINT) for line in said)]


def split_message(message: str) -> list[str]:
    """The lines of a message; of a long first one, what follows its first sentence becomes a line of its own."""
    headline, *more = message.split("\n")
    end = _SENTENCE_END.search(headline)
    if len(headline) > _WIDE and end is not None:
        more.insert(0, headline[end.end() :])
        headline = headline[: end.start()]
    return [headline, *(line for line in more if line.strip())]


def describe(finding: Finding) -> str:
    """What is known of a finding besides its message: op, module, how many ops it covers, target and stage."""
    parts = []
    if finding.op:
        parts.append(finding.op)
    if finding.module:
        parts.append(f"in {finding.module}")
    if finding.count > 1:
        parts.append(f"covers {finding.count} ops")
    if finding.target:
        parts.append(f"target {finding.target}")
    if finding.stage is not Stage.LOAD:
        parts.append(f"seen in the {stage_name(finding.stage)}")
    return printable(", ".join(parts).replace(", in ", " in "))


def _costs(result: CheckResult) -> Iterator[str]:
    """`GPT: at least 491 µs on rtx-4090 (memory 100 %), 475.2 MiB of memory`, of a file that somebody asked about."""
    targets = [target for file in result.files if file.explicit for target in file.report.targets]
    for target in targets if len(result.files) == 1 else ():
        cost = next((stage.cost for stage in reversed(target.stages) if stage.cost is not None), None)
        if cost is None or not cost.total.seconds or cost.total.limited_by is None:
            continue
        roof = cost.total.limited_by.value
        share = cost.by_roof.get(roof, 0.0) / cost.total.seconds
        passes = {True: ", forward and backward", False: ", forward pass", None: ""}[cost.backward]
        without = " without what a backward pass keeps" if cost.backward is False else ""
        inputs = " with small inferred inputs" if small_inputs(target) else ""
        yield (
            f"{target.name}{passes}{inputs}: at least {in_seconds(cost.total.seconds)} on {cost.accelerator} ({roof} "
            f"{share:.0%}), {in_bytes(cost.peak_bytes)} of memory{without}"
        )


def _stage_rows(target: TargetReport, path: str) -> list[tuple[str, str, str, str, str, str, str]]:
    name = place_in_words(target.name, path, target.line)
    if not target.stages:
        return [(name, "-", "-", "", "", "", "")]
    return [
        (
            name if index == 0 else "",
            stage_name(stage.stage),
            stage.state.value,
            str(stage.graphs),
            str(stage.ops),
            str(stage.graph_breaks),
            f"{stage.seconds:.2f}",
        )
        for index, stage in enumerate(target.stages)
    ]
