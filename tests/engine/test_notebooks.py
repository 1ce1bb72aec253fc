"""Notebooks are read as the Python of their cells, and every line knows its cell."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.report.file_names import FileNames
from inductor_debug.source.notebooks.magics import python_of
from inductor_debug.source.notebooks.reading import (
    Notebook,
    NotebookError,
    cell_areas,
    line_of,
    lines_in_words,
    open_as,
    place_in_words,
    read_notebook,
)
from inductor_debug_schema import Position, Range


def notebook(*cells: tuple[str, Any], **more: Any) -> bytes:
    """A notebook file with these cells, each a kind and a source."""
    listed = [{"cell_type": kind, "source": source, "metadata": {}} for kind, source in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": listed, **more}).encode()


def test_code_cells_make_one_text_and_lines_know_their_cells() -> None:
    read = read_notebook(notebook(("markdown", "# Title"), ("code", ["import torch\n", "x = 1"]), ("code", "y = x\n")))
    lines = read.text.split("\n")
    assert str(read.place(lines.index("x = 1"))) == "cell 2, line 2"
    assert str(read.place(lines.index("y = x"))) == "cell 3, line 1"
    assert read.place(0) is None
    assert "Title" not in read.text


def test_reports_name_the_cell_of_a_line(tmp_path: Path) -> None:
    """As it is on disk, also after that has changed, or as an editor has it open."""
    path = tmp_path / "net.ipynb"
    names = FileNames(str(tmp_path), str(tmp_path))
    path.write_bytes(notebook(("code", "x = 1\ny = 2")))
    assert [names.at(str(path), line) for line in (0, 2)] == ["net.ipynb:1", "net.ipynb: cell 1, line 2"]
    path.write_bytes(notebook(("markdown", "# A title"), ("code", "x = 1\ny = 2")))
    assert names.at(str(path), 2) == "net.ipynb: cell 2, line 2"
    open_as(str(path), Notebook("…", (1, 3), (7, 4)))
    areas = [Range(Position(first, 0), Position(last, 4)) for first, last in ((1, 1), (2, 2), (3, 5))]
    assert lines_in_words(str(path), areas) == "cell 7, lines 1, 2 and cell 4, lines 1-3"
    open_as(str(path), None)
    assert names.at(str(path), 2) == "net.ipynb: cell 2, line 2"
    assert names.at(str(tmp_path / "net.py"), 2) == "net.py:3"


def test_a_line_is_found_by_its_cell_and_told_by_it(tmp_path: Path) -> None:
    path = str(tmp_path / "net.ipynb")
    Path(path).write_bytes(notebook(("markdown", "# A title"), ("code", "x = 1\ny = 2"), ("code", "z = 3")))
    assert [line_of(path, cell, line) for cell, line in ((2, 1), (2, 2), (3, 1))] == [1, 2, 3]
    assert [line_of(path, cell, line) for cell, line in ((1, 1), (2, 3), (3, 2), (4, 1))] == [None] * 4
    assert place_in_words("net.ipynb", path, 3, 4) == "net.ipynb: cell 3, line 1"
    assert cell_areas(path) == [{"number": 2, "start": 1, "lines": 2}, {"number": 3, "start": 3, "lines": 1}]
    other = str(tmp_path / "net.py")
    assert [place_in_words("n.py", other, 3), place_in_words("n.py", other, 3, 4)] == ["n.py:4", "n.py:4:5"]
    assert (line_of(other, 2, 1), cell_areas(other)) == (None, [])


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if x:\n    !pip install torch", "if x:\n    pass"),
        ("files = !ls", "files = None"),
        ("a, b = %run thing", "a, b = None"),
        ("nn.Linear?", "pass"),
        ("?nn.Linear", "pass"),
        ("!echo a \\\n  b\nx = 1", "pass\n\nx = 1"),
        ("%%bash\nrm -rf x", "\n"),
        ("%%time\nx = 1", "\nx = 1"),
        ("x = y % z\nx %= 2\nx != y", "x = y % z\nx %= 2\nx != y"),
        ('text = """\n%not a magic\n!nor this\n"""', 'text = """\n%not a magic\n!nor this\n"""'),
        ("y = (a\n     % b)", "y = (a\n     % b)"),
    ],
)
def test_what_only_ipython_understands_is_left_out_line_by_line(cell: str, python: str) -> None:
    assert python_of(cell) == python


@given(st.text(alphabet="ab=%!?\"' \n\\(){}[]:#", max_size=60))
def test_every_cell_keeps_its_lines_and_python_stays_as_it_is(cell: str) -> None:
    taken = python_of(cell)
    assert taken.count("\n") == cell.count("\n")
    try:
        ast.parse(cell)
    except (SyntaxError, ValueError):
        return
    assert ast.dump(ast.parse(taken)) == ast.dump(ast.parse(cell))


def test_the_oldest_format_that_is_around_is_read_too() -> None:
    sheet = {"cells": [{"cell_type": "code", "input": ["x = 1\n"], "outputs": []}]}
    assert "x = 1" in read_notebook(json.dumps({"nbformat": 3, "worksheets": [sheet]}).encode()).text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no notebook"),
        (b"[]", "no object"),
        (b"{}", "no cells"),
        (b'{"cells": 3}', "no cells"),
        (b'{"worksheets": 3}', "no cells"),
        (b"\xff\xfe{", "no notebook"),
        (b"[" * 100_000, "no notebook"),
        (notebook(("code", "x"), metadata={"kernelspec": {"language": "R"}}), "cells of this notebook are in r"),
    ],
)
def test_what_is_no_notebook_is_refused_in_a_sentence(content: bytes, reason: str) -> None:
    with pytest.raises(NotebookError, match=reason):
        read_notebook(content)


@pytest.mark.parametrize("cell", [None, 3, {}, {"cell_type": "code"}, {"cell_type": "code", "source": 7}])
def test_odd_cells_are_passed_over(cell: Any) -> None:
    content = json.dumps({"cells": [cell, {"cell_type": "code", "source": "x = 1"}], "metadata": []}).encode()
    assert "x = 1" in read_notebook(content).text
