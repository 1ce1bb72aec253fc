"""The page of `crash`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class CrashRule(RunRule):
    """The process that ran the file died."""

    id = "crash"
    summary = "The process that ran the file died."
    what = """
        Your code runs in a process of its own, so that nothing it does can take the editor's language server along.
        That process ended without a result: a segmentation fault in a native library, `os._exit`, a signal. The
        message says how it ended, and the log holds what it printed last."""
    why = """
        Only the analysis of that target is lost, or of the file where it was being loaded: the rest is looked at
        without the target, by another process. It is not tried again until you change something, so a file that crashes
        every time does not keep the machine busy."""
    example = """
        ```python
        import ctypes
        ctypes.string_at(0)      # reads address zero
        os._exit(1)              # leaves without a word
        ```"""
    fix = """
        Look at the end of the log. If it is a native extension, keep it from being imported at the top level, or
        guard it. If the crash is in torch itself, a bug report with the file is welcome there."""
