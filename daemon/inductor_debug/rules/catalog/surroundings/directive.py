"""The page of `directive`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class DirectiveRule(RunRule):
    """A target comment or setting could not be understood."""

    id = "directive"
    summary = "A comment or setting that declares a target could not be understood or does not fit."
    what = """
        `# inductor-debug: inputs=(...), init=(...)` above a class or function declares a target, and so does
        `[tool.inductor-debug.targets]` in `pyproject.toml`. This one has a key that does not exist, an expression
        that is not Python or that raises, or it names or stands above nothing that could be called. An `ignore`
        comment that names an unknown rule is told in the same way."""
    why = """
        The target that you meant is not analysed, and silence would look like success."""
    example = """
        ```python
        # inductor-debug: input=(torch.randn(8, 64),)      # the key is called inputs
        class Model(nn.Module): ...
        ```"""
    fix = """
        The keys are `inputs` (a tuple of positional arguments, or a dict of keyword arguments) and `init` (the same
        for the constructor). The expressions are evaluated in the module, after it was loaded, so `torch` and
        everything that the file imports can be used in them."""
