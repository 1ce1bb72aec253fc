"""State that calls change, as one graph can serve it: a default of its own for each call, a tensor for a number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inductor_debug_schema import Finding, Position, Range, Recompilation, StateChange, StateHolder

from inductor_debug.accelerators.profile import Profile
from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.fixes.statements import indentation, unit
from inductor_debug.engine.fixes.tree import Tree
from inductor_debug.source.writes import default_of, function_at, owner_of

_CONSTRUCTOR = "__init__"


def fixes(tree: Tree, finding: Finding, profile: Profile) -> list[Fix]:
    """The guesses for one finding of `recompile`; none where it is not about state, or about state of another kind."""
    state = finding.facts.state if isinstance(finding.facts, Recompilation) else None
    if state is None:
        return []
    if state.held_by is StateHolder.DEFAULT:
        return list(_made_anew(tree, finding.range, state.state_name))
    if state.changes_in not in (StateChange.NUMBER, StateChange.TYPE) or state.held_by is not StateHolder.ATTRIBUTE:
        return []
    return [*_buffer(tree, finding.range), *_given_as_tensor(tree, state.state_name)]


def _made_anew(tree: Tree, place: Range, name: str) -> Iterator[Fix]:
    """`cache=None`, and a list of its own for every call that is given none."""
    function = function_at(tree.module, place.start.line + 1)
    found = default_of(function, name) if function is not None else None
    if function is None or found is None:
        return
    _, default = found
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    indent = indentation(tree, body[0]) if body else None
    if indent is None:
        return
    start = Position(tree.range_of(body[0]).start.line, 0)
    lines = (f"{indent}if {name} is None:", f"{indent}{unit(tree, body[0])}{name} = {tree.text_of(default)}", "")
    made = TextEdit(Range(start, start), tree.newline.join(lines))
    yield Fix(f"Make a new `{name}` for every call", (tree.replace(default, "None"), made))


def _buffer(tree: Tree, place: Range) -> Iterator[Fix]:
    """A number that the constructor sets, as a tensor in a buffer: graphs rely on its dtype, not on its value."""
    changing = tree.scope_at(place)
    owner = owner_of(changing) if changing is not None else None
    around = tree.class_around(changing) if changing is not None else None
    if around is None or not isinstance(owner, ast.Attribute) or not isinstance(owner.value, ast.Name):
        return
    constructor = next((e for e in around.body if isinstance(e, ast.FunctionDef) and e.name == _CONSTRUCTOR), None)
    torch = tree.imported("torch")
    for statement in ast.walk(constructor) if constructor is not None and torch is not None else ():
        value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(value, ast.Constant) or type(value.value) not in (int, float):
            continue
        assert isinstance(statement, ast.Assign)
        assert torch is not None
        if ast.dump(owner_of(statement) or value) != ast.dump(_stored(owner)):
            continue
        name, imports = torch
        text = (
            f'{owner.value.id}.register_buffer("{owner.attr}", {name}.tensor({tree.text_of(value)}), persistent=False)'
        )
        edits = (tree.replace(statement, text), *imports)
        yield Fix(f"Keep `{owner.attr}` as a tensor, in a buffer", edits)


def _given_as_tensor(tree: Tree, name: str) -> Iterator[Fix]:
    """A number that an object is given by name and that others change in it, as a tensor: the rate of an optimizer.

    `name` is what reads it, as `optimizer.param_groups[0]['lr']`.
    """
    read = ast.parse(name, mode="eval").body
    root = next((node for node in ast.walk(read) if isinstance(node, ast.Name)), None)
    key = read.slice.value if isinstance(read, ast.Subscript) and isinstance(read.slice, ast.Constant) else None
    torch = tree.imported("torch")
    if root is None or torch is None:
        return
    for made in ast.walk(tree.module):
        if not isinstance(made, ast.Assign) or not isinstance(made.value, ast.Call):
            continue
        if [ast.unparse(target) for target in made.targets] != [root.id]:
            continue
        for given in made.value.keywords:
            if given.arg == key and isinstance(given.value, ast.Constant | ast.Name | ast.Attribute):
                text = tree.text_of(given.value)
                edits = (tree.replace(given.value, f"{torch[0]}.tensor({text})"), *torch[1])
                yield Fix(f"Give `{given.arg}={text}` as a tensor", edits, keeps_results=True)


def _stored(owner: ast.Attribute) -> ast.Attribute:
    return ast.Attribute(owner.value, owner.attr, ast.Store())
