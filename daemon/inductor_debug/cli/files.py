"""Which files a `check` of files and folders means.

A file that the user names is always taken. A folder means the Python files below it, without hidden folders, other
people's code (`site-packages`, virtual environments, `node_modules`) and what the configuration excludes; symbolic
links to folders are not followed. Each file is taken once, however many names lead to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from inductor_debug.cli.console import CommandError

_FOREIGN = frozenset({"site-packages", "dist-packages", "node_modules", "__pycache__", "venv"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may be checked.

    `shown` is how the user named it, `folder` the absolute path of the folder that they named, or "" where they named
    the file itself; `problem` says why its folder could not be read.
    """

    shown: str
    path: str
    folder: str = ""
    problem: str | None = None

    @property
    def explicit(self) -> bool:
        """Whether the user named this very file."""
        return not self.folder


class PathError(CommandError):
    """A path that the user gave does not lead to a file or a folder."""


def collect(paths: Sequence[str], excluded: Callable[[str], bool]) -> list[Candidate]:
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
    chosen: dict[str, Candidate] = {}
    for given in paths:
        found = _below(given, excluded) if os.path.isdir(given) else [Candidate(given, os.path.abspath(given))]
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


def _below(given: str, excluded: Callable[[str], bool]) -> Iterator[Candidate]:
    problems: list[OSError] = []
    for folder, folders, files in os.walk(given, onerror=problems.append):
        while problems:
            yield _unreadable(problems.pop(0), given)
        folders[:] = sorted(name for name in folders if _may_hold_models(os.path.join(folder, name), name, excluded))
        for shown in _python_files(folder, files):
            path = os.path.abspath(shown)
            if os.path.isfile(path) and not excluded(path):
                yield Candidate(shown, path, os.path.abspath(given))
    for problem in problems:
        yield _unreadable(problem, given)


def _unreadable(problem: OSError, given: str) -> Candidate:
    shown = os.path.normpath(os.fsdecode(problem.filename)) if problem.filename else given
    return Candidate(shown, os.path.abspath(shown), os.path.abspath(given), problem.strerror or str(problem))


def _python_files(folder: str, names: Iterable[str]) -> Iterator[str]:
    for name in sorted(names):
        if name.endswith(".py") and not name.startswith("."):
            yield os.path.normpath(os.path.join(folder, name))


def _may_hold_models(path: str, name: str, excluded: Callable[[str], bool]) -> bool:
    if name.startswith(".") or name in _FOREIGN:
        return False
    if os.path.exists(os.path.join(path, "pyvenv.cfg")):
        return False
    return not excluded(os.path.abspath(path))
