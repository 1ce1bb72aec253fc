"""Graph breaks that stand in a branch which a size chose that nobody gave: with other sizes nobody may come there.

Syntax, laid beside what each traced function asked (`asked_sizes`). Only what certainly hangs on the answer counts:
where another part of the condition might have led there as well, nothing is said.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from inductor_debug_schema import Location, SizeCondition

from inductor_debug.capture.dynamo.asked_sizes import AskedSize
from inductor_debug.capture.dynamo.dynamo_positions import TracedStack
from inductor_debug.capture.expressions.instruction_expressions import SourcePositions
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.rules.recording.ops import Frame
from inductor_debug.source.syntax_tree import text_of

Branch = tuple[str, Sequence[ast.AST], SizeCondition]
"""A file, what stands in a branch, and the condition of it."""


def branches_of(stack: TracedStack, asked: Sequence[Sequence[AskedSize]], sources: SourceMap) -> Iterator[Branch]:
    """The branches around the expressions of a traced stack that a size chose, from the inside outwards.

    Args:
        stack: the frames, innermost first.
        asked: what the function of each has asked.
        sources: the texts that ran.
    """
    for frame, questions in zip(stack, asked, strict=False):
        tree = sources.tree(frame.filename) if questions else None
        lines = text.lines if tree is not None and (text := sources.text(frame.filename)) is not None else []
        for node in _inner_first(tree, frame.positions):
            for holds, body in ((True, node.body), (False, node.orelse)):
                parts = body if isinstance(body, list) else [body]
                places = (question for question in questions if _chose(node, question.positions))
                question = next((each for each in places if _decides(node.test, each.positions, holds)), None)
                if question is not None and any(_encloses(part, frame.positions) for part in parts):
                    condition = SizeCondition(text_of(lines, node.test), holds, dict(question.sizes))
                    yield frame.filename, parts, condition


def is_in(branch: Branch, stack: TracedStack) -> bool:
    """Whether the function that was compiled goes on within a branch: the rest of one that broke there before."""
    place = stack[-1] if stack else None
    return (
        place is not None
        and place.filename == branch[0]
        and any(_encloses(part, place.positions) for part in branch[1])
    )


def is_called_from(branch: Branch, callers: Sequence[Frame]) -> bool:
    """Whether a function was called from a branch that Python runs, since torch gave up the function around it."""
    path, parts, _ = branch
    statements = [part for part in parts if isinstance(part, ast.stmt)]
    return any(
        frame.location.path == path and any(_encloses(part, _lines_of(frame.location)) for part in statements)
        for frame in callers
    )


def _lines_of(location: Location) -> SourcePositions:
    return SourcePositions(location.range.start.line + 1, location.range.end.line + 1, None, None)


def _inner_first(tree: ast.Module | None, place: SourcePositions) -> list[ast.If | ast.IfExp]:
    nodes = ast.walk(tree) if tree is not None else ()
    around = [node for node in nodes if isinstance(node, ast.If | ast.IfExp) and _encloses(node, place)]
    return around[::-1]  # outer ones are walked first


def _chose(node: ast.If | ast.IfExp, asked: SourcePositions) -> bool:
    """Whether a question was the condition of a branch: Python 3.11 asks some for the whole statement."""
    return _encloses(node.test, asked) or _is(node, asked)


def _decides(test: ast.expr, asked: SourcePositions, holds: bool) -> bool:
    """Whether the branch where a condition holds, or does not, is taken for the answer alone."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _decides(test.operand, asked, not holds)
    if not isinstance(test, ast.BoolOp):
        return True
    needs_all = isinstance(test.op, ast.And) is holds
    part = next((each for each in test.values if _encloses(each, asked)), None)
    if part is None:
        return needs_all
    return (needs_all or part is test.values[-1]) and _decides(part, asked, holds)


def _encloses(node: ast.AST, place: SourcePositions) -> bool:
    start, end = _ends(node)
    line, last = place.lineno, place.end_lineno or place.lineno
    if place.col_offset is None or place.end_col_offset is None:
        return start[0] <= line and last <= end[0]  # type: ignore[operator]
    return start <= (line, place.col_offset) and (last, place.end_col_offset) <= end


def _is(node: ast.AST, place: SourcePositions) -> bool:
    return _ends(node) == ((place.lineno, place.col_offset), (place.end_lineno, place.end_col_offset))


def _ends(node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
    assert isinstance(node, ast.expr | ast.stmt)
    return (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)
