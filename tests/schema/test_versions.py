"""Peers one minor version apart: what only one of them knows is left out, and all else arrives.

Frames of another version are made of the golden vectors, which have every type of the wire: a newer one adds fields and
members of enums, an older one leaves out what has a default.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import inductor_debug_schema
import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug_schema import (
    AnalysisNotification,
    Facts,
    FileStatus,
    Finding,
    Position,
    Range,
    Severity,
    Stage,
    StageReport,
    StageState,
    TargetReport,
    WireError,
    from_wire,
    to_wire,
)

SCHEMA_FOLDER = Path(__file__).resolve().parents[2] / "shared_schema"
GOLDEN = sorted((SCHEMA_FOLDER / "golden").glob("*.msgpack"))
KINDS = {path: getattr(inductor_debug_schema, path.stem, None) for path in GOLDEN}
EXPORTED = [path for path, kind in KINDS.items() if kind is not None]


def frames(path: Path) -> list[Any]:
    return typing.cast("list[Any]", msgpack.unpackb(path.read_bytes()))


def newer(kind: Any, said: Any) -> Any:
    """As a later version might say it: every object has fields of names that are not known here."""
    members = [member for member in typing.get_args(kind) if member is not type(None)]
    if isinstance(said, list) and typing.get_origin(kind) is list:
        return [newer(members[0], item) for item in said]
    if isinstance(said, dict) and typing.get_origin(kind) is dict:
        return {key: newer(members[1], item) for key, item in said.items()}
    if len(members) == 1:
        return newer(members[0], said)
    if not dataclasses.is_dataclass(kind) or said is None:
        return said
    hints = {name.removesuffix("_"): hint for name, hint in typing.get_type_hints(kind).items()}
    return {**{key: newer(hints[key], value) for key, value in said.items()}, "added_later": {"deep": [1]}, "z": "new"}


def older(kind: Any, said: Any) -> Any:
    """As an earlier version might have said it: without the fields that have a default."""
    members = [member for member in typing.get_args(kind) if member is not type(None)]
    if typing.get_origin(kind) is list:
        return [older(members[0], item) for item in said]
    if len(members) == 1:
        return older(members[0], said) if said is not None else None
    if not dataclasses.is_dataclass(kind) or said is None:
        return said
    hints = typing.get_type_hints(kind)
    missing = dataclasses.MISSING
    needed = [
        field.name
        for field in dataclasses.fields(kind)
        if field.default is missing and field.default_factory is missing
    ]
    return {name.removesuffix("_"): older(hints[name], said[name.removesuffix("_")]) for name in needed}


@pytest.mark.parametrize("path", EXPORTED, ids=lambda path: path.stem)
def test_what_a_newer_peer_adds_changes_nothing(path: Path) -> None:
    kind = KINDS[path]
    assert kind is not None
    for said in frames(path):
        for lenient in (False, True):
            read = from_wire(kind, newer(kind, said), lenient=lenient)
            assert to_wire(read) == to_wire(from_wire(kind, said))


@pytest.mark.parametrize("path", EXPORTED, ids=lambda path: path.stem)
def test_what_an_older_peer_does_not_say_has_its_default(path: Path) -> None:
    kind = KINDS[path]
    assert kind is not None
    for said in frames(path):
        read = from_wire(kind, older(kind, said))
        for field in dataclasses.fields(kind):
            if field.default is not dataclasses.MISSING:
                assert getattr(read, field.name) == field.default
            elif field.default_factory is not dataclasses.MISSING:
                assert getattr(read, field.name) == field.default_factory()


def notification() -> dict[str, Any]:
    stages = [StageReport(Stage.PREVIEW, StageState.DONE, 0.1), StageReport(Stage.MOCK, StageState.DONE, 0.2)]
    target = TargetReport("Model", 3, stages)
    said = AnalysisNotification("file:///m.py", 1, 2, "done", Stage.MOCK, 0, 0.3, "", FileStatus.CLEAN, None, [target])
    return typing.cast("dict[str, Any]", to_wire(said))


def test_a_member_that_is_not_known_is_as_if_it_had_not_been_said() -> None:
    said = notification()
    said["stage"] = said["status"] = said["targets"][0]["checked"] = "holographic"
    said["targets"][0]["stages"][0]["stage"] = "holographic"
    read = from_wire(AnalysisNotification, said, lenient=True)
    assert (read.stage, read.status) == (None, None)
    assert [report.stage for report in read.targets[0].stages] == [Stage.MOCK]
    assert read.targets[0].checked is TargetReport("", 0).checked
    with pytest.raises(WireError, match="holographic"):
        from_wire(AnalysisNotification, said)


def test_what_cannot_be_done_without_is_an_error_also_for_the_lenient() -> None:
    said = notification()
    del said["generation"]
    with pytest.raises(WireError, match="generation is missing"):
        from_wire(AnalysisNotification, said, lenient=True)


def test_facts_of_a_kind_that_is_not_known_leave_the_finding_and_its_words() -> None:
    place = Range(Position(1, 2), Position(1, 3))
    said = typing.cast("dict[str, Any]", to_wire(Finding("new", Severity.HINT, "words", "m.py", place, Stage.LOAD)))
    said["facts"] = {"entirely": "new"}
    read = from_wire(Finding, said, lenient=True)
    assert (read.message, read.facts) == ("words", None)
    assert typing.get_args(Facts)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.data())
def test_torn_frames_are_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(EXPORTED))
    kind = KINDS[path]
    assert kind is not None
    said = copy.deepcopy(frames(path)[0])
    for _ in range(data.draw(st.integers(1, 3))):
        places = list(_places(said))
        if not places:
            break
        holder, key = data.draw(st.sampled_from(places))
        holder[key] = data.draw(JSON)
    for lenient in (False, True):
        try:
            read = from_wire(kind, said, lenient=lenient)
        except WireError:
            continue
        assert from_wire(kind, to_wire(read)) == read


def _places(said: Any) -> Iterator[tuple[Any, Any]]:
    items = said.items() if isinstance(said, dict) else enumerate(said) if isinstance(said, list) else ()
    for key, value in items:
        yield said, key
        yield from _places(value)


@pytest.fixture(scope="module")
def compatibility() -> Iterator[ModuleType]:
    sys.path.insert(0, str(SCHEMA_FOLDER))
    try:
        yield importlib.import_module("compatibility")
    finally:
        sys.path.remove(str(SCHEMA_FOLDER))


def test_an_editor_and_a_daemon_of_the_last_release_are_understood(compatibility: ModuleType) -> None:
    assert compatibility.broken(compatibility.released(), compatibility.now()) == []


def _renamed(**more: str) -> Callable[[Any], None]:
    """A request that has become one of another name, with more fields."""

    def change(shapes: Any) -> None:
        shapes.records["OtherRequest"] = {**shapes.records["DiffRequest"], **more}
        shapes.roots["inductorDebug.diff"] = "OtherRequest"

    return change


@pytest.mark.parametrize(
    ("direction", "change", "complaint"),
    [
        ("told", lambda s: s.records["AnalysisNotification"].update(colour="string"), "older daemons do not tell it"),
        ("told", lambda s: s.records["AnalysisNotification"].pop("uri"), "older editors require it"),
        ("told", lambda s: s.records["AnalysisNotification"].update(uri="integer"), "was string and is integer"),
        ("told", lambda s: s.enums["FileStatus"].append("odd"), "older editors cannot do without one"),
        ("told", lambda s: s.roots.pop("inductorDebug.check"), "was CheckAnswer and is None"),
        ("asked", lambda s: s.records["DiffRequest"].update(colour="string"), "older editors do not send it"),
        ("asked", lambda s: s.records["DiffRequest"].pop("uri"), "older editors send it"),
        ("asked", lambda s: s.enums["ReportFormat"].remove("html"), "older editors ask for"),
        ("asked", lambda s: s.roots.update({"inductorDebug.diff": "Gone"}), "was DiffRequest and is Gone"),
        ("asked", _renamed(colour="string"), "older editors do not send it"),
    ],
)
def test_what_would_break_a_peer_is_named(
    compatibility: ModuleType, direction: str, change: Callable[[Any], object], complaint: str
) -> None:
    after = compatibility.now()
    change(after[direction])
    assert [text for text in compatibility.broken(compatibility.now(), after) if complaint in text]


@pytest.mark.parametrize(
    ("direction", "change"),
    [
        ("told", lambda s: s.records["AnalysisNotification"].update({"colour?": "string"})),
        ("told", lambda s: s.enums["Stage"].append("holographic")),
        ("told", lambda s: s.roots.update({"inductorDebug.new": "CheckAnswer"})),
        ("asked", lambda s: s.records["DiffRequest"].update({"colour?": "string"})),
        ("asked", lambda s: s.enums["ReportFormat"].append("pdf")),
        ("asked", _renamed(**{"colour?": "string"})),
    ],
)
def test_additions_that_can_be_done_without_break_nobody(
    compatibility: ModuleType, direction: str, change: Callable[[Any], object]
) -> None:
    after = compatibility.now()
    change(after[direction])
    assert compatibility.broken(compatibility.now(), after) == []
