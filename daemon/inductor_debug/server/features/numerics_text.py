"""Errors of expressions in words, for hovers and code lenses. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from inductor_debug_schema import DiffError

from inductor_debug.server.state.known_comparisons import MeasuredError, MeasuredNode

_MOST_TOLD = 3


def hover_lines(measured: MeasuredError, nodes: Sequence[MeasuredNode], *, markdown: bool) -> list[str]:
    """What a comparison has measured at one expression: a line of what was compared, and one for each operation."""
    worst = sorted(nodes, key=_badness, reverse=True)
    marked = f"**{measured.backend}**" if markdown else measured.backend
    lines = [f"{marked} against {measured.reference} ({measured.target}: {measured.verdict})"]
    lines += [_node(node, markdown) for node in worst[:_MOST_TOLD]]
    if len(worst) > _MOST_TOLD:
        left = len(worst) - _MOST_TOLD
        lines.append(f"and {left:,} more {'operation' if left == 1 else 'operations'} with smaller errors")
    return lines


def _node(node: MeasuredNode, markdown: bool) -> str:
    name = node.op.removesuffix(".default")
    parts = []
    if node.isolated is not None:
        parts.append(f"error of its own {_error(node.isolated)}")
    if node.accumulated is not None:
        parts.append(f"accumulated {_error(node.accumulated)}")
    if node.growth:
        parts.append(f"grows {node.growth:.3g} times")
    if node.blamed:
        parts.append("blamed")
    return f"{f'`{name}`' if markdown else name}: {' · '.join(parts) or 'not measured'}"


def _error(error: DiffError) -> str:
    """`2.1e-03 (max 0.04, 900 times what is to be expected)`."""
    if error.invalid:
        return "not a number, or of another shape"
    if error.relative == 0 or error.max_abs == 0:
        return "none"
    parts = [] if error.max_abs is None else [f"max {error.max_abs:.3g}"]
    ratio = error.anchored_ratio
    if isinstance(ratio, (int, float)):
        parts.append(f"{ratio:.3g} times what is to be expected")
    relative = "infinite" if error.relative is None else f"{error.relative:.2g}"
    return f"{relative} ({', '.join(parts)})" if parts else relative


def _badness(node: MeasuredNode) -> tuple[bool, bool, float]:
    error = node.isolated or node.accumulated
    if error is None:
        return node.blamed, False, 0.0
    return node.blamed, error.invalid, float("inf") if error.relative is None else error.relative
