from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.server.state.editor_texts import edited, well_formed
from lsprotocol import types


def partial(start: tuple[int, int], end: tuple[int, int], text: str) -> types.TextDocumentContentChangePartial:
    return types.TextDocumentContentChangePartial(
        range=types.Range(start=types.Position(*start), end=types.Position(*end)), text=text
    )


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ("a\nb\n", ((1, 0), (1, 1), "c"), "a\nc\n"),
        ("a\r\nb\r\n", ((0, 1), (1, 0), ""), "ab\r\n"),
        ("a\rb", ((1, 0), (1, 1), "c"), "a\rc"),
        ("x = '\x0c'\ny", ((1, 0), (1, 1), "z"), "x = '\x0c'\nz"),
        ("x = '\u2028'\ny", ((1, 0), (1, 1), "z"), "x = '\u2028'\nz"),
        ("'😀' + a", ((0, 7), (0, 8), "b"), "'😀' + b"),
        ("a", ((0, 1), (0, 1), "b"), "ab"),
        ("a\n", ((1, 0), (1, 0), "b"), "a\nb"),
        ("a\nb", ((0, 99), (0, 99), "!"), "a!\nb"),
        ("a\r\nb", ((0, 99), (0, 99), "!"), "a!\r\nb"),
        ("a\nb", ((99, 0), (99, 5), "!"), "a\nb!"),
        ("ab", ((0, 2), (0, 1), "!"), "ab!"),
        ("", ((0, 0), (0, 0), "x"), "x"),
        ("a\nb\nc", ((0, 0), (2, 1), ""), ""),
    ],
)
def test_an_edit_lands_where_the_client_made_it(before: str, change: Any, after: str) -> None:
    assert edited(before, [partial(*change)]) == after


def test_changes_of_one_notification_follow_each_other() -> None:
    whole = types.TextDocumentContentChangeWholeDocument(text="abc")
    assert edited("old", [whole, partial((0, 0), (0, 1), ""), partial((0, 0), (0, 1), "B")]) == "Bc"


def test_halves_of_surrogate_pairs_become_replacement_characters_of_the_same_length() -> None:
    assert well_formed("a\ud800b") == "a\ufffdb"
    assert well_formed("\ud83d\ude00") == "😀"


TEXTS = st.text(alphabet="ab 😀é\n\r\x0c\u2028", max_size=30)


@given(TEXTS, TEXTS, st.data())
def test_any_edit_equals_the_same_edit_on_utf16_code_units(text: str, inserted: str, data: st.DataObject) -> None:
    boundaries = [index for index in range(len(text) + 1) if text[index - 1 : index + 1] != "\r\n"]
    start, end = sorted(data.draw(st.sampled_from(boundaries)) for _ in range(2))
    change = partial(position(text, start), position(text, end), inserted)
    assert edited(text, [change]) == text[:start] + inserted + text[end:]


def position(text: str, offset: int) -> tuple[int, int]:
    ends = [match.end() for match in re.finditer(r"\r\n|\n|\r", text) if match.end() <= offset]
    line_start = ends[-1] if ends else 0
    return len(ends), len(text[line_start:offset].encode("utf-16-le")) // 2
