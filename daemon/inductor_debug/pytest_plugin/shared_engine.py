"""What all tests of a process share: one engine with warm workers, and what the options say of settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inductor_debug.engine.selection.folder import FolderFile, choose
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug.scripting.engine_thread import EngineThread

MARKER = "inductor_debug"
"""Says in a test how `compile_report` checks."""


class SharedEngine:
    """The engine of a test process. `accelerator` is that of the command line, if it names one."""

    def __init__(self, accelerator: str | None) -> None:
        self.thread = EngineThread()
        self.accelerator = accelerator
        self._resolver = SettingsResolver(command_line=self.said())

    def said(self, more: dict[str, Any] | None = None) -> dict[str, Any]:
        """Settings that are said: those of a test (`more`) before those of the command line."""
        known = {key: value for key, value in (more or {}).items() if value is not None}
        return {"accelerator": self.accelerator, **known}

    def offers_models(self, path: Path, root: Path, *, named: bool) -> bool:
        """Whether a file defines or compiles a model, as far as its text tells; one that the user `named` always may.

        Raises:
            ConfigurationError: the settings for it cannot be used.
        """
        file = FolderFile(path.name, str(path), "" if named else str(root))
        return all(skip is None for _, skip in choose([file], self._resolver))


_ENGINE = pytest.StashKey[SharedEngine]()


def shared_engine(config: pytest.Config) -> SharedEngine:
    """The one engine of this test process, made at its first use; none of its workers outlives the tests."""
    if _ENGINE not in config.stash:
        engine = SharedEngine(config.getoption("--inductor-debug-accelerator"))
        config.stash[_ENGINE] = engine
        config.add_cleanup(engine.thread.close)
    return config.stash[_ENGINE]
