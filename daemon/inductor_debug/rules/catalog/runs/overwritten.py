"""The page of `overwritten`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class OverwrittenRule(RunRule):
    """A tensor is written into that the backward pass needs as it was."""

    id = "overwritten"
    summary = "An operation in place overwrites a tensor that the backward pass needs as it was."
    what = """
        Autograd keeps some operands and results for the backward pass: the result of `exp` and `sigmoid`, both factors
        of a product. The expression writes into such a tensor afterwards. The finding names the expression whose
        gradient needs it. Told of targets in training whose results have gradients; nothing is run backward for it."""
    why = """
        `backward()` raises `one of the variables needed for gradient computation has been modified by an inplace
        operation`, and names a shape, not a line. Compiled, the same code runs: the graph keeps a copy. So a model may
        train with `torch.compile` and fail without it, on another machine or after a graph break."""
    example = """
        ```python
        y = torch.exp(self.layer(x))
        y[:, 0] = 0                  # the gradient of exp is its result
        ```"""
    fix = """
        Write into a copy (`y = y.clone()`), or make a new tensor: `torch.where`, `masked_fill`, `y = y * 2` for
        `y *= 2`. Where nothing is trained, run it under `torch.no_grad()`."""
