"""Texts that torch writes of each graph on its way, and that nobody reads where graphs are only looked at.

AOTAutograd and its partitioner make a dozen graphs before the two that are wanted. Each is written as Python and
compiled on the spot, some are printed once more for torch's log, whether that is kept or not, and Inductor has nodes
that know no line note the stack of this process, where nothing of the user's runs. On fake tensors that is a seventh of
a trace. What graphs hold stays as it is: one that is called, or asked for its code, is compiled then, as Inductor's own
are; and a log that somebody asked for is written in full.

Names read in torch 2.11 to 2.14: `torch.fx._lazy_graph_module._use_lazy_graph_module`, `GraphModule.print_readable`,
`torch.fx.config.do_not_emit_stack_traces`. What is gone is written as before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch.fx import GraphModule

from inductor_debug.capture.gpu_kernels.replaced_names import Replacement, replaced
from inductor_debug.capture.runtime.torch_logs import VARIABLE
from inductor_debug.capture.runtime.trace_log import is_kept


@contextmanager
def unread_texts() -> Iterator[None]:
    """Around what makes graphs that are only looked at."""
    unread: list[Replacement] = [(getattr(torch.fx, "config", None), "do_not_emit_stack_traces", True)]
    if not os.environ.get(VARIABLE) and not is_kept():
        unread.append((GraphModule, "print_readable", _unprinted))
    with _written_when_called(), replaced(unread):
        yield


def _written_when_called() -> AbstractContextManager[None]:
    try:
        from torch.fx._lazy_graph_module import _use_lazy_graph_module
    except ImportError:
        return nullcontext()
    made: AbstractContextManager[None] = _use_lazy_graph_module(True)
    return made


def _unprinted(*_: object, **__: object) -> str:
    return ""
