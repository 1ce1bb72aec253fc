"""The page of `capture-error`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class CaptureErrorRule(RunRule):
    """The model raised while it was captured."""

    id = "capture-error"
    summary = "The model raised an exception while it was being captured."
    what = """
        The target was built and called with its example inputs, on tensors that have shapes but no data, and
        raised. The finding stands at the innermost line of your code in the traceback; callers are related places.

        Where torch refuses a call because sizes, dtypes or devices do not fit, the message names your expressions and
        what contradicts what. Where each operand was made, and the steps that gave it the size in question
        (`9216 ← flatten 64·12·12 ← max_pool2d ← conv2`), are related places and stand in the hover. For a name that
        does not exist the nearest one that does is told, and a quotient where a whole number is wanted
        (`nn.Linear(width, width / 2)`) at its division. Any other exception keeps its own message.

        The same rule tells when part of a model cannot be captured although nothing is wrong with it, such as
        recurrent layers that Dynamo runs uncaptured, or an operator that has a forward and no backward."""
    why = """
        The model would fail in the same way when it runs, most often because shapes do not fit. Until it is mended,
        nothing after that line has been looked at."""
    example = """
        ```python
        self.fc = nn.Linear(128, 10)
        ...
        return self.fc(x)      # `self.fc` takes 128 features, `x` [32, 64] has 64
        ```"""
    fix = """
        Editors offer a quick fix where one is known that holds: the layer set to the size that arrives, an operand
        transposed or converted, other sizes for a view, the name that was meant, `//` for `/`. Otherwise mend the
        expression, or the example inputs if those are wrong (the directive comment, `get_inputs`,
        `example_inputs`). If the code needs values (`.item()`, weights from a file), make sure that it also works
        on random ones. If it only fails here, without data, please report it: such models are run again on small
        real tensors."""
