"""The page of `out-of-memory`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class OutOfMemoryRule(RunRule):
    """The process that ran the file needed more memory than allowed."""

    id = "out-of-memory"
    summary = "The process that ran the file needed more memory than it is allowed."
    what = """
        Models are built without weights and run without data, so even very large ones fit in a few hundred
        megabytes. This file needed more than the bound, and its process was stopped before the machine began to
        swap. It is told only where the file did not load or a target was declared; other classes are named as not
        checked, with this reason. The rest of the file is looked at without that target, by another process."""
    why = """
        Something makes real data: weights loaded from a checkpoint, a data set read at the top level, arrays of
        NumPy, or a model that could only be built with real tensors."""
    example = """
        ```python
        weights = torch.load("model.pt")        # at the top level of the file
        table = np.zeros((100_000, 100_000))    # 74 GiB that are no tensors
        ```"""
    fix = """
        Load data under `if __name__ == "__main__":` or inside the function that needs it. Give the target smaller
        example inputs, or a smaller configuration of the same model."""
