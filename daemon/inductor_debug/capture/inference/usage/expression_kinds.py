"""Small questions about expressions: is this `x.shape`, which dimensions are named here, what does an index select."""

from __future__ import annotations

import ast

_NOT_DIMENSIONS = frozenset(
    {"topk", "norm", "clamp", "chunk", "split", "roll", "narrow", "select", "gather", "max", "min"}
)

_MAKE_TENSORS = frozenset(("tensor", "as_tensor", "Tensor", "FloatTensor", "DoubleTensor"))
_CONVERT_TENSORS = frozenset(("float", "double", "half", "contiguous", "clone", "detach"))


def shape_of(node: ast.expr) -> ast.expr | None:
    """`x` of `x.shape` or `x.size()`; also of `x.shape[-2:]`-free unpackings only."""
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        return node.value
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "size"
        and not node.args
    ):
        return node.func.value
    return None


def name_of(node: ast.expr) -> str:
    """The last part of a dotted name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def table_of(node: ast.expr) -> ast.expr:
    """What a table is made of in `torch.tensor(rows)`, `FloatTensor(rows)` and `rows.float()`; else itself."""
    if isinstance(node, ast.Call) and name_of(node.func) in _MAKE_TENSORS and len(node.args) == 1:
        return table_of(node.args[0])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CONVERT_TENSORS:
        return table_of(node.func.value)
    return node


def integer(node: ast.expr | None) -> int | None:
    """The value of an integer literal, negative ones too."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = integer(node.operand)
        return -inner if inner is not None else None
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
        return node.value
    return None


def is_scalar(node: ast.expr) -> bool:
    """Whether an operand certainly is no tensor that could broaden another one."""
    if isinstance(node, ast.Constant) or integer(node) is not None:
        return True
    if isinstance(node, ast.Call):
        return name_of(node.func) in ("sqrt", "float", "int", "len", "log")
    return isinstance(node, ast.Attribute) and name_of(node.value) == "self"


def is_tuple(annotation: ast.expr | None) -> bool:
    """Whether an annotation lets a sequence be a tuple, and no list."""
    said = ast.unparse(annotation).lower() if annotation is not None else ""
    return "tuple[" in said and not any(word in said for word in ("list", "sequence", "iterable"))


def loop_sources(node: ast.For) -> tuple[list[ast.expr], list[ast.expr]]:
    """What a loop runs over and what it binds, `zip` and `enumerate` taken apart."""
    call, target = node.iter, node.target
    name = name_of(call.func) if isinstance(call, ast.Call) else ""
    if isinstance(call, ast.Call) and name == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        return loop_sources(ast.For(target=target.elts[1], iter=call.args[0], body=[], orelse=[]))
    if isinstance(call, ast.Call) and name == "zip" and isinstance(target, ast.Tuple):
        return list(call.args), list(target.elts)
    if isinstance(call, ast.Call) and name in ("reversed", "list", "tuple") and call.args:
        return [call.args[0]], [target]
    return [call], [target]


def rest_of(node: ast.expr) -> tuple[ast.expr, int]:
    """What an expression takes items of, and how many it leaves out before them: `features` and 1 of `features[1:]`."""
    rest = node.slice if isinstance(node, ast.Subscript) else None
    if not isinstance(node, ast.Subscript) or not isinstance(rest, ast.Slice) or rest.upper or rest.step:
        return node, 0
    less = integer(rest.lower)
    return (node.value, less) if less is not None and less > 0 else (node, 0)


def counter_of(node: ast.For) -> str:
    """`i` of `for i in range(n)`, backwards as well, and of `for i, x in enumerate(xs)`; nothing for other loops."""
    source = node.iter
    if isinstance(source, ast.Call) and name_of(source.func) == "reversed" and len(source.args) == 1:
        source = source.args[0]
    name = name_of(source.func) if isinstance(source, ast.Call) else ""
    if name == "enumerate" and isinstance(node.target, ast.Tuple):
        return node.target.elts[0].id if isinstance(node.target.elts[0], ast.Name) else ""
    return node.target.id if name == "range" and isinstance(node.target, ast.Name) else ""


def dimensions(name: str, arguments: list[ast.expr], keywords: list[ast.keyword]) -> list[int]:
    """The dimensions that a call names, by position or as `dim=`."""
    named = next((item.value for item in keywords if item.arg in ("dim", "dims", "axis", "start_dim")), None)
    if named is not None:
        items = named.elts if isinstance(named, ast.Tuple | ast.List) else [named]
    elif name in ("chunk", "split", "topk", "norm", "narrow", "roll", "gather"):
        return []
    elif len(arguments) == 1 and isinstance(arguments[0], ast.Tuple | ast.List):
        items = arguments[0].elts
    elif name in ("max", "min", "softmax", "log_softmax", "size", "mean", "sum", "unbind", "squeeze", "unsqueeze"):
        items = arguments[:1]
    else:
        items = arguments
    numbers = [integer(item) for item in items]
    return [number for number in numbers if number is not None] if None not in numbers else []


def selected(node: ast.expr) -> tuple[tuple[int, ...], int | None]:
    """The dimensions that an index takes away, and how many it looks at; None where it is no plain index."""
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    removed: list[int] = []
    if any(isinstance(item, ast.Constant) and item.value is Ellipsis for item in items):
        return (), None
    position = 0
    for item in items:
        if isinstance(item, ast.Slice):
            position += 1
        elif integer(item) is not None:
            removed.append(position)
            position += 1
        else:
            return (), None
    return tuple(removed), position


def inserted(node: ast.expr) -> list[int]:
    """The dimensions that `x[None]` and `x[:, None]` add; none for an index that does anything else."""
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    added = [index for index, item in enumerate(items) if isinstance(item, ast.Constant) and item.value is None]
    whole = [item for item in items if isinstance(item, ast.Slice) and item.lower is None and item.upper is None]
    return added if len(added) + len(whole) == len(items) else []


def is_flattening(arguments: list[ast.expr]) -> bool:
    """Whether `view(...)` keeps the first dimension and joins the rest: `(x.size(0), -1)`, `(B, -1)`."""
    items = arguments[0].elts if len(arguments) == 1 and isinstance(arguments[0], ast.Tuple | ast.List) else arguments
    return len(items) == 2 and integer(items[1]) == -1 and integer(items[0]) is None


def is_folding(arguments: list[ast.expr]) -> bool:
    """Whether `view(-1, n)` joins all dimensions but the last."""
    return len(arguments) == 2 and integer(arguments[0]) == -1


def cut(node: ast.expr) -> list[int]:
    """The dimensions of which an index takes only a part."""
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    return [
        index
        for index, item in enumerate(items)
        if isinstance(item, ast.Slice) and (item.lower is not None or item.upper is not None)
    ]


def rank_of_pattern(node: ast.expr) -> int | None:
    """Dimensions on the left of an einops pattern."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or "..." in node.value:
        return None
    left, depth, rank = node.value.split("->")[0], 0, 0
    for word in left.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            depth += 1
            rank += 1
        elif word == ")":
            depth -= 1
        elif depth == 0:
            rank += 1
    return rank


def ranks_of_einsum(node: ast.expr) -> list[int]:
    """Ranks of the operands of an einsum equation."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or "." in node.value:
        return []
    return [len(part.strip().replace(" ", "")) for part in node.value.split("->")[0].split(",")]
