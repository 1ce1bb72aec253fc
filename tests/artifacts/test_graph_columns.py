"""Graphs survive their file format, and whatever is no such file is refused in words."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from pathlib import Path
from typing import Any

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inductor_debug.artifacts.errors import ArtifactError
from inductor_debug.artifacts.graph_columns import FORMAT, decode, encode
from inductor_debug_schema import (
    Graph,
    GraphDocument,
    GraphKind,
    GraphNode,
    Location,
    NodeRole,
    Position,
    Range,
    Stage,
    from_wire,
)

GOLDEN = Path(__file__).resolve().parents[2] / "shared_schema" / "golden"
SMALL = st.integers(min_value=0, max_value=2**31 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PLACES = st.builds(
    Location, TEXT, st.builds(Range, st.builds(Position, SMALL, SMALL), st.builds(Position, SMALL, SMALL))
)
NODES = st.builds(
    GraphNode,
    name=TEXT,
    op=TEXT,
    role=st.sampled_from(NodeRole),
    inputs=st.lists(TEXT, max_size=3),
    shape=st.none() | st.lists(st.integers(min_value=0, max_value=2**53) | TEXT, max_size=3),
    dtype=st.none() | TEXT,
    bytes=st.none() | st.integers(min_value=0, max_value=2**53),
    detail=TEXT,
    place=st.none() | PLACES,
    module=TEXT,
    seq_nr=st.none() | SMALL,
    origins=st.lists(TEXT, max_size=2),
    forward=st.lists(TEXT, max_size=2),
    kernels=st.lists(TEXT, max_size=2),
)
GRAPHS = st.builds(Graph, TEXT, st.sampled_from(GraphKind), st.lists(NODES, max_size=4), TEXT)


def document(graphs: list[Graph]) -> GraphDocument:
    return GraphDocument("Model", Stage.AOT, "/project/model.py", "abcd", "mock", "2.13.0", graphs)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(GRAPHS, max_size=3))
def test_every_graph_comes_back_as_it_was(graphs: list[Graph]) -> None:
    assert decode(encode(document(graphs))) == document(graphs)


def test_the_golden_file_says_the_same_as_its_json() -> None:
    said = json.loads((GOLDEN / "GraphColumns.json").read_text(encoding="utf-8"))
    assert decode((GOLDEN / "GraphColumns.graph").read_bytes()) == from_wire(GraphDocument, said)


def test_a_large_graph_stays_a_small_file() -> None:
    place = Location("/project/model.py", Range(Position(3, 4), Position(3, 30)))
    nodes = [
        GraphNode(
            name=f"add_{number}",
            op="aten.add.Tensor",
            inputs=[f"add_{max(number - 1, 0)}", f"add_{max(number - 2, 0)}"],
            shape=[8, number % 500, 768],
            dtype="float32",
            bytes=number,
            detail=f"alpha={number % 9}",
            place=place,
            module=f"encoder.layer.{number % 48}.attention",
            seq_nr=number,
            origins=[f"origin_{number}"],
            kernels=[f"cpp_fused_{number // 8}"],
        )
        for number in range(20_000)
    ]
    content = encode(document([Graph("0.forward", GraphKind.FORWARD, nodes, "0")]))
    assert len(content) <= 3_000_000
    assert len(decode(content).graphs[0].nodes) == 20_000


@pytest.mark.parametrize(
    "content",
    [b"", b"\xc1", b"<svg></svg>", b"\x81", msgpack.packb([1, 2]), msgpack.packb({"format": "else"}), b"\x00" * 64],
    ids=["empty", "no msgpack", "svg", "cut", "a list", "foreign", "zeros"],
)
def test_what_is_no_graph_is_refused(content: bytes) -> None:
    with pytest.raises(ArtifactError):
        decode(content)


def test_a_file_of_a_newer_version_is_named_as_such() -> None:
    with pytest.raises(ArtifactError, match="schema 99"):
        decode(msgpack.packb({"format": FORMAT, "schema": 99}))


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_damage_is_an_artifact_error_and_never_another(data: st.DataObject) -> None:
    content = bytearray((GOLDEN / "GraphColumns.graph").read_bytes())
    where = data.draw(st.integers(min_value=0, max_value=len(content) - 1))
    content[where] ^= data.draw(st.integers(min_value=1, max_value=255))
    with contextlib.suppress(ArtifactError):
        assert isinstance(decode(bytes(content[: data.draw(st.sampled_from([len(content), where]))])), GraphDocument)


@pytest.mark.parametrize("column", ["names", "inputs", "inputs_at", "roles", "shapes", "places", "bytes", "seq_nrs"])
@pytest.mark.parametrize("value", [b"\x01", b"\xff\xff\xff\x7f" * 2, b"\x00" * 4, None, "text", 3])
def test_a_column_that_does_not_fit_is_refused(column: str, value: Any) -> None:
    said = msgpack.unpackb((GOLDEN / "GraphColumns.graph").read_bytes())
    said["graphs"][0][column] = value
    with pytest.raises(ArtifactError):
        decode(msgpack.packb(said))


def test_a_number_beyond_the_format_is_refused_when_written() -> None:
    node = dataclasses.replace(GraphNode("a", "b"), seq_nr=2**40)
    with pytest.raises(ArtifactError):
        encode(document([Graph("0", GraphKind.FX, [node])]))
