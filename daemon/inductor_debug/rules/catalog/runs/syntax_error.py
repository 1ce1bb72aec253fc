"""The page of `syntax-error`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class SyntaxErrorRule(RunRule):
    """The file is not Python."""

    id = "syntax-error"
    summary = "The file is not valid Python for the chosen interpreter."
    what = """
        Python's own parser rejected the file; the finding stands where it says. The interpreter is the one that is
        chosen for the project, so syntax newer than that version is an error as well."""
    why = """
        Nothing else can be known of a file that does not parse. While you type this is the usual state of affairs,
        so the findings of the last version that parsed stay until you save."""
    example = """
        ```python
        def forward(self, x:
            return x
        ```"""
    fix = """
        Complete the statement. If the editor accepts the file and this tool does not, compare the Python versions:
        the log names the interpreter that is used."""
    silence = """
        A syntax error cannot be silenced by a comment, since comments are found by parsing. Exclude files that are
        not meant to be Python with `exclude` under `[tool.inductor-debug]` in `pyproject.toml`."""
