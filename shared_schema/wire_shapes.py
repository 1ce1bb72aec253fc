"""The shapes of what the extension and its pages are told and ask for, as data.

Of records there are the fields with their shapes, of enums the members. The reader of what is told goes by them
(`typescript`), and so does who compares two versions (`compatibility.py`). What passes between daemon and workers,
which are always of one version, is left out.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, Union

from inductor_debug_schema import (
    AnalysisNotification,
    CompileTimeDocument,
    DiffDocument,
    FindingData,
    RunProfileDocument,
)
from inductor_debug_schema.answers.memory_document import MemoryDocument
from inductor_debug_schema.answers.roofline_document import RooflineDocument
from inductor_debug_schema.codec import key_of
from inductor_debug_schema.commands.command_answers import PartialResult
from inductor_debug_schema.commands.command_table import COMMANDS

TOLD = (
    AnalysisNotification, CompileTimeDocument, DiffDocument, FindingData, MemoryDocument, PartialResult,
    RooflineDocument, RunProfileDocument,
)  # fmt: skip
"""What is told beside the answers of commands: in notifications, in diagnostics, in files."""
_PLAIN: dict[Any, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", bytes: "bytes", Any: "any", type(None): "null",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Shapes:
    """Fields of records, members of enums, and the shapes of `roots`: what is told, by whatever it is called."""

    records: dict[str, dict[str, Any]]
    enums: dict[str, list[Any]]
    roots: dict[str, Any]


def told() -> Shapes:
    """What daemons tell: beside the answers of commands, and those."""
    kinds = {kind.__name__: kind for kind in TOLD} | {command.name: command.answer for command in COMMANDS}
    return _shapes(kinds)


def asked() -> Shapes:
    """What daemons are asked for, by the names of the commands."""
    return _shapes({command.name: command.request for command in COMMANDS})


def typescript(note: str) -> str:
    """The module: constants, and the type that ties the names of records to their types."""
    shapes = told()
    records, enums = shapes.records, shapes.enums
    answers = {command.name: shapes.roots[command.name] for command in COMMANDS}
    names = "".join(f"  readonly {kind.__name__}: wire.{kind.__name__};\n" for kind in TOLD)
    return (
        f"// {note}\n\n"
        'import type * as wire from "./wire.js";\n\n'
        "/** A plain type, the name of a record or an enum, or these in a list, a map, a tuple, a choice. */\n"
        'export type Shape = string | readonly ["list" | "map" | "tuple" | "or", ...Shape[]];\n\n'
        "/** What is told beside answers. */\n"
        f"export interface Told {{\n{names}}}\n\n"
        "/** The fields of each record; a name that ends in `?` may be missing. */\n"
        f"{_constant('RECORDS', 'Readonly<Record<string, Readonly<Record<string, Shape>>>>', records)}\n"
        "/** The members of each enum. */\n"
        f"{_constant('ENUMS', 'Readonly<Record<string, readonly string[]>>', enums)}\n"
        "/** What each command answers. */\n"
        f"{_constant('ANSWERS', 'Readonly<Record<keyof wire.Commands, Shape>>', answers)}"
    )


def _constant(name: str, kind: str, values: dict[str, Any]) -> str:
    rows = "".join(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},\n" for key, value in values.items())
    return f"export const {name}: {kind} = {{\n{rows}}};\n"


def _shapes(roots: dict[str, Any]) -> Shapes:
    reached = sorted(_reached(roots.values()), key=lambda kind: kind.__name__)
    return Shapes(
        {kind.__name__: _record(kind) for kind in reached if dataclasses.is_dataclass(kind)},
        {kind.__name__: [member.value for member in kind] for kind in reached if issubclass(kind, Enum)},
        {name: _shape(kind) for name, kind in roots.items()},
    )


def _reached(roots: Iterable[Any]) -> set[type]:
    found: set[type] = set()
    left: list[Any] = [*roots]
    while left:
        kind = left.pop()
        if typing.get_args(kind):
            left.extend(typing.get_args(kind))
        elif isinstance(kind, type) and kind not in _PLAIN and kind not in found:
            found.add(kind)
            left.extend(hint for _, hint, _ in _fields(kind))
    return found


def _fields(kind: type) -> Iterator[tuple[str, Any, bool]]:
    if not dataclasses.is_dataclass(kind):
        return
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        missing = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        yield key_of(field.name), hints[field.name], missing


def _record(kind: type) -> dict[str, Any]:
    return {name if required else f"{name}?": _shape(hint) for name, hint, required in _fields(kind)}


def _shape(hint: Any) -> Any:
    if hint is None:
        return "null"
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, members = typing.get_origin(hint), typing.get_args(hint)
    if origin is Union or origin is types.UnionType:
        return ["or", *map(_shape, members)]
    if origin is tuple:
        return ["tuple", *map(_shape, members)]
    if origin is dict:
        return ["map", _shape(members[1])]
    if origin is list:
        return ["list", _shape(members[0])]
    return hint.__name__
