"""Source excerpts: the underline stands exactly under the expression, whatever the line is made of."""

from __future__ import annotations

import pytest
from inductor_debug.report.cells import printable, width_of
from inductor_debug.report.source_characters import ShownText
from inductor_debug.report.styles import Role, Styler
from inductor_debug.report.text.snippet import MAX_WIDTH, ShownSnippet, crop
from inductor_debug_schema import Range
from report_samples import span, span_of


def draw(text: str, area: Range, mark: str = "^") -> str:
    snippet = ShownSnippet(Styler(False), mark, Role.WARNING)
    return "\n".join(snippet.render(ShownText(text), area, 3))


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        pytest.param(
            "y = x.double() @ w\n", "x.double()", "  1 | y = x.double() @ w\n    |     ^^^^^^^^^^", id="plain"
        ),
        pytest.param("\ty = f(x)\n", "f(x)", "  1 |     y = f(x)\n    |         ^^^^", id="tab before"),
        pytest.param("f(\tx)\n", "f(\tx)", "  1 | f(    x)\n    | ^^^^^^^^", id="tab inside"),
        pytest.param("s = '🙂'; f(x)\n", "f(x)", "  1 | s = '🙂'; f(x)\n    |           ^^^^", id="emoji before"),
        pytest.param("a = '日本' + b\n", "'日本'", "  1 | a = '日本' + b\n    |     ^^^^^^", id="wide"),
        pytest.param("e\u0301 = f(x)\n", "f(x)", "  1 | e\u0301 = f(x)\n    |     ^^^^", id="combining"),
        pytest.param("s='👩‍👩‍👧' + f()\n", "f()", "  1 | s='👩‍👩‍👧' + f()\n    |          ^^^", id="joined emoji"),
        pytest.param("s='👍🏽' + f()\n", "f()", "  1 | s='👍🏽' + f()\n    |          ^^^", id="skin tone"),
        pytest.param("x = 1\r\ny = f(x)\r\n", "f(x)", "  2 | y = f(x)\n    |     ^^^^", id="CRLF"),
        pytest.param("x = 1\ry = f(x)\r", "f(x)", "  2 | y = f(x)\n    |     ^^^^", id="CR"),
        pytest.param("a\x0cb\ny = f(x)", "f(x)", "  2 | y = f(x)\n    |     ^^^^", id="form feed is no line end"),
        pytest.param(
            "a = '\u2028'; f(x)\n", "f(x)", "  1 | a = '\ufffd'; f(x)\n    |          ^^^^", id="line separator"
        ),
    ],
)
def test_the_underline_is_exact(text: str, part: str, expected: str) -> None:
    assert draw(text, span_of(text, part)) == expected


def test_an_empty_range_gets_one_mark_even_at_the_end_of_the_line() -> None:
    assert draw("x = (\n", span(0, 5, 5)) == "  1 | x = (\n    |      ^"


def test_a_range_past_the_end_of_its_line_stops_there() -> None:
    assert draw("x = f\n", span(0, 4, 99)) == "  1 | x = f\n    |     ^"


def test_lines_that_are_no_more_give_no_excerpt() -> None:
    assert draw("x = 1\n", span(7, 0, 3)) == ""


def test_a_call_over_three_lines_gets_a_bracket() -> None:
    text = "y = torch.cat(\n    [a, b],\n)\nz = 1\n"
    assert draw(text, span(0, 4, 1, end_line=2)) == (
        "  1 |   y = torch.cat(\n    |  _____^\n  2 | |     [a, b],\n  3 | | )\n    | |_^"
    )


def test_a_statement_that_begins_its_line_gets_a_slash() -> None:
    text = "    torch.cat(\n        a,\n    ).sum()\n"
    assert draw(text, span(0, 4, 5, end_line=2)) == (
        "  1 | /     torch.cat(\n  2 | |         a,\n  3 | |     ).sum()\n    | |_____^"
    )


def test_the_middle_of_a_long_expression_is_left_out() -> None:
    text = "f(\n" + "".join(f"    a{number},\n" for number in range(20)) + ")\n"
    shown = draw(text, span(0, 0, 1, end_line=21))
    assert shown.splitlines() == [
        "  1 | / f(",
        "  2 | |     a0,",
        "...   |",
        " 21 | |     a19,",
        " 22 | | )",
        "    | |_^",
    ]


def test_a_range_that_ends_at_the_start_of_the_next_line_stays_on_its_own() -> None:
    assert draw("x = f(1)\ny = 2\n", span(0, 4, 0, end_line=1)) == "  1 | x = f(1)\n    |     ^^^^"


def test_a_very_long_line_is_cropped_around_the_expression() -> None:
    line = "a" * 5000 + "f(x)" + "b" * 5000
    text, before, width = crop(line, 5000, 5004)
    assert len(text) <= MAX_WIDTH + 6
    assert text[before : before + width] == "f(x)"
    assert text.startswith("...")
    assert text.endswith("...")


def test_an_expression_longer_than_the_screen_is_cut() -> None:
    text, before, width = crop("x = " + "f" * 1000, 4, 1004)
    assert len(text) <= MAX_WIDTH + 6
    assert before == 4
    assert before + width <= len(text)


def test_source_cannot_send_escape_sequences_to_the_terminal() -> None:
    text = "s = '\x1b[31m'; f(x)\n"
    shown = draw(text, span_of(text, "f(x)"))
    assert "\x1b" not in shown
    assert shown.splitlines()[1].index("^") == shown.splitlines()[0].index("f(x)")


@pytest.mark.parametrize("hostile", ["\x1b]0;title\x07", "\u202e", "\u2066", "\x9b31m", "\x00", "\udc80", "\x7f"])
def test_control_characters_are_made_visible(hostile: str) -> None:
    shown = printable(f"a{hostile}b")
    assert not any(character in shown for character in "\x1b\x07\u202e\u2066\x9b\x00\udc80\x7f")
    assert shown.startswith("a")
    assert shown.endswith("b")


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("日本", 4), ("é", 1), ("e\u0301", 1), ("🙂", 2), ("❤\ufe0f", 2), ("\t", 4), ("ｱ", 1)],
)
def test_widths(text: str, width: int) -> None:
    assert width_of(text) == width
