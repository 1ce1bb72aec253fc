"""Whatever a file holds and wherever a finding points, the excerpt can be drawn and takes nothing over."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.report.cells import printable, width_of
from inductor_debug.report.source_characters import ShownText
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.snippet import MAX_WIDTH, ShownSnippet
from inductor_debug_schema import Position, Range

ODD = "\t\r\n\x0b\x0c\x1b\x85\u2028\u202e\u200d\ufe0f\u0301日🙂👍🏽a ()="
texts = st.text(st.one_of(st.characters(), st.sampled_from(ODD)), max_size=400)
positions = st.builds(Position, st.integers(0, 12), st.integers(0, 500))
plain = ShownSnippet(Styler(False), "^", Role.ERROR)


def is_harmless(line: str) -> bool:
    return all(
        unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        and character not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        for character in line
    )


@given(texts, positions, positions)
def test_any_range_of_any_text_can_be_drawn(text: str, one: Position, other: Position) -> None:
    area = Range(min(one, other), max(one, other))
    lines = plain.render(ShownText(text), area, 4)
    assert all(is_harmless(line) for line in lines)
    assert all(width_of(line) <= MAX_WIDTH + 20 for line in lines)
    assert not lines or "^" in "".join(lines)


@given(texts)
def test_printable_text_is_harmless_and_stays_so(text: str) -> None:
    shown = printable(text)
    assert all(is_harmless(line) for line in shown.split("\n"))
    assert printable(shown) == shown


@given(st.text(st.sampled_from("ab日\t "), max_size=30), st.data())
def test_the_marks_stand_under_the_expression(line: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    rows = plain.render(ShownText(line), Range(Position(0, start), Position(0, end)), 3)
    under = rows[1].removeprefix("    | ")
    assert under.index("^") == width_of(line[:start])
    assert under.count("^") == max(width_of(line[start:end]), 1)
