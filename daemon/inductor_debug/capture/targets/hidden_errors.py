"""A setting of torch's that hides what it cannot compile, at the statement of a file that turns it on."""

from __future__ import annotations

import ast

import torch
from inductor_debug_schema import Finding, Severity, Stage

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.source.syntax_tree import tree_of

_SETTING = "suppress_errors"
_WORDS = (
    f"With `torch._dynamo.config.{_SETTING}` on, a function that torch.compile or its backend fails on runs eagerly, "
    "and nothing tells: a crash of the backend looks like success. This check runs with it off."
)


def hidden_errors(path: str, text: str, sources: SourceMap) -> list[Finding]:
    """A finding where the file, which was loaded, has turned the setting on; none where it is off."""
    if not getattr(torch._dynamo.config, _SETTING, False):
        return []
    assignments = (node for node in ast.walk(tree_of(text)) if isinstance(node, ast.Assign))
    statement = next(filter(_turns_on, assignments), None)
    if statement is None:
        return []
    where = sources.location_of(path, statement)
    return [Finding("eager-fallback", Severity.WARNING, _WORDS, where.path, where.range, Stage.LOAD)]


def _turns_on(node: ast.Assign) -> bool:
    return (
        isinstance(node.value, ast.Constant)
        and node.value.value is True
        and any(isinstance(target, ast.Attribute) and target.attr == _SETTING for target in node.targets)
    )
