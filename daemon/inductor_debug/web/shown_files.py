"""Which files a page may ask about: those that were named, and the models in the folders that were.

Sources of the same projects can be read, because nodes and findings lead there; nothing else of the disk can. Nothing
is executed here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inductor_debug.engine.file_watching import stamp_of
from inductor_debug.engine.selection.folder import choose, python_files
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug.engine.survey.results_file import is_results
from inductor_debug.engine.text.source_files import read_source
from inductor_debug.report.data_pages import cells_in
from inductor_debug.source.notebooks.reading import SUFFIX as NOTEBOOK
from inductor_debug.source.source_text import decode

_LARGEST_SOURCE = 4 << 20
_SURVEY_SUFFIX = ".jsonl"


@dataclass(slots=True)
class ShownFile:
    """One file: what the daemon was last told of it, and what it last said. `version` is 0 while it is not open."""

    path: Path
    name: str
    stamp: tuple[int, int] | None = None
    version: int = 0
    analysis: dict[str, Any] | None = None
    diagnostics: list[dict[str, Any]] = field(default_factory=list)

    def text(self) -> str:
        """What the daemon is told that stands in it.

        Raises:
            OSError: it cannot be read.
        """
        return _text(self.path)

    def told(self) -> dict[str, Any]:
        """What the daemon said last, with the cells that its lines are of where the file is a notebook."""
        return {**(self.analysis or {}), "cells": cells_in([str(self.path)], str)}


@dataclass(frozen=True)
class ShownFiles:
    """The files by their URIs, results of surveys by their names, and the folders whose sources can be read."""

    files: dict[str, ShownFile]
    surveys: dict[str, Path]
    roots: list[Path]

    def source(self, path: str) -> str | None:
        """The text of a Python file or a notebook of one of the projects; None of all else."""
        try:
            real = Path(os.path.realpath(path, strict=True))
            inside = any(real.is_relative_to(root) for root in self.roots)
            readable = real.suffix in (".py", NOTEBOOK)
            if not os.path.isabs(path) or not inside or not readable or real.stat().st_size > _LARGEST_SOURCE:
                return None
            return _text(real)
        except (OSError, ValueError):
            return None


def shown_files(given: Iterable[Path]) -> ShownFiles:
    """What there is in the files and folders `given`.

    Raises:
        ConfigurationError: the settings for one of them cannot be used.
    """
    settings_for = SettingsResolver(environ=os.environ)
    files: dict[str, ShownFile] = {}
    surveys: dict[str, Path] = {}
    roots: dict[Path, None] = {}
    for path in given:
        real = path.resolve()
        if real.is_file() and real.suffix == _SURVEY_SUFFIX:
            surveys[_name(real)] = real
            continue
        roots[Path(os.path.realpath(real if real.is_dir() else settings_for(str(real)).project_root))] = None
        for found in _models(path, settings_for) if real.is_dir() else [real]:
            files.setdefault(found.as_uri(), ShownFile(found, _name(found), stamp_of(found)))
        if real.is_dir():
            surveys.update((_name(one), one) for one in _surveys(real))
    return ShownFiles(files, surveys, list(roots))


def _text(path: Path) -> str:
    """Of a notebook that of its cells; "" where there are none to be read."""
    if path.suffix != NOTEBOOK:
        return decode(path.read_bytes())
    read = read_source(str(path))
    return read if isinstance(read, str) else ""


def _models(folder: Path, settings_for: SettingsResolver) -> Iterator[Path]:
    candidates = python_files(str(folder), lambda path: settings_for(path).excludes(path))
    for candidate, skip in choose(candidates, settings_for):
        if skip is None and candidate.problem is None:
            yield Path(candidate.path).resolve()


def _surveys(folder: Path) -> Iterator[Path]:
    """Results of surveys in a folder and right below it."""
    for path in sorted([*folder.glob(f"*{_SURVEY_SUFFIX}"), *folder.glob(f"*/*{_SURVEY_SUFFIX}")]):
        if is_results(path):
            yield path


def _name(path: Path) -> str:
    relative = os.path.relpath(path)
    return str(path) if relative.startswith(os.pardir) else relative.replace(os.sep, "/")
