"""Writes the shapes of a function's values into its text, in the style that the file has: comments or jaxtyping.

What is written is what the last analysis of this very text saw, of values that had one shape in every run. Comments
change nothing that runs, nor do annotations of local variables, which Python does not evaluate; that is looked at once
more before anything is offered. Arguments are left alone: what a function is given is not known of every call.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from inductor_debug_schema import ExpressionFact, Position, Range, StatedBy, TensorFact

from inductor_debug.engine.fixes.edits import Fix, TextEdit, applied
from inductor_debug.server.state.text_outline import NamedValue, outline_of
from inductor_debug.source.comments import comments
from inductor_debug.source.parsing import SyntaxFault, parse
from inductor_debug.source.shape_notes import function_notes
from inductor_debug.source.text_lines import slice_of, split_lines, utf16_length

Function = ast.FunctionDef | ast.AsyncFunctionDef
_UNNAMED = re.compile(r"\b[suz]\d+\b")
"""Sizes that torch has given names, which say nothing to anybody."""
_CLASSES: Mapping[str, Sequence[str]] = {
    "float16": ("Float", "Float16"),
    "bfloat16": ("Float", "BFloat16"),
    "float32": ("Float", "Float32"),
    "float64": ("Float", "Float64"),
    "int32": ("Int", "Int32", "Integer"),
    "int64": ("Int", "Int64", "Integer"),
    "uint8": ("UInt", "UInt8", "Integer"),
    "bool": ("Bool",),
}


@dataclass(frozen=True)
class _Value:
    """A value of the function with the one shape that it had."""

    binding: NamedValue
    tensor: TensorFact


def shapes_written(text: str, place: Range, facts: Mapping[Range, ExpressionFact]) -> tuple[str, Fix] | None:
    """What writes the shapes in the function whose head is at `place`, and how it is called; None for nothing to write.

    Args:
        text: the document.
        place: the cursor or selection.
        facts: what each expression of this text gave.
    """
    tree, outline = parse(text), outline_of(text)
    if isinstance(tree, SyntaxFault) or outline is None:
        return None
    function = _function_at(tree, place.start.line)
    if function is None:
        return None
    values = list(_values(function, outline.bindings, facts))
    classes = _jaxtyping(tree)
    edits = list(_annotations(text, function, values, classes) if classes else _comments(text, function, values))
    if not edits:
        return None
    changed = parse(applied(text, edits))
    if isinstance(changed, SyntaxFault) or _bare(changed) != _bare(tree):
        return None
    style = "jaxtyping" if classes else "comments"
    return f"Write the shapes of {function.name} as {style}", Fix("", tuple(edits), keeps_results=True)


def _function_at(tree: ast.Module, line: int) -> Function | None:
    """The function in whose head, from `def` to the colon, a line is."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, Function) and node.lineno - 1 <= line < max(node.body[0].lineno - 1, node.lineno)
    ]
    return max(around, key=lambda node: node.lineno, default=None)


def _own_lines(function: Function) -> set[int]:
    """The zero-based lines of a function without those of the functions and classes in it."""
    lines = set(range(function.lineno - 1, function.end_lineno or function.lineno))
    for node in ast.walk(function):
        if node is not function and isinstance(node, Function | ast.ClassDef):
            lines -= set(range(node.lineno - 1, node.end_lineno or node.lineno))
    return lines


def _values(
    function: Function, bindings: Sequence[NamedValue], facts: Mapping[Range, ExpressionFact]
) -> Iterator[_Value]:
    lines = _own_lines(function)
    for binding in bindings:
        found = [facts[value] for value in binding.values if value in facts]
        if binding.place.start.line not in lines or binding.slot is not None or len(found) != len(binding.values):
            continue
        tensors = [one.outputs for one in found if one.exact and not one.variants and len(one.outputs) == 1]
        shapes = {tuple(map(str, outputs[0].shape)) for outputs in tensors}
        if len(tensors) == len(found) and len(shapes) == 1 and not any(map(_UNNAMED.search, next(iter(shapes)))):
            yield _Value(binding, tensors[0][0])


def _comments(text: str, function: Function, values: Sequence[_Value]) -> Iterator[TextEdit]:
    """A comment at the end of each statement that gives one value and has none."""
    lines = split_lines(text.removeprefix("\ufeff"))
    taken = {comment.line for comment in comments(text)}
    begin, end, between = _style(text)
    statements = [node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function]
    ends = Counter(node.end_lineno for node in statements if not hasattr(node, "body"))
    for value in values:
        line = value.binding.place.start.line
        around = [node for node in statements if node.lineno - 1 == line and not hasattr(node, "body")]
        if len(around) != 1 or ends[around[0].end_lineno] != 1:
            continue
        last = (around[0].end_lineno or around[0].lineno) - 1
        code = lines[last].rstrip()
        if last in taken or not value.tensor.shape or code.endswith(";"):
            continue
        at = Position(last, utf16_length(code))
        shape = between.join(map(str, value.tensor.shape))
        comma = "," if len(value.tensor.shape) == 1 and begin == "(" else ""
        taken.add(last)
        yield TextEdit(Range(at, Position(last, utf16_length(lines[last]))), f"  # {begin}{shape}{comma}{end}")


def _style(text: str) -> tuple[str, str, str]:
    """How the file writes shapes in comments: what stands around the sizes and between them."""
    written = Counter(
        each.note.written[0] if each.note.written[0] in "([" else "x"
        for notes in function_notes(text)
        for each in notes.statements
        if each.note.stated_by is StatedBy.COMMENT
    )
    styles = {"(": ("(", ")", ", "), "[": ("[", "]", ", "), "x": ("", "", " x ")}
    return styles[written.most_common(1)[0][0] if written else "("]


def _jaxtyping(tree: ast.Module) -> dict[str, str]:
    """The classes of jaxtyping's that a file imports, with the names that it gives them."""
    return {
        alias.name: alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "jaxtyping"
        for alias in node.names
    }


def _annotations(
    text: str, function: Function, values: Sequence[_Value], classes: Mapping[str, str]
) -> Iterator[TextEdit]:
    """An annotation of each variable where it is first set, and of what the function returns."""
    tensor = _name_of_tensor(text)
    lines = split_lines(text.removeprefix("\ufeff"))
    single = {
        node.lineno - 1: node
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    }
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    known = {argument.arg for argument in arguments} | {
        node.target.id
        for node in ast.walk(function)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    returned: list[str] = []
    for value in values:
        written = _annotation(value.tensor, classes, tensor)
        place = value.binding.place
        if value.binding.returned:
            returned.append(written)
        elif written and place.start.line in single and (name := slice_of(lines, place)) not in known:
            known.add(name)
            yield TextEdit(Range(place.end, place.end), f": {written}")
    returns = sum(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(function))
    if function.returns is None and len(returned) == returns and len(set(returned)) == 1 and returned[0]:
        yield from _of_result(lines, function, returned[0])


def _annotation(tensor: TensorFact, classes: Mapping[str, str], name: str) -> str:
    """`Float[Tensor, "batch 8"]`; empty where the file imports no class that it fits."""
    fitting = next((classes[each] for each in _CLASSES.get(tensor.dtype, ()) if each in classes), "")
    dims = " ".join(str(size).replace(" ", "") for size in tensor.shape)
    return f'{fitting}[{name}, "{dims}"]' if fitting and name else ""


def _name_of_tensor(text: str) -> str:
    if re.search(r"^from torch import .*\bTensor\b", text, re.MULTILINE):
        return "Tensor"
    return "torch.Tensor" if re.search(r"^import torch\b", text, re.MULTILINE) else ""


def _of_result(lines: Sequence[str], function: Function, written: str) -> Iterator[TextEdit]:
    """The annotation before the colon that ends the head of a function, where that stands alone in its line's end."""
    first = function.body[0].lineno - 1
    for number in range(first - 1, function.lineno - 2, -1):
        code = lines[number].partition("#")[0].rstrip()
        if code:
            if code.endswith("):"):
                at = Position(number, utf16_length(code[:-1]))
                yield TextEdit(Range(at, at), f" -> {written}")
            return


def _bare(tree: ast.Module) -> str:
    """A text as it runs: without the annotations of its functions' variables and results."""

    class Bare(ast.NodeTransformer):
        def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
            return node if node.value is None else ast.Assign([node.target], node.value)

        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
            self.generic_visit(node)
            node.returns = None
            return node

    return ast.dump(Bare().visit(ast.parse(ast.unparse(tree))))
