"""The page of `configuration`."""

from __future__ import annotations

from inductor_debug.rules.judging.base import RunRule


class ConfigurationRule(RunRule):
    """A setting cannot be used."""

    id = "configuration"
    summary = "A setting cannot be used, so the file was not analysed."
    what = """
        A key in `pyproject.toml`, in an accelerator's profile, in the editor's settings or in an environment
        variable does not exist, has the wrong type or names something that is not there. The message names the
        file, the key and the line; the related place leads there."""
    why = """
        Findings under settings other than those you meant would mislead, and so would none."""
    example = """
        ```toml
        [tool.inductor-debug]
        stagse = ["preview"]        # did you mean 'stages'?
        ```"""
    fix = """
        Correct the setting. The file is analysed again as soon as it is saved."""
