"""What is told of a file as such, once it has been loaded: what failed, what is absent, what cannot be read as meant.

Says nothing of its targets, and runs nothing.
"""

from __future__ import annotations

from inductor_debug_schema import Finding, JobRequest, Location, Position, Range

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.targets.file_faults import (
    absent_finding,
    complaint_finding,
    main_findings,
    passed_over_finding,
    raised_finding,
)
from inductor_debug.capture.targets.hidden_errors import hidden_errors
from inductor_debug.capture.targets.target_builder import Load


def findings_of_load(load: Load, request: JobRequest, sources: SourceMap) -> list[Finding]:
    """The findings of a file that has been loaded, or as much of it as could be."""
    found = [passed_over_finding(error, request, sources) for error in load.passed_over[:1]]  # others may come of it
    found += [absent_finding(error, request, sources) for error in load.absent]
    if load.error is not None:
        start = Location(request.path, Range(Position(0, 0), Position(0, 0)))
        return [*found, raised_finding(load.error, "while the file was loaded", sources, start)]
    # After an exception half the file is missing, and complaints about the other half would mislead.
    found += map(complaint_finding, load.discovered.complaints)
    found += hidden_errors(request.path, request.text, sources)
    return found + (main_findings(load.main, request, sources) if load.main is not None else [])
