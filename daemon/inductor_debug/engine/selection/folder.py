"""Which Python files a folder offers, and which of them are worth running.

Hidden folders, other people's code (`site-packages`, virtual environments, `node_modules`), copies that a build made
(`build/lib`) and what the configuration excludes are left out; symbolic links to folders are not followed. `choose`
asks `selection` about each file, one at a time, so that whoever has other things to do meanwhile can. Nothing is
imported or executed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from inductor_debug.engine.selection.selection import Selector, Skip
from inductor_debug.engine.settings.settings import Settings

_FOREIGN = frozenset({"site-packages", "dist-packages", "node_modules", "__pycache__", "venv"})
_BUILT = re.compile(r"lib|(?:lib|temp|bdist)\..+")
"""In a folder `build`: what setuptools copies there, `lib.linux-x86_64-cpython-311`."""


@dataclass(frozen=True, slots=True)
class FolderFile:
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


def python_files(given: str, excluded: Callable[[str], bool]) -> Iterator[FolderFile]:
    """The Python files below the folder `given`, folders in alphabetical order.

    Args:
        given: the folder as the user named it.
        excluded: whether the configuration leaves out the file or folder at an absolute path.
    """
    problems: list[OSError] = []
    for folder, folders, files in os.walk(given, onerror=problems.append):
        while problems:
            yield _unreadable(problems.pop(0), given)
        folders[:] = sorted(name for name in folders if _may_hold_models(os.path.join(folder, name), name, excluded))
        for shown in _names_of_python(folder, files):
            path = os.path.abspath(shown)
            if os.path.isfile(path) and not excluded(path):
                yield FolderFile(shown, path, os.path.abspath(given))
    for problem in problems:
        yield _unreadable(problem, given)


def choose(
    candidates: Iterable[FolderFile], settings_for: Callable[[str], Settings]
) -> Iterator[tuple[FolderFile, Skip | None]]:
    """Each candidate with the reason why it is not worth running, None for those that are.

    Raises:
        ConfigurationError: the settings for one cannot be used.
    """
    selectors: dict[str, Selector] = {}
    for candidate in candidates:
        settings = settings_for(candidate.path)
        if candidate.explicit or candidate.problem is not None:
            yield candidate, None
            continue
        selector = selectors.setdefault(settings.project_root, Selector(settings.project_root))
        yield candidate, selector.skip(candidate.path, candidate.folder, settings)


def _unreadable(problem: OSError, given: str) -> FolderFile:
    shown = os.path.normpath(os.fsdecode(problem.filename)) if problem.filename else given
    return FolderFile(shown, os.path.abspath(shown), os.path.abspath(given), problem.strerror or str(problem))


def _names_of_python(folder: str, names: Iterable[str]) -> Iterator[str]:
    for name in sorted(names):
        if name.endswith(".py") and not name.startswith("."):
            yield os.path.normpath(os.path.join(folder, name))


def _may_hold_models(path: str, name: str, excluded: Callable[[str], bool]) -> bool:
    if name.startswith(".") or name in _FOREIGN:
        return False
    if _BUILT.fullmatch(name) and os.path.basename(os.path.dirname(path)) == "build":
        return False
    if os.path.exists(os.path.join(path, "pyvenv.cfg")):
        return False
    return not excluded(os.path.abspath(path))
