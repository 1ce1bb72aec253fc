"""What `torch.export` is told so that it goes on: `torch._check(n > 3)` before the statement that has to know."""

from __future__ import annotations

from inductor_debug_schema import ExportFault, ExportStop, Finding

from inductor_debug.accelerators.profile import Profile
from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.statements import indentation, insertion
from inductor_debug.engine.fixes.tree import Tree


def fixes(tree: Tree, finding: Finding, profile: Profile) -> list[Fix]:
    """The check of the condition, and of its opposite, where the condition can be written."""
    facts = finding.facts
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
