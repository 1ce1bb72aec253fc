"""How to name a file in a report.

People get the path as they gave it, or one relative to where they are; CI services get one relative to the repository,
with forward slashes. Nothing here touches a file but to look for the repository's root and for a notebook's cells.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from inductor_debug.source.notebooks.reading import place_in_words


class FileNames:
    """Names for absolute paths. `given` maps those that the user named to what they wrote."""

    def __init__(self, working_folder: str, root: str, given: dict[str, str] | None = None) -> None:
        self.working_folder = working_folder
        self.root = root
        self.given = dict(given or {})

    def shown(self, path: str) -> str:
        """As given, else relative to the working folder if below it, else absolute."""
        return self.given.get(path) or below(path, self.working_folder) or path

    def at(self, path: str, line: int) -> str:
        """`model.py:12` of a line (from 0), `models.ipynb: cell 3, line 5` of a notebook's."""
        return place_in_words(self.shown(path), path, line)

    def in_repository(self, path: str) -> str | None:
        """Relative to the repository's root with forward slashes, or None for a file outside it."""
        relative = below(path, self.root)
        return relative.replace(os.sep, "/") if relative else None

    def uri(self, path: str) -> str:
        """A URI reference: relative to the repository's root if inside, else a `file:` URI."""
        relative = self.in_repository(path)
        return quote(os.fsencode(relative)) if relative else file_uri(path)


def below(path: str, folder: str) -> str | None:
    """`path` relative to `folder`, or None if it does not lie below it."""
    try:
        if path != folder and os.path.commonpath([path, folder]) == folder:
            return os.path.relpath(path, folder)
    except ValueError:  # different drives, or one of them is relative
        pass
    return None


def file_uri(path: str) -> str:
    """The `file:` URI of an absolute path, whatever bytes it holds."""
    return "file://" + quote(os.fsencode(Path(path).as_posix()))


def repository_root(folder: str) -> str:
    """The nearest folder around `folder` with a `.git` in it, or `folder` itself."""
    for candidate in (Path(folder), *Path(folder).parents):
        if (candidate / ".git").exists():
            return str(candidate)
    return folder
