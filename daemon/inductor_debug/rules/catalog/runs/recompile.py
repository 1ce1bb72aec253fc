"""The page of `recompile`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class RecompileRule(RunRule):
    """Dynamo compiled the same code more than once."""

    id = "recompile"
    summary = "torch.compile has to compile this code again because something it relied on changed."
    what = """
        A compiled graph is valid under guards: conditions on shapes, dtypes, Python values, the identity of
        modules. When a call breaks a guard, Dynamo compiles another version. The finding stands at the expression that
        made the graph rely on what changed, and names every guard that the call breaks, where torch names the first.

        It takes more than one call to see it. List several sets of inputs in the directive above a model,
        `# inductor-debug: inputs=[(torch.randn(8, 64),), (torch.randn(9, 64),)]`, or ask for
        `inductor-debug analyze model.py --type guards`, which calls a model with one set twice."""
    why = """
        Compiling takes seconds where running takes milliseconds. After eight versions of one function Dynamo gives
        up and runs it in plain Python for good, with a warning that is easily overlooked."""
    example = """
        ```python
        def forward(self, x, step):      # step is a Python int: 0, 1, 2, ...
            return x * (0.99 ** step)    # a new graph for every value
        ```"""
    fix = """
        Pass changing numbers as tensors. Mark sizes that vary with `torch._dynamo.mark_dynamic` or compile with
        `dynamic=True`. Keep counters and flags that change out of modules' attributes. Pad inputs to a few fixed
        shapes."""
