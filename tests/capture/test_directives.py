"""Comments are found and understood without torch, in files that need not even parse."""

from __future__ import annotations

import ast

import pytest
from inductor_debug.source.comments import comments
from inductor_debug.source.directives import ignores, read_directives
from inductor_debug_schema import Position, Range


def span(line: int, start: int, end: int) -> Range:
    return Range(Position(line, start), Position(line, end))


def test_a_directive_names_what_stands_below_it_and_keeps_its_place() -> None:
    words = "inputs=(torch.randn(8, 64),), init=(64, 10), train"
    text = f"import torch\n\n# inductor-debug: {words}\n\n@decorated\nclass Model: pass\n"
    (directive,), faults = read_directives(text)
    assert not faults
    assert (directive.name, directive.line) == ("Model", 5)
    assert sorted(directive.arguments) == ["init", "inputs"]
    assert directive.training is True
    inputs = directive.arguments["inputs"]
    line = text.split("\n")[2]
    assert line[inputs.range.start.character : inputs.range.end.character] == "(torch.randn(8, 64),)"
    call = next(node for node in ast.walk(inputs.tree) if isinstance(node, ast.Call))
    assert (call.lineno, line[call.col_offset : call.end_col_offset]) == (3, "torch.randn(8, 64)")


def test_a_directive_goes_on_while_a_bracket_is_open_or_after_a_comma() -> None:
    text = (
        "# inductor-debug: inputs=(torch.randn(8, 64),\n"
        "#     é.zeros(3)),\n"
        '#   init={"width": 8}, eval\n'
        "# an ordinary comment\n"
        "def f(): ...\n"
    )
    (directive,), faults = read_directives(text)
    assert not faults
    assert sorted(directive.arguments) == ["init", "inputs"]
    assert directive.training is False
    zeros = [node for node in ast.walk(directive.arguments["inputs"].tree) if isinstance(node, ast.Call)][-1]
    raw = text.split("\n")[1].encode()
    assert (zeros.lineno, raw[zeros.col_offset : zeros.end_col_offset].decode()) == (2, "é.zeros(3)")


@pytest.mark.parametrize(
    ("words", "message", "marked"),
    [
        ("inputs=(1,), shape=3", "Unknown key 'shape'", "shape"),
        ("inputs=(1, inputs=2", "not a Python expression", "(1, inputs=2"),
        ("inputs=", "needs a value", "inputs"),
        ("train=maybe", "is a flag", "train"),
        ("train, train", "given twice", "train"),
        ("3 + 4", "key=value", "3 + 4"),
    ],
)
def test_mistakes_are_told_where_they_stand(words: str, message: str, marked: str) -> None:
    line = f"# inductor-debug: {words}"
    _, faults = read_directives(f"{line}\nclass Model: pass\n")
    assert message in faults[0].message
    where = faults[0].range
    assert line[where.start.character : where.end.character] == marked


def test_a_directive_over_nothing_is_told() -> None:
    directives, faults = read_directives("# inductor-debug: inputs=(1,)\nimport os\n")
    assert not directives
    assert "above" in faults[0].message


def test_ignores_are_found_outside_strings_only() -> None:
    text = (
        'a = "# inductor-debug: ignore[dtype]"  # inductor-debug: ignore[layout, rank]\n'
        '"""\n# inductor-debug: ignore[dtype]\n"""\n'
        "x = 1  # noqa: E501  # inductor-debug: ignore\n"
        "# the words inductor-debug: ignore[dtype] in prose\n"
    )
    found = ignores(text)
    assert [(item.line, item.rules) for item in found] == [(0, ("layout", "rank")), (4, ())]
    line = text.split("\n")[0]
    assert line[found[0].range.start.character :] == "# inductor-debug: ignore[layout, rank]"


@pytest.mark.parametrize(
    "broken",
    ["def f(:\n", "x = 'it's\n", "'''doc\n'''\nif x\n", "\x00\n", "x = (\n", "# don't\n"],
)
def test_ignores_are_found_in_files_that_do_not_parse(broken: str) -> None:
    text = broken + "y = 2  # inductor-debug: ignore[dtype]\n"
    (found,) = ignores(text)
    assert found.rules == ("dtype",)
    assert found.line == broken.count("\n")


def test_columns_count_utf16_and_lines_every_line_end() -> None:
    text = '\ufeffx = 1\r\ny = "🔥"  # inductor-debug: ignore[dtype]\r\n'
    (found,) = ignores(text)
    assert found.range == span(1, 10, 41)
    assert [comment.line for comment in comments("# a\r# b\n\x0c# c\u2028\n# d")] == [0, 1, 2, 3]
