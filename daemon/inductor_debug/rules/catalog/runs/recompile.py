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

        A model that changes Python objects as it runs (a counter, a list that grows, the default of a parameter, a
        global) is called three times with the same inputs, and the finding stands at the statement that changes what
        each call relies on. What only the first call changes is not told: a cache that is filled, a flag.

        Of what a script compiles and calls while it is loaded (or, with `--follow-main`, its main program), the calls
        that differ are made again: other sizes and numbers, a global that was changed in between, `train()` and
        `eval()`, `torch.no_grad()`. What torch compiles for once more, as for the second size that it sees, is a note;
        what it compiles for again and again is a warning, at the expression that needs a number of its own
        (`range(x.shape[0])`), or that uses a number which every call gives anew. So is what the program changes between
        two calls: the learning rate of an optimizer, a list, an attribute.

        `torch.compile` that a loop, a function or `forward` runs again and again for the same code is a note where it
        is called, and a warning where it compiles anew each time, as for functions that hold objects of a new class.

        A function that one call of the model has compiled more than eight times, for layers that differ in a flag or in
        their sizes, is told where it is called, as the one reason why all that it calls runs eagerly from there on.

        Everything else takes different calls to see. List several sets of inputs in the directive above a model,
        `# inductor-debug: inputs=[(torch.randn(8, 64),), (torch.randn(9, 64),)]`, or ask for
        `inductor-debug analyze model.py --type guards`, which shows what each graph relies on."""
    why = """
        Compiling takes seconds where running takes milliseconds. After eight versions of one function Dynamo gives
        up and runs it in plain Python for good, with a warning that is easily overlooked."""
    example = """
        ```python
        def forward(self, x, seen=[]):   # one list for all calls
            seen.append(x.shape[0])      # a new graph for every length
            self.step += 1               # and for every step
            return x * min(1, self.step / 1000)
        ```"""
    fix = """
        Give every call a list of its own (`seen=None`, then `if seen is None: seen = []`). Keep counters that the model
        needs as tensors, in a buffer, and others out of `forward`; quick fixes write both, and are verified. Pass
        changing numbers as tensors (`lr=torch.tensor(0.01)`). Mark sizes that vary with `torch._dynamo.mark_dynamic`
        or compile with `dynamic=True`. Pad inputs to a few fixed shapes. Compile once, outside of loops."""
