"""Configurations that a project keeps in files: a YAML, JSON or TOML file whose keys are what a class reads.

A class that is given `config` and reads `config.width` and `config.depth` says which keys it wants. Files are looked
for beside the code and in `config`, `configs` and `conf`, up to the project's root, and then in all of the project; any
table in them may be the one that is meant, also in what several of them are composed to (`composition`). The table with
the fewest keys beside those asked for wins, of equal ones the nearest. Files are read as data: nothing in them is
constructed or run. YAML needs PyYAML in the project's own environment.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from inductor_debug.capture.inference.construction.composition import composed
from inductor_debug.capture.inference.construction.demand import Demand
from inductor_debug.capture.inference.construction.project_files import files_of
from inductor_debug.capture.inference.values.symbolic_values import ConfigurationTable
from inductor_debug.capture.runtime import foreign

_FOLDERS = ("config", "configs", "conf")
_DEEPEST_FOLDER = 3
_DEEPEST_OF_PROJECT = 5
_DEEPEST_TABLE = 4
_DEEPEST_PART = 50
_MOST_FILES = 200
_MOST_PLACES = 2 * _MOST_FILES
"""Some of them are come by twice."""
_MOST_BYTES = 1 << 16
_FEWEST_FIELDS = 2
"""One name alone is in too many files to mean anything."""
_NAMES_ALONE = ("_target_", "target", "class_path", "type", "name", "class_name")
"""Keys of a class beside which its arguments stand, or in a table of their own."""
_ARGUMENTS = ("args", "params", "kwargs", "init_args", "parameters")
"""What that table is called; or so after the key, `model_args` beside `model`."""
_REFERENCE = "${"
"""How OmegaConf writes a value that stands elsewhere."""


@dataclass(frozen=True)
class WrittenConfiguration:
    """What a file says of a configuration: its path, what users are told that it is, and its values."""

    path: str
    shown: str
    values: Mapping[str, Any]

    def covered(self, demand: Demand) -> int:
        """How many of the fields that are asked for it has, those of tables in it included."""
        return _covered(self.values, demand)


class ConfigurationFiles:
    """The files around one file of a project; each is read once, and none before somebody asks."""

    def __init__(self, path: str, project_root: str) -> None:
        self.path, self.root = path, project_root
        self._read: list[tuple[str, Any]] | None = None
        self.used: WrittenConfiguration | None = None
        """What was last found to fit."""

    def fitting(self, demand: Demand) -> WrittenConfiguration | None:
        """The table that has all fields that are asked for; None where there is none."""
        if fields_asked(demand) < _FEWEST_FIELDS:
            return None
        best: tuple[int, str, Mapping[str, Any]] | None = None
        for path, document in self._documents():
            for table in _tables(document, 0):
                if _covers(table, demand) and (best is None or len(table) < best[0]):
                    best = len(table), path, table
        if best is None:
            return None
        _, path, table = best
        self.used = WrittenConfiguration(path, self.shown(path), table)
        return self.used

    def most_of(self, demand: Demand, enough: float) -> Iterator[WrittenConfiguration]:
        """The tables with at least so many of the fields that are asked for: a script may set one more itself."""
        for path, document in self._documents():
            for table in _tables(document, 0):
                found = WrittenConfiguration(path, self.shown(path), table)
                if found.covered(demand) >= enough and not _refers(table, demand):
                    yield found

    def arguments_of(self, kind: Callable[..., Any], takes: frozenset[str] | None) -> Iterator[WrittenConfiguration]:
        """What files give a class that they name by its dotted path, or that a key beside the arguments names.

        Args:
            kind: the class.
            takes: the arguments that its constructor has; a table with any other is of another class. None where it
                takes any.
        """
        for path, document in self._documents():
            for table in _tables(document, 0):
                for given in _given_to(kind, table):
                    plain = {name: value for name, value in given.items() if not _is_built(value)}
                    if (
                        given
                        and (takes is None or takes.issuperset(given))
                        and not any(map(_stands_elsewhere, plain.values()))
                    ):
                        yield WrittenConfiguration(path, self.shown(path), plain)

    def shown(self, path: str) -> str:
        """What users are told of where a file of the project is."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def laid_over(self, built: WrittenConfiguration, demand: Demand) -> WrittenConfiguration:
        """What code builds, with the file laid over it that says most of what else is asked for.

        So `merge_from_file` does: code has defaults, and the file of an experiment what it wants otherwise.
        """
        best = built
        for path, document in self._documents() if 0 < built.covered(demand) < fields_asked(demand) else ():
            if isinstance(document, dict) and _covered(document, demand) >= _FEWEST_FIELDS:
                shown = f"{built.shown} and {self.shown(path)}"
                other = WrittenConfiguration(path, shown, _merged(built.values, document))
                if other.covered(demand) > best.covered(demand):
                    best = other
        return best

    def _documents(self) -> list[tuple[str, Any]]:
        if self._read is None:
            self._read = []
            for count, path in enumerate(self._paths()):
                if count >= _MOST_FILES:
                    break
                document = composed(path, parsed)
                if document is not None:
                    self._read.append((path, document))
        return self._read

    def _paths(self) -> Iterator[str]:
        """The files that may be meant, each once, the nearest first."""
        nearest = itertools.chain(self._beside(), _of_project(self.root))
        return iter(dict.fromkeys(itertools.islice(nearest, _MOST_PLACES)))

    def _beside(self) -> Iterator[str]:
        """What is beside the code, and in the folders for configurations above it."""
        folder = os.path.dirname(self.path)
        while True:
            yield from _files_of(folder, 0)
            for name in _FOLDERS:
                yield from _files_of(os.path.join(folder, name), _DEEPEST_FOLDER)
            above = os.path.dirname(folder)
            if folder == self.root or above == folder or not folder.startswith(self.root):
                return
            folder = above


@functools.lru_cache(maxsize=4)
def _of_project(root: str) -> tuple[str, ...]:
    """What may be meant of all files of a project, which all classes of a file look through."""
    found = files_of(root, tuple(_READERS), _DEEPEST_OF_PROJECT)
    return tuple(itertools.islice((file for file in found if _may_be_meant(os.path.basename(file))), _MOST_PLACES))


def _may_be_meant(name: str) -> bool:
    return os.path.splitext(name)[1] in _READERS and name != "pyproject.toml"


def _files_of(folder: str, depth: int) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_file() and _may_be_meant(entry.name):
            yield entry.path
        elif depth and entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
            yield from _files_of(entry.path, depth - 1)


def parsed(path: str) -> Any:
    """What a file says as data, which is not to be changed; None where it cannot be read."""
    try:
        state = os.stat(path)
        return _parsed(path, state.st_mtime_ns, state.st_size) if state.st_size <= _MOST_BYTES else None
    except OSError:
        return None


@functools.lru_cache(maxsize=2 * _MOST_FILES)
def _parsed(path: str, changed: int, size: int) -> Any:
    """As above; all classes of a file look at the same files, and a YAML file takes milliseconds."""
    try:
        with open(path, encoding="utf-8") as stream:
            document = _READERS[os.path.splitext(path)[1]](stream.read())
    except Exception:  # whatever a parser makes of what is no configuration
        return None
    return document if _is_as_large_as_its_text(document, size) else None


def _is_as_large_as_its_text(document: Any, size: int) -> bool:
    """Whether a document has no more parts than characters, none too deep: YAML's aliases may repeat it without end."""
    parts, seen = [(document, 0)], 0
    while parts and seen <= size:
        value, depth = parts.pop()
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if inner and depth > _DEEPEST_PART:
            return False
        parts.extend((item, depth + 1) for item in inner)
        seen += 1
    return not parts


def _yaml(text: str) -> Any:
    library = importlib.import_module("yaml")
    return library.load(text, getattr(library, "CSafeLoader", library.SafeLoader))


def _toml(text: str) -> Any:
    return importlib.import_module("tomllib").loads(text)


_READERS: dict[str, Callable[[str], Any]] = {".yaml": _yaml, ".yml": _yaml, ".json": json.loads, ".toml": _toml}


def _tables(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    """A document's tables, the outer ones first."""
    if isinstance(value, dict) and depth < _DEEPEST_TABLE:
        if all(isinstance(key, str) for key in value):
            yield value
        for item in value.values():
            yield from _tables(item, depth + 1)


def fields_asked(demand: Demand) -> int:
    """How many values are asked for, those of tables in the table included."""
    return sum(fields_asked(inner) if inner.fields else 1 for inner in demand.fields.values())


def _covered(table: Mapping[str, Any], demand: Demand) -> int:
    """How many of the values that are asked for a table has, those of tables in it included."""
    count = 0
    for name in demand.fields.keys() & table.keys():
        value, inner = table[name], demand.fields[name]
        values = vars(value) if isinstance(value, SimpleNamespace) else value
        count += _covered(values, inner) if isinstance(values, dict) and inner.fields else 1
    return count


def _merged(table: Mapping[str, Any], other: Mapping[Any, Any]) -> dict[str, Any]:
    """A table with another one laid over it, and so the tables in it."""
    merged = dict(table)
    for name, value in other.items():
        below = merged.get(str(name))
        inner = vars(below) if isinstance(below, SimpleNamespace) else {}
        merged[str(name)] = ConfigurationTable(**_merged(inner, value)) if isinstance(value, dict) else value
    return merged


def _refers(table: Mapping[str, Any], demand: Demand) -> bool:
    """Whether a value that is asked for stands elsewhere."""
    return any(_stands_elsewhere(table[name]) for name in demand.fields.keys() & table.keys())


def _given_to(kind: Callable[..., Any], table: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The tables of arguments that a table has for a class."""
    for key, value in table.items():
        if not isinstance(value, str) or not _names(value, kind):
            continue
        beside = [table.get(f"{key.strip('_')}_{word}") for word in _ARGUMENTS]
        if key in _NAMES_ALONE:
            beside += [table.get(word) for word in _ARGUMENTS]
        inner = [item for item in beside if isinstance(item, dict) and all(isinstance(name, str) for name in item)]
        yield from inner
        if not inner and key in _NAMES_ALONE:
            yield {name: item for name, item in table.items() if name != key and not name.startswith("_")}


def _names(written: str, kind: Callable[..., Any]) -> bool:
    """Whether a text is the name of a class, or the path to it by which somebody may import it."""
    module, _, name = written.rpartition(".")
    owner = foreign.module_name(kind)
    return name == foreign.name_of(kind) and (
        not module or f".{owner}.".endswith(f".{module}.") or f".{module}.".endswith(f".{owner}.")
    )


def _is_built(value: Any) -> bool:
    """Whether a value is a table that says what is to be built, which nobody has built here."""
    return isinstance(value, dict) and not {"_target_", "target", "class_path"}.isdisjoint(value)


def _stands_elsewhere(value: Any) -> bool:
    return isinstance(value, str) and _REFERENCE in value


def _covers(table: Mapping[str, Any], demand: Demand) -> bool:
    """Whether a table says everything that is asked for, tables in it included."""
    for name, inner in demand.fields.items():
        if name not in table:
            return False
        value = table[name]
        if _stands_elsewhere(value):
            return False
        if isinstance(value, dict) and not _covers(value, inner):
            return False
    return True
