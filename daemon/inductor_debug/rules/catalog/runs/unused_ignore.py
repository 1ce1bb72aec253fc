"""The page of `unused-ignore`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class UnusedIgnoreRule(RunRule):
    """An ignore comment silences nothing."""

    id = "unused-ignore"
    summary = "An ignore comment silences nothing."
    what = """
        `# inductor-debug: ignore[rule]` was put on a line to silence a finding there, but the last analysis, which
        ran to its end, found nothing of that rule on the line. The finding is a hint and stands at the comment."""
    why = """
        The trouble was mended, or the code moved and the comment stayed behind. Left alone, it would silence the
        next finding of that rule on the line, which may be a real one."""
    example = """
        ```python
        y = x.float()      # inductor-debug: ignore[dtype]
        ```"""
    fix = """
        Delete the comment, or the one rule in it that the hint names. If the comment is needed for another
        accelerator only, turn the hint off."""
