"""Finds and reads pyproject.toml: which one holds for a file, and the rung of the ladder that it makes.

A file is parsed again only when it has changed on disk. Nothing is written.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from inductor_debug.accelerators.toml_lines import lines_of_keys
from inductor_debug.engine.settings.setting_values import PROJECT_KEYS, SettingsRung
from inductor_debug.engine.settings.settings import ConfigurationError

FILE_NAME = "pyproject.toml"
_PREFIX = "tool.inductor-debug."
_ROOT_MARKS = (FILE_NAME, ".git")
_SET_UP = "setup.py"


class Pyprojects:
    """All pyproject.toml files that were ever asked for."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[tuple[int, int], SettingsRung | ConfigurationError | None]] = {}

    def nearest(self, path: str) -> SettingsRung | None:
        """The rung of the nearest file above `path` that has a `[tool.inductor-debug]` table; None without one.

        Raises:
            ConfigurationError: a file on the way is broken or says something that cannot be used.
        """
        for folder in _folders_above(path):
            rung = self.rung(os.path.join(folder, FILE_NAME))
            if rung is not None:
                return rung
        return None

    def rung(self, path: str, *, required: bool = False) -> SettingsRung | None:
        """What the file at `path` says; None if it does not exist or has nothing for us, unless it is `required`.

        Raises:
            ConfigurationError: it is broken or says something that cannot be used.
        """
        try:
            status = os.stat(path)
        except OSError as error:
            if required:
                raise ConfigurationError(f"cannot be read: {error.strerror}", source=FILE_NAME, path=path) from None
            return None
        stamp = (status.st_mtime_ns, status.st_size)
        kept = self._read.get(path)
        if kept is None or kept[0] != stamp:
            kept = (stamp, _rung_or_error(path))
            self._read[path] = kept
        if isinstance(kept[1], ConfigurationError):
            raise kept[1]
        return kept[1]


def project_root(path: str, workspace_folders: tuple[str, ...]) -> str:
    """The innermost workspace folder around `path`, else the nearest folder that looks like a project, else its own."""
    around = [folder for folder in workspace_folders if _is_inside(path, folder)]
    if around:
        return max(around, key=len)
    for folder in _folders_above(path):
        if _is_marked(folder) or (os.path.exists(os.path.join(folder, _SET_UP)) and not _is_of_a_package(folder)):
            return folder
    return path if os.path.isdir(path) else os.path.dirname(path)


def _is_marked(folder: str) -> bool:
    return any(os.path.exists(os.path.join(folder, mark)) for mark in _ROOT_MARKS)


def _is_of_a_package(folder: str) -> bool:
    """Whether a folder belongs to a package of the project around it: its `setup.py` builds an extension of that."""
    packaged = False
    for each in _folders_above(folder):
        if _is_marked(each):
            return packaged
        packaged = packaged or os.path.exists(os.path.join(each, "__init__.py"))
    return False


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _folders_above(path: str) -> Iterator[str]:
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _rung_or_error(path: str) -> SettingsRung | ConfigurationError | None:
    try:
        return _rung(path)
    except ConfigurationError as error:
        return error


def _rung(path: str) -> SettingsRung | None:
    text, document = _parse(path)
    table = document.get("tool", {})
    said = table.get("inductor-debug") if isinstance(table, dict) else None
    if said is None:
        return None
    rung = SettingsRung(FILE_NAME, os.path.dirname(path), path, text, lines_of_keys(text), _PREFIX)
    if not isinstance(said, dict):
        raise ConfigurationError("must be a table", source=FILE_NAME, path=path, key=_PREFIX.rstrip("."))
    return rung.read(said, PROJECT_KEYS)


def _parse(path: str) -> tuple[str, dict[str, Any]]:
    parser = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        return text, parser.loads(text)
    except parser.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        line = int(found[1]) - 1 if found else text.count("\n")
        raise ConfigurationError(f"is not TOML: {error}", source=FILE_NAME, path=path, line=line) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot be read: {error}", source=FILE_NAME, path=path) from None
