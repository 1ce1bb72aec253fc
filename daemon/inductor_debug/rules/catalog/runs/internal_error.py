"""The page of `internal-error`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class InternalErrorRule(RunRule):
    """inductor-debug itself failed."""

    id = "internal-error"
    summary = "inductor-debug itself failed while it analysed the file."
    what = """
        A fault of the tool, not of your code. The daemon goes on; the message names the exception, and the daemon's
        log has its traceback."""
    why = """
        The findings of this file are missing or incomplete."""
    example = """
        There is none that we know of: each one is a bug."""
    fix = """
        Save the file or run the check again. If it stays, please report it with the log."""
