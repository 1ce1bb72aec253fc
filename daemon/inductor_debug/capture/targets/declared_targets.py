"""What users say of a target outside its code: directive comments and settings, brought to one form.

Expressions become recipes that are evaluated in the file's namespace, later and elsewhere; `torch` may be used in them
even where the file imports only parts of it. Those of a directive keep their places in the comment, so that an
exception points into it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import torch
from inductor_debug_schema import Entry, Location, TargetSetting

from inductor_debug.capture.expressions.instruction_expressions import SourcePositions
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.targets.candidates import CandidateOrigin, Recipe
from inductor_debug.source.directives import Directive, DirectiveArgument


@dataclass(slots=True)
class DeclaredTarget:
    """How the user wants the target `name` to be made; None leaves a thing to other conventions."""

    name: str
    origin: CandidateOrigin
    location: Location
    init: Recipe | None
    inputs: Recipe | None
    entry: Recipe | None = None
    """Gives the target itself, which `name` then spells."""
    training: bool | None = None
    dynamic: bool | None = None
    fullgraph: bool = False
    used: bool = False


def declared_by_directive(directive: Directive, path: str, names: dict[str, Any], sources: SourceMap) -> DeclaredTarget:
    """The declared target of a comment in the file at `path`, whose namespace is `names`."""
    made = {
        key: _recipe_of_argument(key, argument, path, names, sources) for key, argument in directive.arguments.items()
    }
    entry = directive.arguments.get("entry")
    return DeclaredTarget(
        directive.name if entry is None else ast.unparse(entry.tree),
        CandidateOrigin.DIRECTIVE,
        Location(path, directive.range if entry is None else entry.range),
        made.get("init"),
        made.get("inputs"),
        made.get("entry"),
        directive.training,
        directive.flags.get("dynamic"),
        directive.flags.get("fullgraph", False),
    )


def declared_by_entry(entry: Entry, names: dict[str, Any], location: Location) -> DeclaredTarget:
    """What an expression from outside the file declares; complaints point at `location` unless it says where it is."""
    place, source = entry.at or location, entry.expression
    code = compile(source, "<entry>", "eval", dont_inherit=True)
    recipe = Recipe(lambda: eval(code, _with_torch(names)), place, f"the entry `{source}`")
    return DeclaredTarget(source, CandidateOrigin.ENTRY, place, None, None, recipe)


def declared_by_setting(setting: TargetSetting, names: dict[str, Any], location: Location) -> DeclaredTarget:
    """The declared target of a table in `pyproject.toml`; complaints point at `location`."""
    init = _recipe_of_setting(setting.name, "init", setting.init, names, location)
    inputs = _recipe_of_setting(setting.name, "inputs", setting.inputs, names, location)
    return DeclaredTarget(setting.name, CandidateOrigin.CONFIGURATION, location, init, inputs)


def _recipe_of_argument(
    key: str, argument: DirectiveArgument, path: str, names: dict[str, Any], sources: SourceMap
) -> Recipe:
    code = compile(argument.tree, path, "eval", dont_inherit=True)
    body = argument.tree.body
    positions = SourcePositions(body.lineno, body.end_lineno, body.col_offset, body.end_col_offset)
    frame = sources.frame_from_positions(path, "directive", positions)
    return Recipe(
        lambda: eval(code, _with_torch(names)),
        Location(path, argument.range),
        f"{key} of the directive",
        (frame,) if frame is not None else (),
    )


def _recipe_of_setting(
    name: str, key: str, expression: str | None, names: dict[str, Any], location: Location
) -> Recipe | None:
    if expression is None:
        return None
    source = expression.strip()
    what = f"{key} of target {name!r} in pyproject.toml"
    return Recipe(lambda: eval(compile(source, f"<{what}>", "eval"), _with_torch(names)), location, what)


def _with_torch(names: dict[str, Any]) -> dict[str, Any]:
    return names if "torch" in names else {**names, "torch": torch}
