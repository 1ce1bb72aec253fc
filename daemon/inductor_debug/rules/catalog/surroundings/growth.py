"""The page of `growth`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class GrowthRule(RunRule):
    """A run needs more time or memory than when the baseline was written."""

    id = "growth"
    summary = "A run takes longer, or needs more memory, than when the baseline was written."
    what = """
        `check --write-baseline known.json --accelerator h100` also writes down what each target needs at least on the
        accelerator: the bound of its time, and its peak memory. `check --baseline known.json --max-growth 5` then tells
        of each target that needs more than 5 % more of either.

        Both are computed and not measured, so they are equal from run to run and machine to machine. Compared are runs
        of the same stage with the same inferred inputs, on the same accelerator; other targets are left out."""
    why = """
        A model gets slower one small change at a time, and none of them fails a test."""
    example = """
        ```python
        self.up = nn.Linear(768, 4 * 768)      # 4 * 768 was 3 * 768 when the baseline was written
        ```"""
    fix = """
        Where the growth is meant, write the baseline anew. `inductor-debug analyze --type cost` shows which expression
        takes the time, `inductor-debug suggest` what may lower it."""
