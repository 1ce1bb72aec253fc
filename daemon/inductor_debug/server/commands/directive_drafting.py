"""Directive comments as an editor has them written: from the expressions that somebody types to edits of a document.

A definition may have several directive comments; what they say beside inputs and constructor arguments is kept, in one
comment. Expressions are parsed, never evaluated.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence

from inductor_debug_schema import DirectiveDraft, Position, Range, Replacement

from inductor_debug.server.state.editor_texts import EditorDocument
from inductor_debug.server.state.text_outline import Definition
from inductor_debug.source.directives import DirectiveComment, directive_comments
from inductor_debug.source.text_lines import split_lines, utf16_length

_OURS = ("inputs", "init")


class ExpressionError(ValueError):
    """What somebody typed cannot stand in a directive; the message says why, for them."""


def draft(
    document: EditorDocument, definition: Definition, inputs: str | None = None, init: str | None = None
) -> DirectiveDraft:
    """What a class's directive says now, and the edits that would have it say something else.

    Args:
        document: where the class is defined.
        definition: the class.
        inputs: what `forward` gets, as Python: one expression, several with commas, or a tuple, list or dict of them.
            None where only what is there now is asked for.
        init: what the class is made with, alike; "" for nothing.
    """
    lines = split_lines(document.text.removeprefix("\ufeff"))
    there = directive_comments(document.text).get(definition.top, [])
    said = {key: text.partition("=")[2].strip() for comment in there for key, text in comment.parts if key in _OURS}
    problem, edits = "", []
    if inputs is not None:
        try:
            edits = list(_edits(lines, definition.top, there, _parts(inputs, init or "")))
        except ExpressionError as error:
            problem = str(error)
    return DirectiveDraft(
        uri=document.uri,
        name=definition.name,
        required=list(definition.required),
        inputs=said.get("inputs"),
        init=said.get("init"),
        problem=problem,
        edits=edits,
    )


def arguments(expression: str) -> str:
    """Arguments of a call as a directive has them: `x` → `(x,)`, `x, y` → `(x, y)`; a list or a dict stays as it is.

    Raises:
        ExpressionError: it is no Python expression on one line.
    """
    text = expression.strip()
    if "\n" in text or "\r" in text:
        raise ExpressionError("It has to fit on one line.")
    call = _parsed(f"_({text}\n)")
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ExpressionError("A bracket is closed that was not opened.")
    if call.keywords:
        raise ExpressionError("Arguments by name stand in a dict: {'name': value}.")
    one = len(call.args) == 1
    if one and isinstance(call.args[0], ast.Tuple | ast.List | ast.Dict) and not text.endswith(","):
        made = text
    else:
        made = f"({text.removesuffix(',')},)" if one else f"({text})"
    _parsed(f"({made})")  # a comment at its end would hide what follows
    return made


def _parsed(text: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes: who runs the text is warned
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise ExpressionError(f"This is not a Python expression: {getattr(error, 'msg', error)}.") from error
    except (RecursionError, MemoryError) as error:
        raise ExpressionError("This is nested too deeply.") from error


def _parts(inputs: str, init: str) -> list[str]:
    return [f"inputs={arguments(inputs)}", *([f"init={arguments(init)}"] if init.strip() else [])]


def _edits(
    lines: Sequence[str], top: int, there: Sequence[DirectiveComment], parts: list[str]
) -> Iterator[Replacement]:
    """One comment with the given parts and what the present ones say besides; of these the first makes room for it."""
    others = [text for comment in there for key, text in comment.parts if key not in _OURS]
    indentation = lines[top][: len(lines[top]) - len(lines[top].lstrip())] if top < len(lines) else ""
    text = f"{indentation}# inductor-debug: {', '.join([*parts, *others])}"
    if not there:
        yield Replacement(Range(Position(top, 0), Position(top, 0)), f"{text}\n")
        return
    first, *rest = there
    yield Replacement(Range(Position(first.first, 0), Position(first.last, utf16_length(lines[first.last]))), text)
    for comment in rest:
        yield Replacement(Range(Position(comment.first, 0), Position(comment.last + 1, 0)), "")
