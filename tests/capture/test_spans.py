"""The exact expression, in the editor's units, wherever the code stands."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from capture_targets import excerpt
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.source.source_text import SourceText
from inductor_debug_schema import Position, Range

EXPRESSIONS = [
    pytest.param("here(1)", ["here(1)"], id="one line"),
    pytest.param("x = here(1), here(1)", ["here(1)", "here(1)"], id="two equal calls on a line"),
    pytest.param("here(1)(2)", ["here(1)", "here(1)(2)"], id="a call of a call's result"),
    pytest.param("a.here().here()", ["a.here()", "a.here().here()"], id="methods of methods"),
    pytest.param("here(\n    1,\n    2,\n)", ["here(\n    1,\n    2,\n)"], id="many lines"),
    pytest.param("[here(v) for v in (1, 2)]", ["here(v)", "here(v)"], id="comprehension"),
    pytest.param("(lambda v: here(v))(1)", ["here(v)"], id="lambda"),
    pytest.param("if 1:\n\tx = here(1)", ["here(1)"], id="tabs"),
    pytest.param("x = '🔥🔥', here('🔥')", ["here('🔥')"], id="emoji"),
    pytest.param("x = 'größe', here('ä')", ["here('ä')"], id="accents"),
    pytest.param("def f():\n    return here(1)\nf()", ["here(1)"], id="helper"),
    pytest.param("@here\ndef f(): pass", ["here"], id="decorator"),
    pytest.param("n = Number()\nn + 1", ["n + 1"], id="operator"),
    pytest.param("n = Number()\nn += 1", ["n += 1"], id="augmented assignment"),
    pytest.param("n = Number()\nn[1:2]", ["n[1:2]"], id="subscript"),
    pytest.param("f'{here(1)}'", ["here(1)"], id="f-string"),
]


class Probe:
    """Runs source text whose calls note where they come from."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "model.py")
        self.folder = folder

    def run(self, text: str) -> tuple[list[Any], SourceMap]:
        Path(self.path).write_text(text, encoding="utf-8", newline="")
        sources = SourceMap(str(self.folder), {self.path: text})
        places: list[Any] = []

        def here(*_: Any, **__: Any) -> Callable[..., Any]:
            places.append(sources.stack(sys._getframe(1)))
            return here

        class Number:
            def __add__(self, _: Any) -> Any:
                places.append(sources.stack(sys._getframe(1)))
                return self

            def __getitem__(self, _: Any) -> Any:
                places.append(sources.stack(sys._getframe(1)))
                return self

        here.here = here  # type: ignore[attr-defined]
        exec(compile(text, self.path, "exec"), {"here": here, "a": here, "Number": Number})
        return places, sources


@pytest.fixture
def probe(tmp_path: Path) -> Probe:
    return Probe(tmp_path)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="columns are exact from Python 3.11")
@pytest.mark.parametrize(("text", "expected"), EXPRESSIONS)
def test_a_frame_covers_exactly_the_expression_that_runs(probe: Probe, text: str, expected: list[str]) -> None:
    places, _ = probe.run(text)

    assert [excerpt(stack[0].location) for stack in places] == expected


def test_windows_line_ends_move_nothing(probe: Probe) -> None:
    places, _ = probe.run("x = 1\r\ny = here(x)\r\n")

    assert places[0][0].location.range == Range(Position(1, 4), Position(1, 11))


def test_columns_count_utf16_units(probe: Probe) -> None:
    places, _ = probe.run("x = '🔥', here(1)\n")

    # The flame is one character, four UTF-8 bytes and two UTF-16 units.
    assert places[0][0].location.range.start == Position(0, 10)


def test_the_same_place_is_the_same_object(probe: Probe) -> None:
    places, _ = probe.run("for _ in range(3):\n    here(1)\n")

    assert places[0] is places[1] is places[2]


def test_callers_follow_from_the_inside_out(probe: Probe) -> None:
    places, _ = probe.run("def inner(): here(1)\ndef outer(): inner()\nouter()\n")

    assert [excerpt(frame.location) for frame in places[0]][:3] == ["here(1)", "inner()", "outer()"]
    assert [frame.function for frame in places[0]][:3] == ["inner", "outer", "<module>"]


def test_an_exception_leads_to_the_expression_that_raised(probe: Probe) -> None:
    text = "def inner(v):\n    return 1 + 1 / v\ninner(0)\n"
    sources = SourceMap(str(probe.folder), {probe.path: text})
    Path(probe.path).write_text(text)
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile(text, probe.path, "exec"), {})

    frames = [frame for frame in sources.frames_of_traceback(caught.value.__traceback__) if frame.in_project]
    assert [excerpt(frame.location) for frame in frames] == ["1 / v", "inner(0)"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("model.py", True),
        ("package/model.py", True),
        (".venv/lib/python3.11/site-packages/thing/a.py", False),
        ("venv/a.py", False),
        ("env/lib/a.py", False),
        ("../elsewhere.py", False),
    ],
)
def test_the_project_is_what_the_user_wrote(tmp_path: Path, path: str, expected: bool) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "pyvenv.cfg").touch()

    assert SourceMap(str(tmp_path)).in_project(str(tmp_path / path)) is expected


def test_an_overlay_is_the_users_wherever_it_lies(tmp_path: Path) -> None:
    path = str(tmp_path / "elsewhere" / "model.py")

    assert SourceMap(str(tmp_path / "project"), {path: "x = 1"}).in_project(path)


def test_the_standard_library_is_left_out_of_stacks(probe: Probe) -> None:
    places, _ = probe.run("import functools\nfunctools.reduce(lambda a, b: here(b), [1, 2, 3])\n")

    assert all("functools.py" not in frame.location.path for frame in places[0])


def test_without_columns_the_whole_line_is_marked(tmp_path: Path) -> None:
    path = str(tmp_path / "model.py")
    sources = SourceMap(str(tmp_path), {path: "if x:\n    y = f(x)  \n"})

    assert sources.location(path, 2).range == Range(Position(1, 4), Position(1, 12))


def test_a_line_past_the_end_is_no_error(tmp_path: Path) -> None:
    sources = SourceMap(str(tmp_path), {str(tmp_path / "model.py"): "x = 1"})

    assert sources.location(str(tmp_path / "model.py"), 99).range.start == Position(98, 0)
    assert sources.location(str(tmp_path / "gone.py"), 3, 3, 4, 9).range == Range(Position(2, 4), Position(2, 9))


@pytest.mark.parametrize("text", ["a\x0cb\nc", "a\u2028b\nc", "\ufeffab\nc"])
def test_lines_end_only_where_python_ends_them(text: str) -> None:
    assert SourceText(text).lines[1] == "c"


def test_a_file_that_cannot_be_read_has_no_text(tmp_path: Path) -> None:
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00\x80")

    assert SourceText.read(str(tmp_path / "binary.py")) is None
    assert SourceText.read(str(tmp_path / "gone.py")) is None
