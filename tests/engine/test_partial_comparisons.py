"""Comparisons that did not end: the pieces that came, put together, and what they say of themselves."""

from __future__ import annotations

import json
from typing import Any

import answers
import pytest
from inductor_debug.engine.orders.partial_comparisons import PartialComparisons
from inductor_debug_schema import (
    ArtifactKind,
    DiffNode,
    DiffPiece,
    DiffSegment,
    DiffTensor,
    DiffVerdict,
    Progressed,
    to_wire,
)
from inductor_debug_schema import PartlyAnswered as Part

EMPTY = {"schema": 1, "target": "Net", "reference": "eager", "backend": "spyre", "seed": 3, "runs": 1, "partial": True}
BEGUN = {"begun": EMPTY}


def row(name: str, why: str = "") -> dict[str, Any]:
    return answers.row(DiffTensor, {"name": name, "why": why})


NODE = answers.row(DiffNode, {"node": "x"})
SEGMENT = answers.row(DiffSegment, {"graph": "0"})


def heard(*pieces: dict[str, Any], target: str = "Net") -> PartialComparisons:
    partial = PartialComparisons()
    partial.hear(Progressed("running"))
    for piece in pieces:
        partial.hear(Part(target, answers.answer(DiffPiece, piece)))
    return partial


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([{"outputs": [row("a")]}, {"outputs": [row("b")]}], {"outputs": [row("a"), row("b")]}),
        (
            [{"outputs": [row("a"), row("b")]}, {"outputs": [row("a", "worse")]}],
            {"outputs": [row("a", "worse"), row("b")]},
        ),
        ([{"nodes": [NODE]}, {"nodes": [NODE]}], {"nodes": [NODE, NODE]}),
        ([{"segments": [SEGMENT], "notes": ["one"]}, {"notes": ["two"]}], {"segments": [SEGMENT], "notes": ["two"]}),
    ],
    ids=["added", "a worse run", "a graph that runs twice", "other values are replaced"],
)
def test_pieces_are_added_up(pieces: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    document = to_wire(*heard(BEGUN, *pieces).documents("it was cancelled"))
    assert {name: document[name] for name in expected} == expected
    assert (document["target"], document["seed"], document["partial"], document["schema"]) == ("Net", 3, True, 1)


def test_a_verdict_that_was_not_reached_is_none_and_one_that_was_stays() -> None:
    pieces = [BEGUN, {"outputs": [row("a")], "gradients": [row("b")]}]
    (document,) = heard(*pieces).documents("it was cancelled")
    assert document.verdict is DiffVerdict.FAILED
    assert document.why == (
        "The comparison did not end, because it was cancelled: 2 results are here, and others may be missing."
    )
    reached = {"verdict": "wrong", "why": "a: far off.", "notes": ["one"]}
    (document,) = heard(*pieces, reached).documents("its process ended")
    assert (document.verdict, document.why) == (DiffVerdict.WRONG, "a: far off.")
    assert document.notes[0] == "one"
    assert "because its process ended" in document.notes[1]


def test_what_has_no_row_is_nothing() -> None:
    assert heard().documents("it was cancelled") == []
    assert heard(BEGUN).documents("it was cancelled") == []


def test_it_is_kept_as_a_report() -> None:
    partial = heard(BEGUN, {"outputs": [row("a")]})
    documents = partial.documents("it was cancelled")
    (made,) = partial.artifacts(documents)
    assert (made.kind, made.target, made.media_type) == (ArtifactKind.REPORTS, "Net", "application/json")
    assert json.loads(made.content) == to_wire(documents[0])
