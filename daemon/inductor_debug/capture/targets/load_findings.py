"""What is told of a file as such, once it has been loaded: what failed, what is absent, what cannot be read as meant.

Says nothing of its targets, and runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from inductor_debug_schema import Finding, JobRequest, Location, Position, Range

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.attributes.missing import missing_attributes
from inductor_debug.capture.targets.file_faults import (
    absent_finding,
    complaint_finding,
    main_findings,
    missing_finding,
    passed_over_finding,
    raised_finding,
)
from inductor_debug.capture.targets.hidden_errors import hidden_errors
from inductor_debug.capture.targets.target_builder import Load
from inductor_debug.source.syntax_tree import tree_of


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


def findings_of_attributes(
    load: Load, request: JobRequest, sources: SourceMap, told: Mapping[str, Iterable[tuple[str, str, Range]]]
) -> list[Finding]:
    """What methods read of their object and nothing sets, but for what was raised there.

    Args:
        load: the file.
        request: what is analysed.
        sources: turns names into places.
        told: by target the rule, the file and the place of each finding.
    """
    if load.error is not None or load.module is None:
        return []
    others = tuple(module for module in load.modules.own.values() if module is not load.module)
    missing = missing_attributes(tree_of(request.text), load.module, request.path, request.project_root, others)
    raised = {place.start for each in told.values() for _, file, place in each if file == request.path}
    found = (missing_finding(item, request.path, sources) for item in missing)
    return [finding for finding in found if finding.range.start not in raised]
