"""Which files an agent may name: those below the folders that the user allowed, links followed first."""

from __future__ import annotations

import os
from collections.abc import Sequence

from inductor_debug.engine.orders.file_targets import FileTarget, file_target
from inductor_debug.engine.settings.accelerator_registry import is_path


class OutsideError(ValueError):
    """A path leads out of the folders that were allowed; the message names these."""


class AllowedFolders:
    """The folders that the user allowed; relative paths begin at the first."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = [os.path.realpath(folder) for folder in folders]

    @property
    def first(self) -> str:
        """Where relative paths begin."""
        return self._folders[0]

    def path(self, words: str) -> str:
        """The absolute path that is meant.

        Raises:
            OutsideError: it leads elsewhere.
        """
        path = os.path.realpath(os.path.join(self.first, os.path.expanduser(words)))
        if not any(path == folder or path.startswith(os.path.join(folder, "")) for folder in self._folders):
            raise OutsideError(f"{words} is not below {' or '.join(self._folders)}; --root allows another folder")
        return path

    def target(self, words: str) -> FileTarget:
        """`FILE[::TARGET]`, named from the first folder.

        Raises:
            OutsideError: it leads elsewhere.
            FileTargetError: there is no such file.
        """
        file, separator, target = words.partition("::")
        path = self.path(file)
        meant = file_target(f"{path}{separator}{target}")
        return FileTarget(self.shown(path), path, meant.target)

    def named(self, accelerator: str) -> str:
        """An accelerator or backend: a name as it is, the file of a profile as an absolute path.

        Raises:
            OutsideError: the file is elsewhere.
        """
        return self.path(accelerator) if is_path(accelerator) else accelerator

    def shown(self, path: str) -> str:
        """How a file is called: from the first folder where it lies in that."""
        below = os.path.relpath(path, self.first)
        return path if below.startswith(os.pardir) else below
