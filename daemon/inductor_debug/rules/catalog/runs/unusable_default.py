"""The page of `unusable-default`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class UnusableDefaultRule(RunRule):
    """An argument is None by default, and the model does not run without it."""

    id = "unusable-default"
    summary = "An argument of `forward` is None by default, and the default does not run."
    what = """
        The signature says that an argument need not be given, for its default is None. The model runs where it is
        given, and fails at this expression where it is not. Nothing is told where the code itself raises for that,
        where another argument may be given instead, where nothing else is given, or of a class that another one of the
        file is made of: it is called as that one calls it."""
    why = """
        Whoever calls the model as its signature says gets an AttributeError or a TypeError about `NoneType`, often deep
        inside. Mostly a guard was forgotten, or was lost in an edit."""
    example = """
        ```python
        def forward(self, x, mask=None):
            scores = self.scores(x).masked_fill(mask.unsqueeze(1) == 0, -1e9)   # fails without a mask
        ```"""
    fix = """
        Guard the expression (`if mask is not None:`), or take the default out of the signature if the argument is
        needed."""
