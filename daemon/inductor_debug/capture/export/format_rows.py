"""Which formats take the program of a target, as a document with the user's expressions at what stops the others."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from inductor_debug_schema import Location
from inductor_debug_schema.answers.formats_document import ExportFormat, FormatObstacle, FormatsDocument, FormatState
from torch.fx import Node

from inductor_debug.capture.export.export_run import ExportAttempt, exported
from inductor_debug.capture.export.program_formats import FORMATS, Conversion, Format, made_by, missing, reason, tried
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.running.target import BuiltTarget


def formats_document(target: BuiltTarget, attempt: ExportAttempt, sources: SourceMap) -> FormatsDocument:
    """What each format says of the program of `attempt`, and of one with fixed sizes where it refuses that."""

    @cache
    def fixed() -> ExportAttempt:
        return exported(target, sources, fixed=True)

    return FormatsDocument(
        schema=1,
        target=target.name,
        exported=attempt.program is not None,
        formats=[missing(form) or _verdict(form, attempt, fixed, sources) for form in FORMATS],
        why=describe(attempt.error) if attempt.error is not None else "",
        path=target.location.path,
    )


def _verdict(
    form: Format, attempt: ExportAttempt, fixed: Callable[[], ExportAttempt], sources: SourceMap
) -> ExportFormat:
    if attempt.program is None:
        return ExportFormat(
            format=form.name, state=FormatState.NOT_TRIED, made_by=made_by(form), why="nothing to convert"
        )
    conversion = tried(form, attempt.program)
    if conversion.error is not None:
        other = fixed()
        again = tried(form, other.program) if other.program is not None else conversion
        if again.error is None:
            return _row(form, again, why=f"with sizes left open: {reason(conversion.error)}", fixed_sizes=True)
    why = conversion.untried or (reason(conversion.error) if conversion.error is not None else "")
    return _row(form, conversion, why=why, obstacles=_obstacles(conversion.nodes, attempt, sources))


def _row(
    form: Format,
    conversion: Conversion,
    *,
    why: str,
    fixed_sizes: bool = False,
    obstacles: list[FormatObstacle] | None = None,
) -> ExportFormat:
    state = FormatState.REFUSED if conversion.error is not None else FormatState.TAKEN
    return ExportFormat(
        format=form.name,
        state=FormatState.NOT_TRIED if conversion.untried else state,
        made_by=made_by(form),
        why=conversion.untried or why,
        fixed_sizes=fixed_sizes,
        obstacles=obstacles or [],
    )


def _obstacles(nodes: tuple[Node, ...], attempt: ExportAttempt, sources: SourceMap) -> list[FormatObstacle]:
    """The operators among `nodes`, once for each expression that they come from."""
    counts: dict[tuple[str, Location | None], int] = {}
    for node in nodes:
        key = str(node.target), attempt.place_of(node)
        counts[key] = counts.get(key, 0) + 1
    return [
        FormatObstacle(
            operator=operator,
            count=count,
            expression=sources.excerpt(where) if where is not None else "",
            path=where.path if where is not None else None,
            range=where.range if where is not None else None,
        )
        for (operator, where), count in counts.items()
    ]
