"""What every benchmark ends in: figures, and promises of which each was kept or not."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Promise = tuple[bool, str]
"""Whether it was kept, and what it is with what was measured."""


@dataclass(frozen=True, slots=True)
class BenchmarkOutcome:
    """`figures` go into the JSON document, `lines` to people, `promises` to both."""

    figures: dict[str, Any]
    promises: list[Promise]
    lines: list[str] = field(default_factory=list)

    def as_json(self) -> str:
        """One document."""
        said = [{"kept": kept, "promise": text} for kept, text in self.promises]
        return json.dumps({"schema": 1, **self.figures, "promises": said}, indent=2)

    def as_text(self) -> str:
        """The lines, then the promises."""
        said = [f"{'kept  ' if kept else 'BROKEN'}  {text}" for kept, text in self.promises]
        return "\n".join([*self.lines, *said])

    def exit_code(self) -> int:
        """0 when every promise was kept, 1 when one was not."""
        return 0 if all(kept for kept, _ in self.promises) else 1
