"""The page of `environment`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class EnvironmentRule(RunRule):
    """Something around the file keeps it from being run: no process for it, a broken library, what it may not do."""

    id = "environment"
    summary = "The Python that should run the file cannot."
    what = """
        Your code runs in the project's own Python interpreter, which needs torch and msgpack. This one is missing,
        does not start, or lacks one of them; or a library that is installed there cannot be imported, because it was
        built for another torch or lacks a shared object; or the code did what a check does not do: it opened a network
        connection, wrote to a file, started a process, or called an extension that is compiled when the file is loaded;
        or the file asks for CUDA's toolkit, or for an environment variable, that is not there and that no script of the
        project sets. The message says which, and what to do."""
    why = """
        Without it nothing can be analysed. It is tried again with the next edit, save or command."""
    example = """
        ```json
        {"inductorDebug.interpreter": "/usr/bin/python3"}
        ```

        where that Python has no torch."""
    fix = """
        What a check refuses is allowed by `allow = ["network", "write", "subprocess"]` under `[tool.inductor-debug]`,
        by `--allow`, or by the editor's setting; better, it moves to where only `main()` runs it. Otherwise install
        what the message names into that environment, or point the setting `interpreter` to the Python of
        the environment in which you run the model."""
