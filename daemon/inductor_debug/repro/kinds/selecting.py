"""Which finding a reproducer is wanted for: what the user or the editor said of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inductor_debug_schema import Finding, Range, ReproTask

from inductor_debug.source.notebooks.reading import line_in_words


@dataclass(frozen=True)
class WantedFinding:
    """The finding that is meant; what is empty or None fits every finding. `line` is zero-based.

    `range` is where it is shown, `path` its file, `stage` the one that found it.
    """

    rule: str = ""
    path: str = ""
    line: int | None = None
    range: Range | None = None
    stage: str = ""

    @staticmethod
    def of(task: ReproTask) -> WantedFinding:
        """What a job asks for."""
        return WantedFinding(task.rule, task.path, task.line, task.range, task.stage)

    @property
    def given(self) -> bool:
        """Whether anything was said of the finding."""
        return self != WantedFinding()

    @property
    def text(self) -> str:
        """For sentences: `rule dtype at line 12`."""
        said = [f"rule {self.rule}"] if self.rule else []
        line = self.line if self.line is not None else self.range.start.line if self.range else None
        said += [line_in_words(self.path, line)] if line is not None else []
        return " at ".join(said) or "any rule"

    def fits(self, finding: Finding) -> bool:
        """Whether the finding may be meant."""
        return (
            (not self.rule or finding.rule == self.rule)
            and (not self.path or finding.path == self.path)
            and (self.line is None or finding.range.start.line <= self.line <= finding.range.end.line)
            and (self.range is None or self.range == finding.range)
        )

    def choose(self, findings: Iterable[Finding]) -> Finding | None:
        """The most severe finding that fits, the first of those."""
        fitting = [finding for finding in findings if self.fits(finding)]
        return min(fitting, key=lambda finding: finding.severity.rank, default=None)
