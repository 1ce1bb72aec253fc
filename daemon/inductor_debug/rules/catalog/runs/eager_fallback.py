"""The page of `eager-fallback`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class EagerFallbackRule(RunRule):
    """A function whose operations are in no graph."""

    id = "eager-fallback"
    summary = "This function runs in plain Python although it was to be compiled, and nothing says so while it runs."
    what = """
        The target was compiled and called, and operations of this function ran outside of every captured graph.
        Dynamo gave the function up: because it cannot go on after a graph break in it, because it was compiled more
        often than the limit allows, or because it is excluded from compilation. The finding stands at the first
        such operation and counts all of them. Every check that captures looks for it, but does not say it
        again where a `graph-break` or `recompile` finding says that this function runs eagerly, as the one does at the
        call of a function that is excluded, nor where nothing at all was captured; `--type guards` lists every such
        function.

        It also stands where a file sets `torch._dynamo.config.suppress_errors = True`, with which whatever
        torch.compile or a backend fails on becomes such a function, crashes included; checks run with it off."""
    why = """
        The program goes on and gives the right results, so nobody notices. But these operations are not compiled:
        on an accelerator they run one by one, or on the host with copies back and forth."""
    example = """
        ```python
        # inductor-debug: inputs=[(torch.randn(4),), (torch.randn(2, 2),), (torch.randn(1, 2, 2),), …]
        def forward(self, x):
            return self.scale(x)

        def scale(self, x):
            return x.sin() + x.cos()     # in no graph, once eight ranks have been seen
        ```"""
    fix = """
        Mend the graph break or the recompilations that the related places name. Take `torch.compiler.disable` away
        where it is not needed. `torch.compile(..., fullgraph=True)` and
        `torch._dynamo.config.fail_on_recompile_limit_hit = True` turn such a fallback into an error."""
