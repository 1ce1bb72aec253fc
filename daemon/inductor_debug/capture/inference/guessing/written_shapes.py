"""Shapes that people wrote down: in annotations (jaxtyping and its kin), docstrings and comments.

Reads text and syntax only. What is found are dimension names and numbers as they were written; `input_candidates`
decides what a name stands for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass

from inductor_debug.capture.inference.specs.argument_names import dtype_in

_SIZE = r"(?:[\w.*+\-/= ]+(?:\(\w[\w.]*\))?|\.\.\.)"
"""One dimension: a name, a number, a sum or a product, `dim * len(config.layers)`."""
_SHAPE = rf"[(\[<]\s*(?P<dims>{_SIZE}(?:\s*,\s*{_SIZE})*\s*,?)\s*[)\]>]"
_ASIDE = r"\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)"
"""What stands in parentheses, with others in it."""
_TIMES = (
    r"(?P<times>\b(?:\w+(?:[ \t]+x[ \t]+\w+|[ \t]*×[ \t]*\w+){1,5}|[A-Z0-9]+(?:x[A-Z0-9]+){1,5})\b(?!\s*[x×]\s*\.\.\.))"
)
"""`B x T x C` and `BxTxC`, but no word with an x in it."""
_DIMENSION = re.compile(r"[A-Za-z_][\w.]*|\d+")
_ASSIGNED = re.compile(r"([\w.]+(?:\s*,\s*[\w.]+)*)\s*=(?!=)")
_CODE = re.compile(r"[\w.]+(?:\s*,\s*[\w.]+)*\s*=\s*(?!\w*Tensor)[\w.]+\(.*\)")
"""A comment that sets something to what a call gives: `size = min(H, W)` tells no shape. It is not parsed: where that
fails, Python looks for a file."""
_ASKED_FOR_SHAPE = re.compile(r"\.(shape|size)\b")
_SPEAKS_OF_SHAPE = re.compile(r"((shape|size|dims?|dimensions?)\s*(:|of)?\s*[`'\"]*|[a-z]Tensor)$", re.IGNORECASE)
"""What one name in parentheses is a shape behind: `of size (n)`, `LongTensor(n)`."""
_NEXT = re.compile(r"\n\s*((:param\s+|:)?[A-Za-z_]\w*\s*(\([^)\n]*\))?\s*:|[-*]?\s*[`'\"]+[A-Za-z_])")
"""Where a text goes on to the next argument."""
_TENSOR_WORDS = re.compile(r"Tensor|Float|Int\b|Integer|Bool|Shaped|Num\b|Array|Complex|Inexact", re.IGNORECASE)
_OPEN = ("...", "*")
"""What stands for any number of dimensions."""
_LOOSE = ("#", "?", "_")
"""With what jaxtyping marks a size that need not be the same wherever its name stands."""
_HOLDS_SHAPE = re.compile(r"[(\[]")
_NOT_DIMENSIONS = frozenset(
    {"optional", "tensor", "torch.tensor", "float", "int", "bool", "str", "none", "list", "tuple", "default", "dict"}
)


@dataclass(frozen=True, slots=True)
class WrittenShape:
    """A shape as somebody wrote it: names and numbers; `dtype` where it was written too.

    `is_loose` says that a name may stand for several sizes.
    """

    dims: tuple[str, ...]
    dtype: str | None = None
    is_loose: bool = False


def shape_in_annotation(node: ast.expr | None) -> WrittenShape | None:
    """The shape in `Float[Tensor, "batch seq 64"]` or `TensorType["b", 3]`; None where there is none."""
    if node is None:
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return shape_in_annotation(ast.parse(node.value, mode="eval").body)
        except SyntaxError:
            return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return shape_in_annotation(node.left) or shape_in_annotation(node.right)
    if not isinstance(node, ast.Subscript):
        return None
    head = ast.unparse(node.value)
    if head.rpartition(".")[2] in ("Optional", "Union", "Annotated") and not _has_text(node.slice):
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return next((found for item in items if (found := shape_in_annotation(item))), None)
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    words: list[str] = []
    for item in items:
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            words += item.value.replace(",", " ").split()
        elif isinstance(item, ast.Constant) and isinstance(item.value, int):
            words.append(str(item.value))
    if not words or not _TENSOR_WORDS.search(ast.unparse(node)):
        return None
    return WrittenShape(_cleaned(words), dtype_in(head), any(word.startswith(_LOOSE) for word in words))


def _has_text(node: ast.expr) -> bool:
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(isinstance(item, ast.Constant) and isinstance(item.value, str) for item in items)


def _cleaned(words: list[str]) -> tuple[str, ...]:
    """Without the marks of jaxtyping (`*batch`, `#n`, `?d`, `name=4`), `...` being one batch dimension."""
    found = []
    for marked in words:
        word = marked.rpartition("=")[2]
        found.append("batch" if word in ("...", "*") else word.lstrip("*#?_+") or "n")
    return tuple(found)


def shape_in_text(name: str, text: str) -> WrittenShape | None:
    """What prose says of the argument `name`: `x: (batch, seq, dim)`, `x (Tensor): [B, 3, H, W]`, `x is B x T x C`.

    Args:
        name: the argument.
        text: a docstring or the comments of a function.
    """
    if not text or name not in text:
        return None
    start = re.compile(rf"(?<![\w.]){re.escape(name)}\b(?!\s*\()")
    for match in start.finditer(text):
        line = text[match.end() :].split("\n\n")[0]
        line = "\n".join(line.split("\n")[:3])
        following = _NEXT.search(line)
        if following is not None:
            line = line[: following.start()]
        found = _first_shape(line)
        if found is not None:
            return WrittenShape(found, dtype_in(line))
    named = re.compile(rf"(?<![\w.]){re.escape(name)}\s*(?P<kind>{_ASIDE}|\([^)\n]*\))\s*:?(?P<rest>[^\n]*)")
    for match in named.finditer(text):
        found = _first_shape(match.group("rest")) or _first_shape(match.group("kind"))
        if found is not None:
            return WrittenShape(found, dtype_in(match.group(0)))
    return None


def definite_shape(name: str, document: str, annotation: ast.expr | None) -> tuple[str, ...] | None:
    """The only shape that a text states for an argument, in so many words; None where it leaves any doubt.

    Args:
        name: the argument; for one that is called as the only input is, torch's own `Input: (N, C)` counts, too.
        document: the docstrings.
        annotation: what is written behind the name in the signature.
    """
    annotated = shape_in_annotation(annotation)
    if annotated is not None and annotation is not None:
        is_open = annotated.is_loose or any(mark in ast.unparse(annotation) for mark in _OPEN)
        return None if is_open else annotated.dims
    called = rf"{re.escape(name)}|inputs?" if name in ("x", "input", "inputs") else re.escape(name)
    stated = re.compile(rf"(?<![\w.])(?i:{called})\b[`'\"]*(?:\s*:|\s+[\w:]+){{0,4}}\s*{_SHAPE}(?P<rest>[^\n]*)")
    found = list(stated.finditer(document))
    if (
        len(found) != 1
        or any(mark in found[0].group(0) for mark in (*_OPEN, " or "))
        or _HOLDS_SHAPE.search(found[0]["rest"])
    ):
        return None
    shape = _first_shape(found[0].group(0)[found[0].start("dims") - found[0].start() - 1 :])
    plain = shape is not None and all(word.isidentifier() or word.isdigit() for word in shape)
    # Numbers alone may be a range of values: `x: in [0, 1]`.
    return shape if plain and shape is not None and any(word.isidentifier() for word in shape) else None


def section_of(name: str, text: str, others: Collection[str]) -> str:
    """What a text says from the first line that begins with `name` to the next that begins with one of `others`."""
    lines = text.split("\n")
    starts = [index for index, line in enumerate(lines) if _begins(line, name)]
    if not starts:
        return text
    first = starts[0]
    following = range(first + 1, len(lines))
    end = next((index for index in following if any(_begins(lines[index], item) for item in others)), len(lines))
    return "\n".join(lines[first:end])


def _begins(line: str, name: str) -> bool:
    return re.match(rf"\s*[-*]?\s*(:param )?[`'\"]*{re.escape(name)}[`'\"]*\s*(\(.*\))?\s*:", line) is not None


def input_shape(text: str) -> WrittenShape | None:
    """What torch's own style says of the only input: `Input: (N, C, H, W)`, or prose that opens with one shape."""
    match = re.search(r"\binputs?\b[^\n(\[]{0,40}(?P<rest>[(\[][^\n]*)", text, re.IGNORECASE)
    found = _first_shape(match.group("rest")) if match is not None else None
    return WrittenShape(found, dtype_in(match.group(0))) if match is not None and found is not None else None


def _first_shape(text: str) -> tuple[str, ...] | None:
    for match in re.finditer(_SHAPE, text):
        words = [word.partition("=")[0].strip() for word in match.group("dims").split(",") if word.strip()]
        # Where there is a nought it is a range of values, or an order of dimensions: `[0, 1]`, `(2, 3, 0, 1)`.
        if not words or "0" in words or any(word.lower() in _NOT_DIMENSIONS for word in words):
            continue
        if len(words) == 1 and "," not in match.group("dims"):
            if (match.group(0)[0] != "[" and " " in words[0]) or not _SPEAKS_OF_SHAPE.search(text[: match.start()]):
                continue
            if re.search(r"\bx\b", words[0]):
                words = [word.strip() for word in re.split(r"\bx\b", words[0])]
        if len(words) <= 6 and all(word == "..." or _DIMENSION.search(word) for word in words):
            # What stands first for any dimensions is the batch, what stands last one more.
            return tuple(
                ("D" if index else "batch") if word in ("...", "*") else _joined(word)
                for index, word in enumerate(words)
            )
    times = re.search(_TIMES, text)
    if times is not None:
        words = re.split(r"\s*[x×]\s*", times.group("times"))
        if all(len(word) <= 3 or word.isdigit() for word in words):
            return tuple(words)
    return None


def _joined(word: str) -> str:
    """One name for `src len` and `src_len`."""
    return re.sub(r"(?<=\w) +(?=[A-Za-z_])", "_", word).replace(" ", "")


def comments_of(lines: list[str]) -> str:
    """The comments of a piece of source, one a line, with what each is about in front: the code, or what it sets.

    `features = self.pool(x)  # (b, 2048, 1, 1)` says nothing of `x`; `b, t, c = x.shape  # (b, t, c)` does.
    """
    found = []
    for line in lines:
        code, mark, comment = line.strip().partition("#")
        if _CODE.fullmatch(comment.strip()):
            continue
        assigned = _ASSIGNED.match(code) if mark and _ASKED_FOR_SHAPE.search(code) is None else None
        found += [f"{assigned[1] if assigned is not None else code} {comment}"] if mark else []
    return "\n".join(found)
