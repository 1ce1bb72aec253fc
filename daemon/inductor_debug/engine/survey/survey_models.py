"""Which models a survey is about: what suites and paths come to, each with the files that stand for it.

A model of a library is a small file that builds it, written into the survey's folder, so that a user can open it and
check it by itself. Nothing of a model is run or imported here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from inductor_debug.engine.pool.asking_libraries import LibraryArchitecture, LibraryQuestion
from inductor_debug.engine.survey.suites import Suite, SuiteEntry, SuiteError

AskLibrary = Callable[[LibraryQuestion], list[LibraryArchitecture]]
_UNFIT = re.compile(r"[^A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class SurveyModel:
    """A model to look at: its `name` in the table, and absolute `paths` of files, the first that is analysed counts.

    `target` is the one that is meant of its file, "" for all. `problem` says why there is nothing to look at, and
    `index` is its place in the survey.
    """

    name: str
    paths: tuple[str, ...]
    target: str = ""
    tags: tuple[str, ...] = ()
    problem: str = ""
    index: int = 0


def models_of_suite(suite: Suite, folder: Path, ask: AskLibrary, wanted: str = "") -> Iterator[SurveyModel]:
    """The models of a suite that `wanted` fits, as in `narrowed`, one after the other.

    A file that builds a model of a library is written below `folder` when its turn comes: a library has a thousand.

    Raises:
        SuiteError: a file that the suite names is not there.
        LibraryError: a library is not installed in the interpreter, or cannot be listed.
        OSError: a file cannot be written.
    """
    for entry in suite.entries:
        models = _of_library(suite, entry, folder, ask, wanted) if entry.library else _of_files(suite, entry)
        yield from (model for model in models if _fits(wanted, model.name, model.tags))


def narrowed(models: Iterable[SurveyModel], wanted: str, limit: int) -> list[SurveyModel]:
    """Those whose name or a tag of theirs fits the regular expression `wanted`, at most `limit` (0 for all).

    Names that occur twice get a number, because rows are told apart by them. No more models are asked for than are
    taken.
    """
    fitting = (model for model in models if _fits(wanted, model.name, model.tags))
    seen: dict[str, int] = {}
    named: list[SurveyModel] = []
    for model in islice(fitting, limit or None):
        seen[model.name] = seen.get(model.name, 0) + 1
        number = seen[model.name]
        name = model.name if number == 1 else f"{model.name} ({number})"
        named.append(replace(model, name=name, index=len(named)))
    return named


def _fits(wanted: str, name: str, tags: Iterable[str]) -> bool:
    return any(re.search(wanted, text) for text in (name, *tags))


def _of_files(suite: Suite, entry: SuiteEntry) -> Iterator[SurveyModel]:
    for pattern in entry.files:
        file, _, target = pattern.partition("::")
        found = sorted(path for path in suite.folder.glob(file) if path.is_file())
        if not found:
            raise SuiteError(f"suite {suite.name}: no file is called {file} in {suite.folder}")
        for path in found:
            name = entry.name if entry.name and len(found) == 1 else path.relative_to(suite.folder).as_posix()
            yield SurveyModel(name, (str(path),), target, entry.tags)


def _of_library(suite: Suite, entry: SuiteEntry, folder: Path, ask: AskLibrary, wanted: str) -> Iterator[SurveyModel]:
    question = LibraryQuestion(entry.library, entry.wanted, entry.layers, entry.config, entry.directive)
    architectures = ask(question)
    if not architectures:
        raise SuiteError(f"suite {suite.name}: the installed {entry.library} has no model called {entry.wanted}")
    home = folder / "models" / _file_name(suite.name)
    home.mkdir(parents=True, exist_ok=True)
    for architecture in architectures:
        name = entry.name if entry.name and len(architectures) == 1 else architecture.name
        if not _fits(wanted, name, entry.tags):
            continue
        paths = [home / f"{_file_name(name)}{_suffix(number)}.py" for number in range(len(architecture.texts))]
        for path, text in zip(paths, architecture.texts, strict=True):
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
        yield SurveyModel(name, tuple(map(str, paths)), tags=entry.tags)


def _suffix(number: int) -> str:
    return f"_{number + 1}" if number else ""


def _file_name(name: str) -> str:
    return _UNFIT.sub("_", name).strip("_").lower() or "model"
