"""Accelerator profiles: from a built-in name or a path to a `Profile` that rules can ask.

A profile is a TOML document; `extends` names the one that it refines. `load_document` alone reads files and needs a
TOML parser, so the daemon calls it and workers are sent the document; `read_profile` validates without either.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from inductor_debug_schema import WireError, from_wire

from inductor_debug.accelerators.arithmetic import read_arithmetic
from inductor_debug.accelerators.capabilities import ELEMENT_BYTES, Profile
from inductor_debug.accelerators.document import ProfileError, Table
from inductor_debug.accelerators.gpu import read_gpu
from inductor_debug.accelerators.sections import (
    read_alignment,
    read_backends,
    read_dtypes,
    read_execution,
    read_layout,
    read_memory,
    read_number,
    read_operator,
    read_sources,
    read_speed,
    read_texts,
)
from inductor_debug.accelerators.suggestions import unknown
from inductor_debug.accelerators.toml_lines import lines_of_keys

__all__ = [
    "NO_ACCELERATOR",
    "Profile",
    "ProfileError",
    "built_in_names",
    "chosen_name",
    "load_document",
    "read_profile",
    "with_environment",
]

_FOLDER = Path(__file__).with_name("profiles")
NO_ACCELERATOR = "none"
"""The profile that holds where nobody chose an accelerator; outside, it is the absence of a name."""
_ENVIRONMENT_FAMILY = "mock"


def built_in_names() -> list[str]:
    """The accelerators that come with the tool."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml") if path.stem != NO_ACCELERATOR)


def chosen_name(document: Mapping[str, Any]) -> str | None:
    """The name of the accelerator whose document this is; None where it is that of no accelerator."""
    name = str(document.get("name", NO_ACCELERATOR))
    return None if name == NO_ACCELERATOR else name


def load_document(name_or_path: str) -> dict[str, Any]:
    """Reads a built-in profile by name or a user's own by path, `extends` resolved.

    Raises:
        ProfileError: there is no such profile or file, or it is not TOML, or it extends itself.
    """
    return _load(name_or_path, Path.cwd(), ())


def _load(name_or_path: str, folder: Path, extended_by: tuple[str, ...]) -> dict[str, Any]:
    path = _locate(name_or_path, folder)
    if str(path) in extended_by:
        raise ProfileError(f"extends itself by way of {', '.join(extended_by)}", path=str(path), key="extends")
    text = _read_text(path)
    document = _parse(text, path)
    if "source" in document:
        raise ProfileError(unknown("source", _KEYS, "key"), path=str(path), key="source")
    source: dict[str, Any] = {"path": str(path), "lines": lines_of_keys(text), "family": [path.stem]}
    parent = document.get("extends")
    if parent is None:
        return {**document, "source": source}
    if not isinstance(parent, str):
        raise ProfileError("must be a string", path=str(path), key="extends", line=source["lines"].get("extends"))
    try:
        base = _load(parent, path.parent, (*extended_by, str(path)))
    except ProfileError as error:
        if error.path:
            raise
        line = source["lines"].get("extends")
        raise ProfileError(error.message, path=str(path), key="extends", line=line) from None
    # The parent is whole in itself, so that an error found after merging is one of this file.
    read_profile(base)
    return _merged(base, {**document, "source": source})


def _locate(name_or_path: str, folder: Path) -> Path:
    built_in = _FOLDER / f"{name_or_path}.toml"
    if re.fullmatch(r"[\w-]+", name_or_path) and built_in.is_file():
        return built_in
    if name_or_path.endswith(".toml") or "/" in name_or_path or "\\" in name_or_path:
        return folder / Path(name_or_path).expanduser()
    raise ProfileError(f"{unknown(name_or_path, [*built_in_names(), NO_ACCELERATOR], 'accelerator')}{_known_names()}")


def _known_names() -> str:
    names = ", ".join(built_in_names())
    return f" (built in: {names}, or {NO_ACCELERATOR}; a profile of your own is given by its path, `my-device.toml`)"


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ProfileError("there is no such file", path=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"cannot be read: {error}", path=str(path)) from None


def _parse(text: str, path: Path) -> dict[str, Any]:
    # Imported here: a worker in the user's interpreter, which may lack tomli, only ever validates.
    parser = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        document: dict[str, Any] = parser.loads(text)
    except ValueError as error:
        found = re.search(r"line (\d+)", str(error))
        raise ProfileError(f"is not TOML: {error}", path=str(path), line=int(found[1]) - 1 if found else None) from None
    return document


_MERGED = (
    "dtypes", "alignment", "layout", "memory", "rank", "sticks", "speed", "arithmetic", "execution", "backends",
    "gpu", "read_in", "sources",
)  # fmt: skip
"""The tables that a refinement changes key by key."""


def _merged(base: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """`document` on top of `base`: tables key by key, operator limits one after the other, anything else replaced.

    What the base is called besides stays its own.
    """
    merged = {**{key: value for key, value in base.items() if key != "called"}, **document}
    for key in _MERGED:
        if isinstance(base.get(key), dict) and isinstance(document.get(key), dict):
            merged[key] = {**base[key], **document[key]}
    if isinstance(document.get("alignment"), dict) and {"elements", "bytes"} & document["alignment"].keys():
        # One way of counting replaces the other.
        merged["alignment"] = {
            key: value
            for key, value in merged["alignment"].items()
            if key in document["alignment"] or key not in ("elements", "bytes")
        }
    for key in ("operators", "allow"):
        # The document's own come first, so that their indexes fit the lines of its file.
        if isinstance(base.get(key), list) and isinstance(document.get(key), list):
            merged[key] = document[key] + base[key]
    family = [*document["source"]["family"], *base["source"]["family"]]
    merged["source"] = {**document["source"], "family": family}
    return merged


def with_environment(document: dict[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """`document` with `MOCK_ALIGNMENT` (elements, all dimensions; 0 for none) and `MOCK_MAX_MEMORY` (bytes) applied.

    They concern the `mock` accelerator and profiles that extend it; any other is returned as it is.

    Raises:
        ProfileError: a variable does not hold a number.
    """
    if _ENVIRONMENT_FAMILY not in document.get("source", {}).get("family", [document.get("name")]):
        return document
    result = dict(document)
    alignment = _variable(environ, "MOCK_ALIGNMENT", minimum=0)
    if alignment is not None:
        result["alignment"] = {"elements": max(alignment, 1), "dimensions": "all"}
    memory = _variable(environ, "MOCK_MAX_MEMORY", minimum=1)
    if memory is not None:
        result["memory"] = {**result.get("memory", {}), "tensor_bytes": memory}
    return result


def _variable(environ: Mapping[str, str], name: str, minimum: int) -> int | None:
    text = environ.get(name, "").strip()
    if not text:
        return None
    if not re.fullmatch(r"\d+", text) or int(text) < minimum:
        raise ProfileError(f"the environment variable must be an integer of at least {minimum}, not {text!r}", key=name)
    return int(text)


_KEYS = (
    "schema", "name", "title", "called", "extends", "dtypes", "alignment", "layout", "memory", "rank", "sticks",
    "speed", "arithmetic", "execution", "backends", "gpu", "read_in", "sources", "operators", "allow",
)  # fmt: skip


def read_profile(document: dict[str, Any]) -> Profile:
    """Validates a document.

    Raises:
        ProfileError: a key is unknown or missing, or a value has the wrong type; it names the file, the key, the line.
    """
    source = document.get("source", {})
    if not isinstance(source, dict) or not isinstance(source.get("lines", {}), dict):
        raise ProfileError("must say where the profile was read", path="", key="source")
    if "capabilities" in source:
        return _told_by_adapter(source)
    table = Table({key: value for key, value in document.items() if key != "source"}, source)
    if table.number("schema", minimum=1) not in (None, 1):
        raise table.error("schema", "must be 1: this profile is for another version of inductor-debug")
    if not table.text("name"):
        raise table.error("name", "is missing")
    table.text("extends")
    table.strings("called")
    dtypes = read_dtypes(table)
    profile = Profile(
        name=table.text("name"),
        title=table.text("title"),
        dtypes=dtypes.supported,
        stored_as=dtypes.stored_as,
        element_bytes=dtypes.element_bytes,
        emulated=dtypes.emulated,
        alignment=read_alignment(table),
        layout=read_layout(table),
        **read_memory(table),
        max_rank=read_number(table, "rank", "maximum"),
        stick_bytes=read_number(table, "sticks", "bytes"),
        speed=read_speed(table),
        gpu=read_gpu(table, frozenset(ELEMENT_BYTES)),
        arithmetic=read_arithmetic(table),
        execution=read_execution(table),
        backends=read_backends(table),
        read_in=read_texts(table, "read_in"),
        sources=read_sources(table),
        differences=(),
        operators=tuple(read_operator(entry) for entry in table.tables("operators")),
        allowed=table.strings("allow"),
    )
    table.finish()
    return replace(profile, chosen="seen" not in source)


def _told_by_adapter(source: Mapping[str, Any]) -> Profile:
    """What an installed adapter said it can do (`accelerators.description`)."""
    try:
        return from_wire(Profile, source["capabilities"])
    except WireError as error:
        raise ProfileError(str(error), path=str(source.get("path", ""))) from None
