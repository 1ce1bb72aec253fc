"""The page of `import-error`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class ImportErrorRule(RunRule):
    """The file raised while it was loaded."""

    id = "import-error"
    summary = "The file raised an exception while it was being loaded, so it offers nothing to analyse."
    what = """
        To find the targets of a file, the file is run once, as `import` would run it: `__name__` is not
        `"__main__"`. Something at the top level raised: a module that is not installed in the chosen interpreter, a
        missing file, or a mistake. The finding stands at the line of this file that raised or imported the module
        that did. Of an extension that the project builds itself it names the `setup.py` that does.

        Where modules import each other, and only some of them can be the first, the file is imported as its project
        imports it: that is no fault of it."""
    why = """
        Nothing of the file could be analysed. Findings of an earlier version are dropped rather than shown at wrong
        lines."""
    example = """
        ```python
        import transformer                 # No module named 'transformer'
        config = json.load(open("c.json")) # the working directory is the project's root
        ```"""
    fix = """
        Install what is missing into the interpreter that the editor has chosen for the project, or choose the one
        that has it. Put what only a script needs under `if __name__ == "__main__":`."""
