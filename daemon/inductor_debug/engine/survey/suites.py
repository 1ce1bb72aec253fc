"""Suites: small TOML files that say which models are meant. Those that come with the tool lie in `suites/`.

    schema = 1
    name = "mine"
    title = "What we ship"

    [[models]]                              # files, named relative to this one
    files = ["models/*.py"]
    tags = ["ours"]

    [[models]]                              # architectures of an installed library, built from their configurations
    transformers = "GPT2LMHeadModel"        # or timm, or torchvision; a regular expression for several: ".*"
    name = "GPT-2"                          # where one is meant
    config = "n_layer=4"                    # arguments of the configuration, or of the function that builds it
    layers = 2                              # at most so many in each tower; 0, or left out, for all
    directive = "inputs=(torch.zeros(1, 128, dtype=torch.int64),), eval"    # left out, inputs are inferred

Nothing is run or imported here.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inductor_debug.accelerators.suggestions import unknown

_FOLDER = Path(__file__).with_name("suites")
_SCHEMA = 1
LIBRARIES = ("transformers", "timm", "torchvision")


class SuiteError(ValueError):
    """There is no such suite, or its file cannot be used; the message says why, in a line."""


@dataclass(frozen=True, slots=True)
class SuiteEntry:
    """What one `[[models]]` of a suite means: `files`, or the architectures of a `library` that `wanted` fits."""

    name: str = ""
    files: tuple[str, ...] = ()
    library: str = ""
    wanted: str = ""
    config: str = ""
    directive: str = ""
    layers: int = 0
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite; names of files are relative to `folder`."""

    name: str
    title: str
    folder: Path
    entries: tuple[SuiteEntry, ...]


def built_in_suites() -> list[str]:
    """The suites that come with the tool."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def read_suite(name_or_path: str) -> Suite:
    """A suite that comes with the tool, by name, or a file.

    Raises:
        SuiteError: there is none, or something in it cannot be used.
    """
    path = Path(name_or_path)
    if not name_or_path.endswith(".toml"):
        path = _FOLDER / f"{name_or_path}.toml"
        if not path.is_file():
            known = unknown(name_or_path, built_in_suites(), "suite")
            raise SuiteError(f"{known} (one of your own is named by its file, mine.toml)")
    parser = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        document = parser.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SuiteError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise SuiteError(f"{path}: {error}") from None
    return _suite(document, path)


def _suite(document: Mapping[str, Any], path: Path) -> Suite:
    if document.get("schema") != _SCHEMA:
        raise SuiteError(f"{path}: schema = {_SCHEMA} is missing: a suite says which form it has")
    for key in document.keys() - {"schema", "name", "title", "models"}:
        raise SuiteError(f"{path}: {unknown(key, ('schema', 'name', 'title', 'models'), 'key')}")
    models = document.get("models")
    if not isinstance(models, list) or not models:
        raise SuiteError(f"{path}: no [[models]]")
    entries = tuple(_entry(said, f"{path}: [[models]] number {number}") for number, said in enumerate(models, 1))
    name = str(document.get("name") or path.stem)
    return Suite(name, str(document.get("title") or name), path.resolve().parent, entries)


_KINDS: dict[str, tuple[type, str]] = {
    "name": (str, "text"),
    "files": (list, "a list of texts"),
    "config": (str, "text"),
    "directive": (str, "text"),
    "layers": (int, "a number"),
    "tags": (list, "a list of texts"),
    **dict.fromkeys(LIBRARIES, (str, "text")),
}


def _entry(said: Any, where: str) -> SuiteEntry:
    if not isinstance(said, dict):
        raise SuiteError(f"{where}: not a table")
    for key, value in said.items():
        if key not in _KINDS:
            raise SuiteError(f"{where}: {unknown(key, _KINDS, 'key')}")
        kind, words = _KINDS[key]
        fits = isinstance(value, kind) and not isinstance(value, bool)
        if not fits or (kind is list and not all(isinstance(item, str) for item in value)):
            raise SuiteError(f"{where}: {key} must be {words}")
    meant = [key for key in ("files", *LIBRARIES) if key in said]
    if len(meant) != 1:
        raise SuiteError(f"{where}: exactly one of files, {', '.join(LIBRARIES)} says which models are meant")
    library = meant[0] if meant[0] != "files" else ""
    if library:
        try:
            re.compile(said[library])
        except re.error as error:
            raise SuiteError(f"{where}: {library} is no regular expression: {error}") from None
    return SuiteEntry(
        name=said.get("name", ""),
        files=tuple(said.get("files", ())),
        library=library,
        wanted=said.get(library, ""),
        config=said.get("config", ""),
        directive=said.get("directive", ""),
        layers=said.get("layers", 0),
        tags=tuple(said.get("tags", ())),
    )
