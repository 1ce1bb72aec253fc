"""The page of `graph-break`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class GraphBreakRule(RunRule):
    """Dynamo had to split the graph."""

    id = "graph-break"
    summary = "torch.compile splits the graph here and runs this expression in plain Python."
    what = """
        Dynamo traces your code into one graph. Where it meets something that it cannot trace, it ends the graph,
        lets Python run the statement, and begins another one. The finding stands at the expression that broke the
        graph (of a branch, at its condition; of a library's code, at your call of it), and the message says in one
        sentence why. What torch itself says, with its hints, is in the hover, with `--verbose` and in the JSON
        (`facts`), beside a link to torch's page on this kind of break.

        Where torch.compile captures nothing at all, the message says what keeps it from the target, if anything does:
        `TORCHDYNAMO_DISABLE=1` in the environment, `torch._dynamo.config.disable`, or
        `torch.compiler.disable` on the `forward` of the module. Where the user asked for `fullgraph=True`, a break is
        an error, and said to be what compiling fails of.

        The severity follows what can be done about it: a warning where the code itself can be changed, information
        where torch would have to support something first. It is information, too, where the break stands in a branch
        that a size chose which nobody gave (`if length < 700:`): the message says the condition and the size, and your
        own inputs tell whether it matters."""
    why = """
        Each break costs a return to Python in every call, hides optimisations across it, and on an accelerator
        brings the intermediate tensors back to the host. A model with forty breaks is hardly compiled at all, yet
        nothing fails."""
    example = """
        ```python
        print(x.mean())              # prints need values
        n = int(mask.sum().item())   # so does turning a tensor into a number
        if x.sum() > 0:              # and choosing a branch by one
            x = x + 1
        ```"""
    fix = """
        Take debugging output out of `forward`. Replace branches on tensor values by `torch.where` or `torch.cond`.
        Keep numbers as tensors instead of calling `.item()`, `.tolist()` or `.numpy()`; if a value is really a
        size, set `torch._dynamo.config.capture_scalar_outputs = True`. `Variable(x)` has been `x.detach()` since torch
        0.4: write that, or `x` alone where it has no gradients or shall keep them. Wrap foreign code in a
        `torch.library.custom_op`, or move it before or after the compiled part. `torch.compile(...,
        fullgraph=True)` turns every break into an error, which keeps them out.

        A function that Dynamo cannot follow, and that does nothing but compute with its arguments, can be put into
        the graph as a whole by `torch._dynamo.nonstrict_trace`. It is recorded once, without guards: a function that
        prints, keeps something, draws random numbers by Python or reads a global that changes would compute
        something else, so there is no quick fix for one."""
