"""What a run rests on that a limit of ours has ended, before its worker could say what it had looked at.

All that it may have looked at counts: the project's sources and the files of settings in it, and which libraries are
installed. That is more than it needs, so that what is kept of it is forgotten rather too early.
"""

from __future__ import annotations

import os
from pathlib import Path

from inductor_debug.engine.settings.settings import FOREIGN_FOLDERS

_ENDINGS = (".py", ".json", ".yaml", ".yml", ".toml", ".cfg", ".ini")
_MOST_FILES = 5000
_LIBRARIES = ("lib/python*/site-packages", "lib/python*/dist-packages", "Lib/site-packages")
"""Where the libraries of an interpreter are, from the folder that it is installed in."""


def unheard_surroundings(root: str, interpreter: str) -> list[str] | None:
    """Files and folders by their absolute paths; None of a project that has too many."""
    found: list[str] = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if _is_of_project(folder, name)]
        found += [os.path.join(folder, name) for name in files if name.endswith(_ENDINGS)]
        if len(found) > _MOST_FILES:
            return None
    prefix = Path(interpreter).absolute().parent.parent
    return found + [str(path) for pattern in _LIBRARIES for path in prefix.glob(pattern)]


def _is_of_project(folder: str, name: str) -> bool:
    foreign = name.startswith(".") or name in FOREIGN_FOLDERS
    return not foreign and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
