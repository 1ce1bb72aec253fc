"""What is done once, before any job, so that no job has to do it: import torch, compile something, import ourselves.

The warm-up compiles one tiny model of our own on fake tensors: Dynamo's lazily built tables are then in memory, and
its code paths specialised. It runs no arithmetic on real tensors, starts no thread and asks no device anything.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
from typing import Any

from inductor_debug.worker.bootstrap import fail

_CAPTURE_MODULES = ("inductor_debug.capture.session",)
"""Imported ahead of time; they import the rest of the capture room."""


def prepare_environment() -> None:
    """Settings that libraries read when they are imported, unless the user set them."""
    # Asks the driver's management library instead of starting CUDA, which a forked child could not use any more.
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    # A pool of arithmetic threads would not survive the fork, and tracing does no arithmetic.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def warm_up() -> dict[str, Any]:
    """Imports torch and our modules and compiles a tiny model; returns what READY tells.

    Ends the process with a message for the user when there is no usable torch.
    """
    prepare_environment()
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            fail(f"torch cannot be imported in {sys.executable}: {error}. Repair its installation.")
        fail(
            f"torch is not installed in {sys.executable}: install it there (`{sys.executable} -m pip install torch`) "
            "or choose the interpreter that has it."
        )
    except Exception as error:
        fail(f"torch cannot be imported in {sys.executable}: {type(error).__name__}: {error}. Repair its installation.")
    for module in _CAPTURE_MODULES:
        importlib.import_module(module)
    rehearse()
    return {"python": platform.python_version(), "torch": str(torch.__version__)}


def rehearse() -> None:
    """Compiles a tiny model on fake tensors and forgets it.

    In the fork server this fills Dynamo's tables. In a freshly forked worker that waits for its job it makes the kernel
    copy, ahead of time, the memory pages that tracing writes to (about 20 ms of the first job otherwise).
    """
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    class Tiny(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = torch.nn.Embedding(8, 8)
            self.norm = torch.nn.LayerNorm(8)
            self.linear = torch.nn.Linear(8, 8)
            self.convolution = torch.nn.Conv1d(8, 8, 3, padding=1)

        def forward(self, tokens: Any) -> Any:
            hidden = self.norm(self.embedding(tokens))
            mixed = torch.nn.functional.scaled_dot_product_attention(hidden, hidden, hidden)
            mixed = self.convolution(mixed.transpose(1, 2)).transpose(1, 2)
            return torch.softmax(torch.relu(self.linear(mixed)).reshape(-1, 8), dim=-1)

    def keep_eager(graph: Any, _inputs: Any) -> Any:
        return graph.forward

    torch._dynamo.reset()
    with FakeTensorMode(allow_non_fake_inputs=True):
        model = Tiny()
        tokens = torch.zeros(2, 4, dtype=torch.long)
        model(tokens)
        torch.compile(model, backend=keep_eager)(tokens)
    torch._dynamo.reset()
