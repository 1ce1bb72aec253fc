"""Settings of VS Code's: read with their comments, and added to without a change to what is there."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.source.json_with_comments import JsonTextError, parsed, with_element

NEW = {"name": "new", "args": ["// no comment", "a, ]"]}
OTHERWISE = {"version": "0.2.0"}
SCALARS = st.none() | st.booleans() | st.integers() | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)
COMMENTED = """\
{
    // Use IntelliSense to learn about "possible" attributes, { or not.
    "version": "0.2.0", /* the
    version */
    "configurations": [
        {
            "name": "mine", // what I call it
            "url": "http://host/*path*/x,]",
        },
    ],
}
"""


def added(text: str) -> str:
    return with_element(text, "configurations", NEW, OTHERWISE)


def test_comments_and_last_commas_are_read_over_and_kept() -> None:
    made = added(COMMENTED)
    assert parsed(made)["configurations"] == [{"name": "mine", "url": "http://host/*path*/x,]"}, NEW]
    for line in COMMENTED.splitlines():
        assert line.strip() in made


@pytest.mark.parametrize("text", ["", "\n", "// nothing yet\n", "/* nothing */"])
def test_a_text_of_nothing_becomes_a_whole_one(text: str) -> None:
    made = added(text)
    assert made.startswith(text)
    assert parsed(made) == {**OTHERWISE, "configurations": [NEW]}


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"version": "0.2.0"}',
        '{"configurations": []}',
        '{"configurations": [ /* none */ ], "compounds": []}',
        '\ufeff{"configurations": [{"a": 1}]}',
        '{"compounds": [{"configurations": ["other"]}], "configurations": [1, 2,]}',
    ],
)
def test_the_element_comes_last_wherever_the_list_is(text: str) -> None:
    before = parsed(text)
    assert parsed(added(text)) == {**before, "configurations": [*before.get("configurations", []), NEW]}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"configurations": [', "line 1"),
        ('{"a": 1\n"b": 2}', "line 2, column 1"),
        ("[]", "no object"),
        ('{"configurations": {}}', "no list"),
        ('{"configurations": [1], "configurations": [1]} trailing', "line 1"),
        ("{" + '"a": {' * 20_000, "too deeply|line 1"),
    ],
)
def test_what_is_not_what_it_should_be_is_told(text: str, why: str) -> None:
    with pytest.raises(JsonTextError, match=why):
        added(text)


def test_lines_end_as_they_ended() -> None:
    made = added('{\r\n  "configurations": [\r\n    1\r\n  ]\r\n}\r\n')
    assert made.count("\n") == made.count("\r\n")


@given(st.dictionaries(st.text(), VALUES, max_size=3), st.lists(VALUES, max_size=3), st.sampled_from([None, 0, 2]))
def test_any_object_has_one_element_more(others: dict[str, object], elements: list[object], indent: int | None) -> None:
    whole = {**others, "configurations": elements}
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    assert parsed(added(text)) == {**whole, "configurations": [*elements, NEW]}
