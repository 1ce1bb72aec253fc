"""Which finding a reproducer is wanted for: what the user or the editor said of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from inductor_debug_schema import Finding


@dataclass(frozen=True)
class WantedFinding:
    """The finding that is meant; what is empty or None fits every finding. `line` is zero-based.

    `start` and `end` are (line, character) of its range, `path` its file, `stage` the one that found it.
    """

    rule: str = ""
    path: str = ""
    line: int | None = None
    start: tuple[int, int] | None = None
    end: tuple[int, int] | None = None
    stage: str = ""

    @staticmethod
    def of(options: Mapping[str, Any]) -> WantedFinding:
        """Reads a job's options."""
        return WantedFinding(
            str(options.get("rule") or ""),
            str(options.get("path") or ""),
            options.get("line"),
            _position(options.get("start")),
            _position(options.get("end")),
            str(options.get("stage") or ""),
        )

    @property
    def given(self) -> bool:
        """Whether anything was said of the finding."""
        return self != WantedFinding()

    @property
    def text(self) -> str:
        """For sentences: `rule dtype at line 12`."""
        said = [f"rule {self.rule}"] if self.rule else []
        line = self.line if self.line is not None else self.start[0] if self.start else None
        said += [f"line {line + 1}"] if line is not None else []
        return " at ".join(said) or "any rule"

    def fits(self, finding: Finding) -> bool:
        """Whether the finding may be meant."""
        span = finding.range
        start, end = (span.start.line, span.start.character), (span.end.line, span.end.character)
        return (
            (not self.rule or finding.rule == self.rule)
            and (not self.path or finding.path == self.path)
            and (self.line is None or start[0] <= self.line <= end[0])
            and (self.start is None or self.start == start)
            and (self.end is None or self.end == end)
        )

    def choose(self, findings: Iterable[Finding]) -> Finding | None:
        """The most severe finding that fits, the first of those."""
        fitting = [finding for finding in findings if self.fits(finding)]
        return min(fitting, key=lambda finding: finding.severity.rank, default=None)


def _position(value: Any) -> tuple[int, int] | None:
    return (int(value[0]), int(value[1])) if isinstance(value, (list, tuple)) and len(value) == 2 else None
