"""The page of `not-checked`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class NotCheckedRule(RunRule):
    """A class was not checked, or not to its end."""

    id = "not-checked"
    summary = "A class was not checked, or not to its end, so that nothing found in it means nothing."
    what = """
        The class declares no inputs and none could be inferred that it runs with, or its run ended early: it looks at
        a tensor's value and real tensors would take more memory than is allowed, or torch cannot imitate an operation
        of it. The editor shows a hint at the class's name; `check` names it in its last line, JUnit as skipped,
        SARIF and GitHub as a notification. It is no finding and fails nothing, unless `--require-targets` or the
        setting `require_targets` asks for it (exit code 2)."""
    why = """
        "No findings" is good news only of what ran. A class that silently was not checked looks like a class without
        faults."""
    example = """
        ```python
        class Decoder(nn.Module):                  # not checked: its constructor needs `config`
            def __init__(self, config): ...
        ```"""
    fix = """
        Declare inputs: `# inductor-debug: inputs=(torch.randn(8, 64),), init=(64,)` above the class. The editor's quick
        fix writes the comment, with the inputs that came furthest. A class that is no target is left out by
        `# inductor-debug: off` above it."""
