"""What free sizes are called, wherever users read of them: as their code calls them, else by what they usually mean.

`B, T, C = x.shape`, `B = x.size(0)` and `len(x)` name dimensions of an argument in its author's own words. Reads text
only; which sizes are free is decided elsewhere.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from inductor_debug.capture.inference.specs.specs import Guess, TensorSpec

_MEANINGS = {"B": "batch", "T": "seq", "S": "other_seq", "H": "height", "W": "width", "L": "length", "N": "nodes"}
"""Dimensions that have one name in this package, as people say them."""


def names_of(
    guess: Guess, free: frozenset[str], traced: Mapping[str, int], function: Callable[..., Any]
) -> dict[str, str]:
    """A name for each free size of a call to `function`; sizes that are one number in the traced call have one name.

    Returns:
        Names by the sizes' own, no two numbers with the same; `s0`, `s1` where nothing better is known.
    """
    written = _written_in(function, guess)
    names: dict[int, str] = {}
    used = [name for name in guess.used_sizes() if name in free]
    for name in used:
        if traced[name] not in names:
            same = [other for other in used if traced[other] == traced[name]]
            numbered = f"s{len(names)}"
            known = [
                *(written[other] for other in same if other in written),
                *(_MEANINGS.get(other, "") for other in same),
            ]
            names[traced[name]] = next((one for one in known if one and one not in names.values()), numbered)
    return {name: names[traced[name]] for name in free if traced[name] in names}


def _written_in(function: Callable[..., Any], guess: Guess) -> dict[str, str]:
    """What the code of a function calls the sizes of its arguments."""
    forward = getattr(function, "forward", function)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(forward)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return {}
    dims = {item.name: item.spec.dims for item in guess.arguments if isinstance(item.spec, TensorSpec)}
    found: dict[str, str] = {}
    given_anew: set[str] = set()
    for target, value in _assignments(tree):
        for index, name in _named(target, value, given_anew):
            argument, size = _argument_of(value), None
            if argument in dims and -len(dims[argument]) <= index < len(dims[argument]):
                size = dims[argument][index]
            if isinstance(size, str) and not name.startswith("_"):
                found.setdefault(size, name)
        given_anew.update(part.id for part in ast.walk(target) if isinstance(part, ast.Name))
    return found


def named_dimensions(tree: ast.AST) -> Iterator[tuple[ast.expr, str, dict[int, str]]]:
    """What assignments call the dimensions of variables: the value, the variable, and the names by index."""
    for target, value in _assignments(tree):
        names = {index: name for index, name in _named(target, value, set()) if not name.startswith("_")}
        if names:
            yield value, _argument_of(value), names


def _assignments(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Targets and values in the order of the text."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and len(node.targets) == 1]
    for node in sorted(found, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(node.targets[0].elts, node.value.elts, strict=False)
        else:
            yield node.targets[0], node.value


def _named(target: ast.expr, value: ast.expr, given_anew: set[str]) -> Iterator[tuple[int, str]]:
    """The dimensions of an argument that an assignment names, each by its index."""
    if _argument_of(value) in given_anew:
        return
    if isinstance(target, ast.Name):
        index = _index_of(value)
        if index is not None:
            yield index, target.id
    elif isinstance(target, ast.Tuple) and _is_whole_shape(value):
        starred = [index for index, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
        for index, part in enumerate(target.elts):
            if isinstance(part, ast.Name):
                yield index - len(target.elts) if starred and index > starred[0] else index, part.id


def _argument_of(value: ast.expr) -> str:
    """`x` of `x.shape`, `x.shape[0]`, `x.size()`, `x.size(0)` and `len(x)`; else nothing."""
    if isinstance(value, ast.Subscript):
        value = value.value
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id == "len"
        and len(value.args) == 1
    ):
        value = ast.Attribute(value.args[0], "shape")
    if isinstance(value, ast.Call):
        value = value.func
    shape = isinstance(value, ast.Attribute) and value.attr in ("shape", "size") and isinstance(value.value, ast.Name)
    return value.value.id if shape else ""  # type: ignore[attr-defined]


def _is_whole_shape(value: ast.expr) -> bool:
    """`x.shape`, or `x.size()`."""
    return isinstance(value, ast.Attribute) or (isinstance(value, ast.Call) and not value.args)


def _index_of(value: ast.expr) -> int | None:
    """Which dimension `x.shape[0]`, `x.size(0)` or `len(x)` is; None where it is no single one."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return 0
    index = value.slice if isinstance(value, ast.Subscript) else None
    if isinstance(value, ast.Call) and len(value.args) == 1:
        index = value.args[0]
    try:
        number = ast.literal_eval(index) if index is not None else None
    except ValueError:
        return None
    return number if isinstance(number, int) else None
