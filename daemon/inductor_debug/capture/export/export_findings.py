"""Where `torch.export` stops, and formats stop at what it makes, at the user's expression."""

from __future__ import annotations

from inductor_debug_schema import ExportFault, ExportStop, Finding, Location, Related, Severity, Stage
from inductor_debug_schema.answers.formats_document import ExportFormat, FormatObstacle, FormatsDocument, FormatState
from torch._subclasses.fake_tensor import UnsupportedOperatorException

from inductor_debug.capture.dynamo.graph_breaks import frames_of
from inductor_debug.capture.export.export_run import ExportAttempt
from inductor_debug.capture.export.symbol_watch import SymbolEvents, Undecided
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failures import describe, frames_of_error, innermost, place
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.rules.recording.ops import Frame
from inductor_debug.rules.words.export_words import sentence_of

_MOST_RELATED = 8


def undecided_findings(events: SymbolEvents, target: BuiltTarget, sources: SourceMap) -> list[Finding]:
    """Every expression that a tensor's value would have to decide, once each."""
    found: dict[Location, tuple[Undecided, int]] = {}
    for event in events.undecided:
        where = place(event.frames, target.location, "")[0]
        first, count = found.get(where, (event, 0))
        found[where] = first, count + 1
    return [_undecided(event, count, target, sources) for event, count in found.values()]


def _undecided(event: Undecided, count: int, target: BuiltTarget, sources: SourceMap) -> Finding:
    where = place(event.frames, target.location, "")[0]
    index = innermost(event.made)
    made = event.made[index].location if index is not None else None
    read = made if made is not None and made != where else None
    facts = ExportStop(
        ExportFault.VALUE if read is None else ExportFault.SIZE,
        sources.excerpt(where),
        condition=event.condition,
        read_from=sources.excerpt(read) if read is not None else "",
    )
    related = [Related(read.path, read.range, "the number is read from a tensor here")] if read is not None else []
    return _finding(facts, event.frames, target, related=related, count=count)


def stopped(attempt: ExportAttempt, target: BuiltTarget, sources: SourceMap) -> Finding:
    """What ended an export in the default mode."""
    error = attempt.error
    assert error is not None
    frames = frames_of_error(error, sources)
    if isinstance(error, UnsupportedOperatorException):
        return _finding(ExportStop(ExportFault.OPERATOR, str(getattr(error, "func", error))), frames, target)
    where = place(frames, target.location, "")[0]
    asked = sources.excerpt(where) if innermost(frames) is not None else ""
    return _finding(ExportStop(ExportFault.OTHER, asked, said=describe(error)), frames, target)


def strict_alone(
    attempt: ExportAttempt, known: list[Finding], target: BuiltTarget, sources: SourceMap
) -> list[Finding]:
    """Where `strict=True` stops, if that is no place that is told of already."""
    assert attempt.error is not None
    frames = frames_of(attempt.traced, sources)
    where = place(frames, target.location, "")[0]
    if known and (
        innermost(frames) is None or any((one.path, one.range) == (where.path, where.range) for one in known)
    ):
        return []
    facts = ExportStop(
        ExportFault.STRICT,
        sources.excerpt(where) if innermost(frames) is not None else "",
        said=describe(attempt.error).partition(": ")[2] or describe(attempt.error),
    )
    return [_finding(facts, frames, target)]


def format_findings(
    document: FormatsDocument, attempt: ExportAttempt, target: BuiltTarget, sources: SourceMap
) -> list[Finding]:
    """Every expression whose operators a format refuses, once for all formats; where none is known, the target."""
    frames = {
        stack[index].location: stack for stack in attempt.frames.values() if (index := innermost(stack)) is not None
    }
    found: dict[Location | None, list[tuple[ExportFormat, FormatObstacle | None]]] = {}
    for each in document.formats:
        if each.state is not FormatState.REFUSED:
            continue
        obstacles: list[FormatObstacle | None] = [*each.obstacles]
        for obstacle in obstacles or [None]:
            found.setdefault(_place_of(obstacle), []).append((each, obstacle))
    findings = []
    for where, stops in found.items():
        operators = [obstacle.operator for _, obstacle in stops if obstacle is not None]
        formats = list(dict.fromkeys(form.format for form, _ in stops))
        facts = ExportStop(
            ExportFault.FORMAT,
            sources.excerpt(where) if where is not None else "",
            said="" if operators else stops[0][0].why,
            formats=formats,
            operators=list(dict.fromkeys(operators)),
        )
        count = max(_count(stops, form) for form in formats)
        findings.append(_finding(facts, frames.get(where, ()) if where is not None else (), target, count=count))
    return findings


def _place_of(obstacle: FormatObstacle | None) -> Location | None:
    if obstacle is None or obstacle.path is None or obstacle.range is None:
        return None
    return Location(obstacle.path, obstacle.range)


def _count(stops: list[tuple[ExportFormat, FormatObstacle | None]], form: str) -> int:
    """How many operators of an expression one format refuses."""
    return sum(obstacle.count if obstacle is not None else 1 for each, obstacle in stops if each.format == form)


def _finding(
    facts: ExportStop,
    frames: tuple[Frame, ...],
    target: BuiltTarget,
    *,
    related: list[Related] | None = None,
    count: int = 1,
) -> Finding:
    where, others = place(frames, target.location, "inside {}")
    return Finding(
        rule="export",
        # Nobody has to use strict=True, nor any one format; what an export does not take may compile all the same.
        severity=Severity.INFORMATION
        if facts.export_fault in (ExportFault.STRICT, ExportFault.FORMAT)
        else Severity.WARNING,
        message=sentence_of(facts),
        path=where.path,
        range=where.range,
        stage=Stage.EXPORT,
        target=target.name,
        count=count,
        related=[*(related or []), *others][:_MOST_RELATED],
        facts=facts,
    )
