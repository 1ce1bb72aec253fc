"""`print(x)` in compiled code as `comptime.print(x)`: said once, while torch compiles, and the graph stays whole.

It says what torch knows of a value then: of a tensor its shape and dtype, and no numbers. In eager it prints as ever.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inductor_debug.engine.fixes.edits import Fix
from inductor_debug.engine.fixes.tree import Tree


def guesses(tree: Tree, function: ast.FunctionDef) -> Iterator[list[Fix]]:
    """One for each print of a single value in `forward` or in a function that is compiled where it is defined."""
    compiled = any("compile" in ast.unparse(decorator) for decorator in function.decorator_list)
    torch = tree.imported("torch")
    if torch is None or not (compiled or function.name == "forward"):
        return
    name, imports = torch
    for call in ast.walk(function):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "print":
            continue
        if len(call.args) == 1 and not call.keywords and isinstance(call.args[0], ast.Name | ast.Attribute):
            title = f"Print what torch knows of `{tree.text_of(call.args[0])}` while it compiles"
            edits = (*imports, tree.replace(call.func, f"{name}._dynamo.comptime.comptime.print"))
            yield [Fix(title, edits, keeps_results=True, witness=tree.range_of(call))]
