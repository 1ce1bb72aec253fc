"""The page of `environment`."""

from __future__ import annotations

from inductor_debug.rules.base import RunRule


class EnvironmentRule(RunRule):
    """No process could be started that runs the file."""

    id = "environment"
    summary = "The Python that should run the file cannot."
    what = """
        Your code runs in the project's own Python interpreter, which needs torch and msgpack. This one is missing,
        does not start, or lacks one of them. The message says which, and what to do."""
    why = """
        Without it nothing can be analysed. It is tried again with the next edit, save or command."""
    example = """
        ```json
        {"inductorDebug.interpreter": "/usr/bin/python3"}
        ```

        where that Python has no torch."""
    fix = """
        Install what the message names into that environment, or point the setting `interpreter` to the Python of
        the environment in which you run the model."""
