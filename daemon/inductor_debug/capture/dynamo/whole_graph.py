"""Recognises, inside a backend, that the graph it was given is all of the target, so that Dynamo may stop there.

After the backend Dynamo builds guards, collects garbage and writes bytecode, about a tenth of a large model's trace.
All of that serves later calls; a target is called once. Where the graph is not surely the whole target (a break, user
code around it, symbolic or wrapped inputs), Dynamo goes on as ever.

Private names, read against torch 2.11 to 2.13: `InstructionTranslator.current_tx`, `compile_subgraph_reason` of
`OutputGraph`, and `GraphArg` in `node.meta["grapharg"]`. Where one is gone, no graph is recognised: slower, not wrong.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule


class WholeTarget(BaseException):
    """Leaves Dynamo from inside the backend; not an `Exception`, because Dynamo takes those for a broken backend.

    `arguments` are the caller's own tensors for the placeholders of `graph_module`.
    """

    def __init__(self, graph_module: GraphModule, arguments: list[torch.Tensor]) -> None:
        super().__init__("the graph is the whole target")
        self.graph_module = graph_module
        self.arguments = arguments


def arguments_of_whole(graph_module: GraphModule) -> list[torch.Tensor] | None:
    """The caller's tensors for the placeholders, if the traced function ends with this graph; else None."""
    from torch._dynamo.symbolic_convert import InstructionTranslator

    try:
        reason = InstructionTranslator.current_tx().output.compile_subgraph_reason
        if reason.graph_break:
            return None
        placeholders = [node.meta["grapharg"] for node in graph_module.graph.nodes if node.op == "placeholder"]
        if any(argument.pass_arg_as_tensor or not argument.is_tensor for argument in placeholders):
            return None
        examples = [argument.example for argument in placeholders]
    except (AttributeError, KeyError, AssertionError):
        return None
    if not all(isinstance(example, torch.Tensor) and _is_concrete(example) for example in examples):
        return None
    return examples


def _is_concrete(tensor: torch.Tensor) -> bool:
    if tensor.layout is not torch.strided:
        return False
    return not any(isinstance(size, torch.SymInt) for size in (*tensor.shape, *tensor.stride()))
