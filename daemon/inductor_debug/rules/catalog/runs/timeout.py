"""The page of `timeout`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class TimeoutRule(RunRule):
    """The analysis took longer than allowed."""

    id = "timeout"
    summary = "The analysis took longer than allowed and was stopped."
    what = """
        The file ran in a process of its own, and that process was not finished in time: one stage of a class, or
        what comes before the first, took longer than `timeout` says, or the whole file ten times as long. The
        finding stands at the target that was being analysed, or at the first line while the file was still being
        loaded; what was found up to then is kept. It is told only where the file did not load or a target was
        declared; other classes are named as not checked, with this reason. Where an earlier stage was quick and
        free sizes are symbols, a stage has half the time, and the target is run once more with numbers. The rest of
        the file is looked at without that target, by another process with as much time. A later check of the same
        files does not try again, unless it may take longer (`--timeout`) or is told to (`--no-cache`)."""
    why = """
        Either the file does real work when it is imported, or a loop depends on values that do not exist here, or
        the model is honestly large."""
    example = """
        ```python
        model = train(epochs=10)       # at the top level of the file
        while loss > 0.1:              # never true of tensors without data
            ...
        ```"""
    fix = """
        Move work under `if __name__ == "__main__":`. Give the target smaller example inputs: findings rarely depend
        on size. Or allow more time: `timeout = 120` under `[tool.inductor-debug]`, `--timeout 120` on the command
        line."""
