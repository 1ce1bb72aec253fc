"""What of a saved file runs when it is imported, and whether an edited text still has exactly that.

Compared are the syntax trees with the bodies of functions emptied. Parsing a thousand lines takes longer than some
models take to preview, so an edit inside of one top-level statement is judged by parsing that statement alone: the
statements around it are the same lines as before. Nothing is ever executed.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass
from functools import cached_property

from inductor_debug.source.parsing import SyntaxFault, parse
from inductor_debug.source.text_changes import differing_lines
from inductor_debug.source.text_lines import split_lines


@dataclass(frozen=True, slots=True)
class _Block:
    """Consecutive top-level statements that share lines `[first, last]`, and the digest of what of them runs."""

    first: int
    last: int
    digest: bytes


class TopLevel:
    """The top-level code of a saved text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def same_in(self, text: str) -> bool | SyntaxFault:
        """Whether `text` differs from the saved text inside of functions only; a fault if it does not parse."""
        if self._same_in_one_statement(text):
            return True
        tree = parse(text)
        if isinstance(tree, SyntaxFault):
            return tree
        return self._digest is not None and self._digest == _digest(tree.body)

    def _same_in_one_statement(self, text: str) -> bool:
        old, new = self._lines, split_lines(text)
        head, old_end, new_end = differing_lines(old, new)
        for block in self._blocks:
            if block.first <= head and old_end <= block.last + 1:
                last = block.last + new_end - old_end
                tree = parse("\n".join(new[block.first : last + 1]))
                return not isinstance(tree, SyntaxFault) and _digest(tree.body) == block.digest
        return False

    @cached_property
    def _lines(self) -> list[str]:
        return split_lines(self._text)

    @cached_property
    def _tree(self) -> ast.Module | None:
        tree = parse(self._text)
        return None if isinstance(tree, SyntaxFault) else tree

    @cached_property
    def _digest(self) -> bytes | None:
        return None if self._tree is None else _digest(self._tree.body)

    @cached_property
    def _blocks(self) -> list[_Block]:
        blocks: list[list[ast.stmt]] = []
        for node in self._tree.body if self._tree is not None else ():
            if blocks and _first(node) <= _last(blocks[-1][-1]):
                blocks[-1].append(node)
            else:
                blocks.append([node])
        return [_Block(_first(nodes[0]), _last(nodes[-1]), _digest(nodes)) for nodes in blocks]


def _first(node: ast.stmt) -> int:
    """The zero-based line where a statement begins, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1


def _last(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - 1


def _digest(body: list[ast.stmt]) -> bytes:
    """A digest of all that runs when the statements do: everything but the bodies of functions.

    Decorators, defaults, annotations, class bodies and module-level lambdas are part of it; positions, comments and
    formatting are not. The statements are used up: their function bodies are emptied.
    """
    digest = hashlib.blake2b(digest_size=16)
    for node in body:
        _blank(node)
        digest.update(ast.dump(node, annotate_fields=False).encode("utf-8", "surrogatepass"))
    return digest.digest()


def _blank(node: ast.AST) -> None:
    """Empties function bodies in place. Only statements can hold a `def`, so expressions are not visited."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        node.body = []
        return
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, name, ()):
            if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                _blank(child)
