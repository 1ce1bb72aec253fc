"""The ladder that turns what everybody said into one `Settings` for a file.

Nearest first, each rung overriding the ones below, key by key:
1. the command line,
2. the editor's settings (`inductorDebug.*`),
3. the environment (`MOCK_STRICT`, `MOCK_ALIGNMENT`, `MOCK_MAX_MEMORY`),
4. `[tool.inductor-debug]` in the nearest pyproject.toml,
5. the defaults of `Settings`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inductor_debug.engine.settings import ConfigurationError, Settings, Trigger

__all__ = ["ConfigurationError", "Settings", "SettingsResolver", "Trigger"]


class SettingsResolver:
    """Callable as the engine's `settings_for`: absolute path in, `Settings` out.

    `command_line` and `editor` map setting names to values: `accelerator`, `stages` (list of names), `trigger`,
    `strict`, `severity`, `exclude`, `timeout`, `memory_limit`, `interpreter`; `command_line` also knows `config`, a file to use
    in place of the nearest pyproject.toml. Keys in camelCase work as well; a value of None means "not said".
    Both may be replaced at any time with `update`.
    """

    def __init__(
        self,
        *,
        command_line: Mapping[str, Any] | None = None,
        editor: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        workspace_folders: Sequence[str] = (),
    ) -> None:
        raise NotImplementedError

    def update(
        self, *, editor: Mapping[str, Any] | None = None, workspace_folders: Sequence[str] | None = None
    ) -> None:
        """Replaces what the editor said; None leaves it as it was. Call `Engine.settings_changed` afterwards."""
        raise NotImplementedError

    def __call__(self, path: str) -> Settings:
        """Resolves the settings of the file at the absolute `path`.

        Raises:
            ConfigurationError: a setting on any rung is unknown, ill-typed or unusable.
        """
        raise NotImplementedError
