"""The edits that are tried for a finding that nothing better is known of: the likeliest near the failure first."""

from __future__ import annotations

from inductor_debug_schema import Finding

from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.search.edit_operators import changes
from inductor_debug.engine.fixes.search.suspected_expressions import suspects
from inductor_debug.engine.fixes.tree import Tree

MOST = 32
"""Edits for one finding; each costs a run of its target."""


def searched(tree: Tree, finding: Finding) -> list[Fix]:
    """Every small edit of what is suspected: by how often people get it wrong, then by how near it is."""
    ranked = [
        (change.rank, distance, change.fix)
        for distance, suspect in enumerate(suspects(tree, finding))
        for change in changes(tree, suspect)
    ]
    ranked.sort(key=lambda each: each[:2])
    return list(dict.fromkeys(fix for _, _, fix in ranked))[:MOST]
