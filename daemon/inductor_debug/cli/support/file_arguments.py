"""Which files a `check` of files and folders means.

A file that the user names is always taken; a folder means its Python files (`engine/selection/folder.py`). Each file is
taken once, however many names lead to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from inductor_debug.cli.support.console import CommandError
from inductor_debug.engine.selection.folder import FolderFile, python_files

__all__ = ["FolderFile", "PathError", "collect"]


class PathError(CommandError):
    """A path that the user gave does not lead to a file or a folder."""


def collect(paths: Sequence[str], excluded: Callable[[str], bool]) -> list[FolderFile]:
    """The files that `paths` mean, in the order given, folders in alphabetical order.

    Args:
        paths: files and folders as the user gave them.
        excluded: whether the configuration leaves out the file or folder at an absolute path.

    Raises:
        PathError: one of them is neither a file nor a folder; the message names all such.
    """
    missing = [message for message in map(_trouble, paths) if message]
    if missing:
        raise PathError("; ".join(missing))
    chosen: dict[str, FolderFile] = {}
    for given in paths:
        found = python_files(given, excluded) if os.path.isdir(given) else [FolderFile(given, os.path.abspath(given))]
        for candidate in found:
            identity = os.path.realpath(candidate.path)
            known = chosen.setdefault(identity, candidate)
            if candidate.explicit and not known.explicit:
                chosen[identity] = candidate
    return list(chosen.values())


def _trouble(path: str) -> str | None:
    if not path:
        return "an empty path"
    if os.path.isdir(path) or os.path.isfile(path):
        return None
    if os.path.islink(path):
        return f"{path} is a link that leads nowhere"
    if os.path.exists(path):
        return f"{path} is neither a file nor a folder"
    return f"{path} does not exist"
