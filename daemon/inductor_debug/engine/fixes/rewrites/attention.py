"""Attention written by hand (`softmax(q @ k.transpose(-2, -1) * scale + mask) @ v`) as torch's own function.

It is read backwards from the last product, through names that are used once. Whether a mask is causal and whether the
scale is the usual one is not proved here: the plainest call is guessed first, and a comparison decides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.fixes.rewrites.names import Straight, called, declared, is_number, method_of, number
from inductor_debug.engine.fixes.tree import Tree

_NAME = "scaled_dot_product_attention"
_LEAST_FILL = -1e4
"""What is filled in for scores that must not count is at most this."""


@dataclass
class _Found:
    """What has been read so far.

    The mask may be `causal` where it is made of what the module knows; the scale is the `usual` one where the size of
    a head says it.
    """

    masks: list[str] = field(default_factory=list)
    causal: bool = False
    scale: str = ""
    usual: bool = False
    dropout: str = ""


def guesses(tree: Tree, function: ast.FunctionDef) -> Iterator[list[Fix]]:
    """The calls that may stand for each attention of a function."""
    for node in ast.walk(function):
        if isinstance(node, (ast.BinOp, ast.Call)) and tree.function_around(node) is function:
            found = _Reader(tree, function, node).read()
            if found:
                yield found


class _Reader:
    def __init__(self, tree: Tree, function: ast.FunctionDef, product: ast.expr) -> None:
        self._tree, self._function, self._product = tree, function, product
        self._straight = Straight(tree, function, product)
        self._found = _Found()

    def read(self) -> list[Fix]:
        """The guesses; none where the product is not the last one of an attention."""
        last = _factors(self._product, ("bhij,bhjd->bhid", "bij,bjd->bid"))
        if last is None:
            return []
        weights = self._without_dropout(self._straight.value(last[0]))
        scores = self._before_softmax(weights)
        if scores is None:
            return []
        operands = self._operands(self._straight.value(scores))
        if operands is None or not self._straight.can_be_left_out:
            return []
        query, key = operands
        moved = [query, key]
        if not all(map(self._straight.holds_still, moved)):
            return []
        return self._fixes(self._tree.text_of(query), self._tree.text_of(key), self._tree.text_of(last[1]))

    def _without_dropout(self, node: ast.expr) -> ast.expr:
        call = called(node)
        if call is None or not isinstance(node, ast.Call):
            return node
        layer = declared(self._tree, node, "Dropout")
        if layer is not None and len(node.args) == 1:
            self._found.dropout = f"{self._tree.text_of(node.func)}.p if self.training else 0.0"
            return self._straight.value(node.args[0])
        if call == "dropout" and node.args:
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            rate = given.get("p") or (node.args[1] if len(node.args) > 1 else None)
            training = given.get("training") or (node.args[2] if len(node.args) > 2 else None)
            if rate is not None and training is not None:
                rate_text, mode = self._tree.text_of(rate), self._tree.text_of(training)
                self._found.dropout = f"{rate_text} if {mode} else 0.0"
                return self._straight.value(node.args[0])
        return node

    def _before_softmax(self, node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.Call):
            return None
        layer = declared(self._tree, node, "Softmax")
        if layer is not None:
            given = [*layer.args, *(keyword.value for keyword in layer.keywords)]
            return node.args[0] if len(given) == 1 and number(given[0]) == -1 and len(node.args) == 1 else None
        if called(node) != "softmax":
            return None
        tensor, rest = method_of(node)
        dims = [*rest, *(keyword.value for keyword in node.keywords if keyword.arg == "dim")]
        others = [keyword for keyword in node.keywords if keyword.arg != "dim"]
        return tensor if len(dims) == 1 and number(dims[0]) in (-1, 3) and not others else None

    def _operands(self, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
        """Query and key, once scales and masks are read off."""
        while True:
            product = _factors(node, ("bhid,bhjd->bhij", "bid,bjd->bij"))
            if product is not None and _is_einsum(node):
                return product
            if product is not None:
                key = _transposed(self._straight.value(product[1]))
                return None if key is None else (product[0], key)
            inner = self._scaled(node) or self._masked(node)
            if inner is None:
                return None
            node = self._straight.value(inner)

    def _scaled(self, node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Mult, ast.Div)) or self._found.scale:
            return None
        factor = node.right
        if not self._straight.holds_still(factor):
            return None
        text = self._tree.text_of(factor)
        divided = isinstance(node.op, ast.Div)
        self._found.scale = f"1 / {self._tree.enclosed(factor)}" if divided else text
        resolved = self._tree.text_of(self._straight.peek(factor))
        size = any(part in resolved for part in ("size(-1)", "shape[-1]"))
        self._found.usual = size and ("sqrt" in resolved or "0.5" in resolved)
        return node.left

    def _masked(self, node: ast.expr) -> ast.expr | None:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._mask(node.right, node.left, self._tree.text_of(node.right))
        if isinstance(node, ast.Call) and called(node) == "masked_fill":
            tensor, rest = method_of(node)
            if len(rest) == 2 and not node.keywords and is_number(rest[1], at_most=_LEAST_FILL):
                self._found.causal = not self._straight.comes_from_outside(rest[0])
                return self._mask(rest[0], tensor, _negated(self._tree, rest[0]))
        return None

    def _mask(self, mask: ast.expr, tensor: ast.expr | None, text: str) -> ast.expr | None:
        if tensor is None or self._found.masks or not self._straight.holds_still(mask):
            return None
        self._found.masks.append(text)
        return tensor

    def _fixes(self, query: str, key: str, value: str) -> list[Fix]:
        function, imports = self._function_name()
        if not function:
            return []
        found = self._found
        masks = [f"attn_mask={mask}" for mask in found.masks]
        ways = [*([["is_causal=True"]] if found.causal else []), masks]
        scale = [f"scale={found.scale}"] if found.scale else ["scale=1.0"]
        scales = [[], scale] if found.usual else [scale]
        dropout = [f"dropout_p={found.dropout}"] if found.dropout else []
        made: list[Fix] = []
        for way in ways:
            for by in scales:
                call = f"{function}({', '.join([query, key, value, *dropout, *way, *by])})"
                edits = (*imports, *self._straight.left_out(), self._tree.replace(self._product, call))
                witness = self._tree.range_of(self._product)
                made.append(Fix(f"Use `{function}`", edits, keeps_results=True, witness=witness))
        return made

    def _function_name(self) -> tuple[str, tuple[TextEdit, ...]]:
        """What the file calls torch's function."""
        for node in ast.walk(self._tree.module):
            if isinstance(node, ast.ImportFrom) and node.module in ("torch.nn", "torch"):
                for alias in node.names:
                    if alias.name == ("functional" if node.module == "torch.nn" else "nn"):
                        nested = "" if alias.name == "functional" else ".functional"
                        return f"{alias.asname or alias.name}{nested}.{_NAME}", ()
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name == "torch.nn.functional" and alias.asname:
                        return f"{alias.asname}.{_NAME}", ()
        torch = self._tree.imported("torch")
        return ("", ()) if torch is None else (f"{torch[0]}.nn.functional.{_NAME}", torch[1])


def _factors(node: ast.expr, equations: tuple[str, ...]) -> tuple[ast.expr, ast.expr] | None:
    """The two factors of a matrix product, or of an `einsum` that is one of these."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return node.left, node.right
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if called(node) == "einsum" and len(node.args) == 3:
        equation = node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
        same = isinstance(equation, str) and _canonical(equation) in map(_canonical, equations)
        return (node.args[1], node.args[2]) if same else None
    if called(node) in ("matmul", "bmm"):
        tensor, rest = method_of(node)
        return (tensor, rest[0]) if tensor is not None and len(rest) == 1 else None
    return None


def _is_einsum(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and called(node) == "einsum"


def _canonical(equation: str) -> str:
    """An equation with its letters in the order in which they come."""
    letters: dict[str, str] = {}
    text = equation.replace(" ", "")
    return "".join(letters.setdefault(each, chr(97 + len(letters))) if each.isalpha() else each for each in text)


def _transposed(node: ast.expr) -> ast.expr | None:
    """The tensor whose last two dimensions are exchanged."""
    if isinstance(node, ast.Attribute) and node.attr == "mT":
        return node.value
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    tensor, rest = method_of(node)
    dims = tuple(map(number, rest))
    if called(node) in ("transpose", "swapaxes") and dims in ((-2, -1), (-1, -2), (2, 3), (3, 2)):
        return tensor
    if called(node) == "permute" and dims == (0, 1, 3, 2):
        return tensor
    return None


def _negated(tree: Tree, condition: ast.expr) -> str:
    """A mask of what is to be filled, as one of what counts."""
    if isinstance(condition, ast.Compare) and len(condition.ops) == 1 and isinstance(condition.ops[0], ast.Eq):
        return f"{tree.text_of(condition.left)} != {tree.text_of(condition.comparators[0])}"
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Invert):
        return tree.text_of(condition.operand)
    return f"~{tree.enclosed(condition)}"
