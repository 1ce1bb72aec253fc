"""Positions: UTF-16, all line ends, and findings that move along with edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.engine.fixes.edits import TextEdit, applied
from inductor_debug.report.source_characters import ShownText
from inductor_debug.server.state.editor_texts import edited
from inductor_debug.source.text_changes import difference
from inductor_debug.source.text_lines import (
    first_line_range,
    index_of_utf16,
    line_starts,
    offset_of,
    slice_of,
    split_lines,
    utf16_length,
)
from inductor_debug_schema import Position, Range
from lsprotocol import types

MOVES = [
    pytest.param("a = BAD\n", "a = BAD\n", "BAD", id="nothing changed"),
    pytest.param("a = BAD\n", "x\ny\na = BAD\n", "BAD", id="lines above"),
    pytest.param("x\ny\na = BAD\n", "a = BAD\n", "BAD", id="lines above removed"),
    pytest.param("a = BAD\n", "a = BAD\nx\n", "BAD", id="lines below"),
    pytest.param("a = BAD\n", "abc = BAD\n", "BAD", id="before it on its line"),
    pytest.param("a = BAD\n", "a = BAD + 1\n", "BAD", id="after it on its line"),
    pytest.param("a = BAD\n", "😀 = BAD\n", "BAD", id="a wide character before it"),
    pytest.param("a = BAD\nb\n", "x\na = BAD\nc\n", "BAD", id="above and below at once"),
    pytest.param("x\na = BAD\ny\n", "x1\nx2\na = BAD\ny1\n", "BAD", id="neighbours"),
    pytest.param("a = BAD\r\n", "x\r\na = BAD\r\n", "BAD", id="CRLF"),
    pytest.param("a = BAD\n", "a = BxxAD\n", "BxxAD", id="inside of it"),
    pytest.param("a = BAD\nb\n", "b\n", None, id="its line removed"),
    pytest.param("a = BAD + 1\n", "a =  + 1\n", None, id="it removed"),
]


def span_of(text: str, word: str) -> Range:
    for number, line in enumerate(split_lines(text)):
        if word in line:
            start = utf16_length(line[: line.index(word)])
            return Range(Position(number, start), Position(number, start + utf16_length(word)))
    raise AssertionError(word)


@pytest.mark.parametrize(("old", "new", "word"), MOVES)
def test_a_finding_moves_along_with_its_text(old: str, new: str, word: str | None) -> None:
    expected = None if word is None else span_of(new, word)
    assert difference(old, new).moved(span_of(old, "BAD")) == expected


TEXTS = st.text(alphabet="ab\n\r 😀", max_size=40)


@given(TEXTS, TEXTS)
def test_moved_spans_are_ordered_and_inside_of_the_new_text(old: str, new: str) -> None:
    edit = difference(old, new)
    lines, after = split_lines(old), split_lines(new)
    for number, line in enumerate(lines):
        span = edit.moved(Range(Position(number, 0), Position(number, utf16_length(line))))
        if span is not None:
            assert span.start <= span.end
            assert span.end.line <= len(after)
    assert slice_of(lines, Range(Position(0, 0), Position(len(lines), 0))).split("\n")[: len(lines)] == lines


def test_the_first_line_is_measured_in_utf16() -> None:
    assert first_line_range("x = '😀'\r\ny\n") == Range(Position(0, 0), Position(0, 8))
    assert first_line_range("") == Range(Position(0, 0), Position(0, 0))


@given(st.text(alphabet="a😀\n\r", max_size=12), st.integers(0, 4), st.integers(0, 12))
def test_a_position_is_one_place_for_editors_fixes_and_reports(text: str, line: int, character: int) -> None:
    """Also inside of a surrogate pair, where the place is before the character."""
    index = offset_of(text, line_starts(text), line, character)
    place = types.Position(line, character)
    change = types.TextDocumentContentChangePartial(range=types.Range(place, place), text="!")
    assert edited(text, [change]) == text[:index] + "!" + text[index:]
    at = Position(line, character)
    assert applied(text, [TextEdit(Range(at, at), "!")]) == text[:index] + "!" + text[index:]
    if line < len(split_lines(text)):
        assert ShownText(text).character_index(at) == index - line_starts(text)[line]


def test_a_position_inside_of_a_pair_is_before_it() -> None:
    assert [index_of_utf16("a😀b", character) for character in range(6)] == [0, 1, 1, 2, 3, 3]
