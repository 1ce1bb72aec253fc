"""The page of `fixed-size`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class FixedSizeRule(RunRule):
    """A size that nothing declares runs with one value only."""

    id = "fixed-size"
    summary = "A batch, length, height or width runs with one value only, by coincidence."
    what = """
        Nobody gave inputs, so they were inferred, and one size of them can be no other: with any other value two
        results of the model contradict each other at this expression. Nothing declares the size: no parameter, no
        table of positions, no number in the code asks for it. So the model runs only where two unrelated sizes happen
        to be equal. Where a parameter or a constant fixes a size, nothing is told, but for a batch that becomes the
        features of a layer: a `view` or a transpose has put the examples where the features should be."""
    why = """
        A model that runs with one length only usually lacks a transpose, or swaps two dimensions. With inputs of just
        that size it runs and computes something else than was meant."""
    example = """
        ```python
        q, k = self.q(x), self.k(x)     # [batch, length, 32]
        scores = q @ k                  # runs where the length is 32; meant: q @ k.transpose(-2, -1)
        ```"""
    fix = """
        Look at the two sizes that the message names, and transpose, reshape or index what has the wrong one. If the
        size is really meant to be fixed, declare the inputs: `# inductor-debug: inputs=(torch.randn(2, 32, 64),)`."""
