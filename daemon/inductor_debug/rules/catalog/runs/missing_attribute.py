"""The page of `missing-attribute`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class MissingAttributeRule(RunRule):
    """A module reads an attribute of its own that nothing sets."""

    id = "missing-attribute"
    summary = "A method reads an attribute of `self` that nothing sets."
    what = """
        The class, its bases and its subclasses neither declare nor set this attribute, no other code sets it on them,
        and no other file of the project knows the name. The text alone says so: the code may be in a branch that no
        input took, or in a method that `forward` does not call. Where such code runs, it is a `capture-error`. Nothing
        is told of classes that compute names of attributes or answer for them (`setattr` in a loop, `__getattr__`), nor
        of reads that the file guards with `hasattr`, `getattr` or `except AttributeError`."""
    why = """
        Whatever comes here ends in an AttributeError; most such names are misspelt, or were left behind when something
        was renamed."""
    example = """
        ```python
        self.dropout = nn.Dropout(0.1)
        ...
        if self.training:
            x = self.droput(x)      # did you mean `dropout`?
        ```"""
    fix = """
        Correct the name, or set the attribute in the constructor. What somebody sets from outside is known where that
        code stands in the project; else declare it in the class body: `dropout: nn.Module`."""
