"""One case of a search: the target in which a failure is sought, and all that is needed to look at it.

It finds nothing itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from inductor_debug_schema import Finding, JobRequest, ReproTask

from inductor_debug.accelerators.profile import Profile
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.target_builder import Load, TargetBuilder
from inductor_debug.repro.kinds.selecting import WantedFinding
from inductor_debug.repro.script.reproducer import Reproducer
from inductor_debug.repro.script.writing import Header
from inductor_debug.source.notebooks.reading import place_in_words


@dataclass(frozen=True)
class Case:
    """`target` was built of `candidate`; `progress` and `keep` tell how far it is, and the best script so far.

    What was come across on the way is added to `findings`, and what turned out to be right to `fine`: for whoever has
    to say why there is no script.
    """

    target: BuiltTarget
    candidate: Candidate
    load: Load
    wanted: WantedFinding
    builder: TargetBuilder
    sources: SourceMap
    profile: Profile
    request: JobRequest
    task: ReproTask
    progress: Callable[..., None]
    keep: Callable[[Reproducer, str], None]
    findings: list[Finding]
    fine: list[str]

    def real(self, target: BuiltTarget | None = None) -> BuiltTarget | str:
        """The target (or what was made of it) with real tensors, or the reason why there is none."""
        return self.builder.rebuild_real(self.candidate, self.load, target or self.target)

    def header(self, finding: Finding) -> Header:
        """What the script for a finding says of itself."""
        start = finding.range.start
        shown = os.path.relpath(finding.path, self.request.project_root).replace(os.sep, "/")
        if shown.startswith(".."):
            shown = os.path.basename(finding.path)
        text = self.sources.text(finding.path)
        line = text.lines[start.line].strip() if text is not None and start.line < len(text.lines) else ""
        place = place_in_words(shown, finding.path, start.line, start.character)
        return Header(f"[{finding.rule}] {finding.message}", place, line, self.target.name)
