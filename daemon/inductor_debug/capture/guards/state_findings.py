"""A finding about Python state that calls change: at the statement that changes it, not where a graph relies on it."""

from __future__ import annotations

import ast
from dataclasses import replace

from inductor_debug_schema import (
    ChangingState,
    Finding,
    Location,
    Recompilation,
    Related,
    Severity,
    StateHolder,
)

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failures import innermost, place
from inductor_debug.capture.stages.dynamo_run import DynamoRun
from inductor_debug.rules.recording.ops import Frame
from inductor_debug.rules.words.recompile_words import sentence_of
from inductor_debug.source.writes import default_of, function_at, owner_of, with_item, writes_near

_MOST_RELATED = 8


def state_finding(run: DynamoRun, function: str, state: ChangingState, frames: tuple[Frame, ...]) -> Finding:
    """What to tell of state that changes.

    Args:
        run: the run in which it did.
        function: what is compiled again for it.
        state: what changes, as torch calls it.
        frames: where the graph relies on it.
    """
    relied, related = place(frames, run.target.location, "inside {}")
    cause, state, more = _cause(run.sources, state, frames) or (
        read_at(run.sources, relied, state.state_name),
        state,
        [],
    )
    if cause.path != relied.path or not (cause.range.encloses(relied.range) or relied.range.encloses(cause.range)):
        related = [*more, Related(relied.path, relied.range, "compiled code relies on it here"), *related]
    return Finding(
        rule="recompile",
        severity=Severity.WARNING,
        message=sentence_of(function, state),
        path=cause.path,
        range=cause.range,
        stage=run.stage,
        target=run.target.name,
        related=related[:_MOST_RELATED],
        facts=Recompilation(function, given_up=False, state=state),
    )


def read_at(sources: SourceMap, location: Location, name: str) -> Location:
    """Where in an expression, or with which expression around it, code reads what is called `name` (`model.rate`)."""
    tree = sources.tree(location.path)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Attribute | ast.Subscript) and ast.unparse(node) == name:
            found = sources.location_of(location.path, node)
            if found.range.encloses(location.range) or location.range.encloses(found.range):
                return found
    return location


def _cause(
    sources: SourceMap, state: ChangingState, frames: tuple[Frame, ...]
) -> tuple[Location, ChangingState, list[Related]] | None:
    """Where the state is changed, or is shared, the state as it is called there, and what belongs to it.

    Of an argument nothing: what is called may be told something else by every caller.
    """
    if state.held_by is StateHolder.ARGUMENT:
        return None
    index = innermost(frames)
    tree = sources.tree(frames[index].location.path) if index is not None else None
    if index is None or tree is None:
        return None
    path, line = frames[index].location.path, frames[index].location.range.start.line + 1
    writes = writes_near(tree, line, state.state_name)
    if state.held_by is StateHolder.DEFAULT:
        function = function_at(tree, line)
        shared = default_of(function, state.state_name) if function is not None else None
        if shared is None:
            return None
        argument, default = shared
        where = sources.location(path, argument.lineno, default.end_lineno, argument.col_offset, default.end_col_offset)
        return where, state, [_related(sources, path, node) for node in writes]
    if not writes:
        return None
    owner, item = owner_of(writes[0]), with_item(state.state_name)[1]
    named = replace(state, state_name=ast.unparse(owner) + item) if owner is not None else state
    return sources.location_of(path, writes[0]), named, [_related(sources, path, node) for node in writes[1:]]


def _related(sources: SourceMap, path: str, node: ast.expr | ast.stmt) -> Related:
    where = sources.location_of(path, node)
    return Related(where.path, where.range, "changed here")
