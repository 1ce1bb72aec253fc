"""Comments that state a wrong shape say the right one, where the run has told it in the function's own names."""

from __future__ import annotations

from inductor_debug_schema import Finding, StatedShape

from inductor_debug.accelerators.profile import Profile
from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.fixes.tree import Tree


def fixes(tree: Tree, finding: Finding, profile: Profile) -> list[Fix]:
    """What is stated, replaced by what is so."""
    facts = finding.facts
    if not isinstance(facts, StatedShape) or not facts.instead:
        return []
    return [Fix(f"Say {facts.instead}", (TextEdit(finding.range, facts.instead),), keeps_results=True)]
