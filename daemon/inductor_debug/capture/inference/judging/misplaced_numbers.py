"""Numbers written where torch takes tensors: `torch.cat(1, [x, y])`, which no input of the model can mend.

Read from the call as it is written and from the schemas of the operation; nothing is run, and no message is read.
"""

from __future__ import annotations

import ast
from types import ModuleType

import torch

from inductor_debug.capture.failures.failed_statement import raised_by, value_of

_OF_TENSORS = ("Tensor", "Optional[Tensor]", "List[Tensor]", "List[Optional[Tensor]]")


def misplaced_number(error: BaseException) -> bool:
    """Whether the user's statement that raised gives a function or a method a number where it takes tensors alone."""
    if not isinstance(error, TypeError | AttributeError):
        return False
    if (raised_at := raised_by(error)) is None:
        return False
    frame, statement = raised_at
    for call in ast.walk(statement):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            known, owner = value_of(call.func.value, frame)
            of_torch = isinstance(owner, ModuleType) and owner.__name__.partition(".")[0] == "torch"
            if known and (of_torch or isinstance(owner, torch.Tensor)):
                takes, own = _tensor_positions(call.func.attr), 0 if of_torch else 1
                if any(position in takes and _is_number(item) for position, item in enumerate(call.args, own)):
                    return True
    return False


def _tensor_positions(name: str) -> frozenset[int]:
    """Where every overload of an operation takes a tensor, or a list of them."""
    packet = getattr(torch.ops.aten, name, None)
    overloads = [getattr(packet, each)._schema.arguments for each in packet.overloads()] if packet is not None else []
    shared = min(map(len, overloads), default=0)
    return frozenset(
        position for position in range(shared) if all(str(each[position].type) in _OF_TENSORS for each in overloads)
    )


def _is_number(node: ast.expr) -> bool:
    value = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)
