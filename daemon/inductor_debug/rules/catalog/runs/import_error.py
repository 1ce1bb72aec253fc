"""The page of `import-error`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class ImportErrorRule(RunRule):
    """Something that the file imports could not be imported."""

    id = "import-error"
    summary = "Something that the file imports is not there; what needs it is not checked."
    what = """
        To find the targets of a file, the file is run once, as `import` would run it: `__name__` is not
        `"__main__"`. An import raised: the module is not installed in the chosen interpreter, it has not what is asked
        of it, or it raised itself. The finding stands at the line of the user's that imported it. Of an extension that
        the project builds itself it names the `setup.py` that does; of a git submodule that was not fetched, the
        command that fetches it.

        The file goes on without it where it can: the names that it would have given may be written down, subclassed
        and used as decorators. A class that uses one of them when it is built or called is not checked, and its
        reason names what could not be imported. Where the packages around a file raise, it is run without what their
        `__init__.py` do, unless it asks for that. Imports in a `try` fail as ever, for code that knows what to do then.

        Where modules import each other, and only some of them can be the first, the file is imported as its project
        imports it: that is no fault of it."""
    why = """
        Nobody can run the file in this interpreter. Where its top level needs what is not there, nothing of it is
        analysed; findings of an earlier version are dropped then rather than shown at wrong lines."""
    example = """
        ```python
        import transformer                 # No module named 'transformer'
        from torch.nn import Linnear       # cannot import name 'Linnear' from 'torch.nn'
        ```"""
    fix = """
        Install what is missing into the interpreter that the editor has chosen for the project, or choose the one
        that has it. Put what only a script needs under `if __name__ == "__main__":`."""
