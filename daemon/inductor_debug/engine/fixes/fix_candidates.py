"""Which fixes may mend a finding: the one table from rules to the modules that guess."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inductor_debug_schema import Finding

from inductor_debug.accelerators.profile import Profile, ProfileError, read_profile
from inductor_debug.engine.fixes import alignment, conflict_fixes, dtype, export_fixes, layout, shape_fixes, state_fixes
from inductor_debug.engine.fixes.breaks import causes
from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.tree import Tree, tree_of

_RULES: Mapping[str, Callable[[Tree, Finding, Profile], list[Fix]]] = {
    "dtype": dtype.fixes,
    "float64": dtype.narrowing,
    "layout": layout.fixes,
    "alignment": alignment.fixes,
    "matrix-padding": alignment.fixes,
    "capture-error": conflict_fixes.fixes,
    "mixed-dtypes": conflict_fixes.fixes,
    "fixed-size": conflict_fixes.of_facts,
    "export": export_fixes.fixes,
    "graph-break": causes.fixes,
    "missing-attribute": conflict_fixes.fixes,
    "recompile": state_fixes.fixes,
    "shape-annotation": shape_fixes.fixes,
}

FIXABLE = frozenset(_RULES)
"""The rules that have fixes at all."""


def guesses(text: str, finding: Finding, profile: Mapping[str, Any]) -> list[Fix]:
    """The fixes worth trying for a finding in `text`, the likeliest and smallest first.

    `profile` is the accelerator's document. A text that does not parse has none.
    """
    guess = _RULES.get(finding.rule)
    tree = tree_of(text) if guess is not None else None
    if guess is None or tree is None:
        return []
    try:
        return guess(tree, finding, read_profile(dict(profile)))
    except ProfileError:
        return []
