"""What `torch.export` is told so that it goes on.

`torch._check(n > 3)` before the statement that has to know, and of sizes that a file leaves open what its code asks of
them: in the `Dim` that names one, as torch suggests it, or by `Dim.AUTO`, which takes what the code asks for.
"""

from __future__ import annotations

import ast
import re

from inductor_debug_schema import ExportFault, ExportStop, Finding

from inductor_debug.accelerators.profile import Profile
from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.statements import indentation, insertion
from inductor_debug.engine.fixes.tree import Tree


def fixes(tree: Tree, finding: Finding, profile: Profile) -> list[Fix]:
    """The check of the condition, and of its opposite, where the condition can be written."""
    facts = finding.facts
    if isinstance(facts, ExportStop) and facts.export_fault is ExportFault.SIZES:
        return [*_as_suggested(tree, facts), *_left_to_torch(tree, finding)]
    torch = tree.imported("torch")
    if not isinstance(facts, ExportStop) or facts.export_fault is not ExportFault.SIZE or torch is None:
        return []
    statement = tree.statement_at(finding.range)
    indent = indentation(tree, statement) if statement is not None else None
    if not facts.condition or statement is None or indent is None:
        return []
    name, imports = torch
    line = tree.range_of(statement).start.line
    found = []
    for condition in (facts.condition, f"not ({facts.condition})"):
        check = insertion(line, f"{indent}{name}._check({condition}){tree.newline}")
        found.append(Fix(f"Say that `{condition}` always holds", (check, *imports)))
    return found


def _as_suggested(tree: Tree, facts: ExportStop) -> list[Fix]:
    """What torch suggests, where each size that it names is a variable of the file's."""
    edits = []
    for suggestion in facts.dims_suggested:
        name, _, value = suggestion.partition(" = ")
        dim = tree.assigned(name)
        if dim is None or not isinstance(dim.func, ast.Name | ast.Attribute):
            return []
        edits.append(tree.replace(dim, re.sub(r"^Dim\b", tree.text_of(dim.func), value)))
    return [Fix("Say of the sizes what the code asks of them", tuple(edits), keeps_results=True)] if edits else []


def _left_to_torch(tree: Tree, finding: Finding) -> list[Fix]:
    """`Dim.AUTO` in place of what promises that every size will do."""
    said = tree.expression_at(finding.range)
    if isinstance(said, ast.Name):
        said = next(
            (
                each.value
                for each in ast.walk(tree.module)
                if isinstance(each, ast.Assign) and tree.text_of(each.targets[0]) == said.id
            ),
            None,
        )
    promises = (
        [each for each in ast.walk(said) if isinstance(each, ast.Attribute) and each.attr == "DYNAMIC"]
        if said is not None
        else []
    )
    edits = [edit for each in promises if (edit := tree.rename(each, "AUTO")) is not None]
    return [Fix("Leave open what the code leaves open (`Dim.AUTO`)", tuple(edits), keeps_results=True)] if edits else []
