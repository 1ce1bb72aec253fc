"""`graph --artifacts DIR`: what a compiler has written, in every format, and what of it was not understood."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Command
from compiler_samples import FUSED, compile_entries, write_debug_folder, write_model, write_trace

Write = Callable[[str, str], Path]


@pytest.fixture
def model(write: Write) -> Path:
    return write_model(write("README", "").parent)


def test_a_folder_is_shown_under_the_lines_it_comes_from(command: Command, model: Path) -> None:
    write_debug_folder(model.parent, model)
    ran = command("graph", "--artifacts", "torch_compile_debug")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "model.py::model__0, stage kernels"
    assert any(
        line.startswith("    %addmm: float32[8, 10] = aten.addmm.default") and "in extern_kernels.addmm" in line
        for line in lines
    )
    assert "  model.py:12  return hidden.softmax(-1)" in lines
    assert any(FUSED in line and "%relu, %add" in line for line in lines)


def test_json_names_what_was_not_understood(command: Command, model: Path) -> None:
    folder = write_debug_folder(model.parent, model)
    (folder / "ir_pre_fusion.txt").write_text("?")
    ran = command("graph", "--artifacts", "torch_compile_debug", "--format", "json")
    document = json.loads(ran.out)
    assert (ran.code, document["stage"]) == (0, "inductor")
    assert any("ir_pre_fusion.txt: there is no scheduler node in it" in note for note in document["notes"])
    assert [kernel["nodes"] for kernel in document["kernels"] if kernel["name"] == FUSED] == [
        ["relu", "add", "amax", "sub", "exp", "sum_1", "div"]
    ]
    told = command("graph", "--artifacts", "torch_compile_debug")
    assert "ir_pre_fusion.txt: there is no scheduler node in it" in told.err


@pytest.mark.parametrize("form", ["dot", "svg", "html"])
def test_every_format_shows_it(command: Command, model: Path, form: str) -> None:
    write_trace(model.parent / "trace", compile_entries(model))
    ran = command("graph", "--artifacts", "trace", "--format", form)
    assert (ran.code, ran.err) == (0, "")
    assert "addmm" in ran.out or form == "html"


def test_one_of_several_compiles_is_chosen_by_its_name(command: Command, model: Path) -> None:
    entries = [compile_entries(model, frame_id=0, frame_compile_id=again, attempt=0) for again in (0, 1)]
    write_trace(model.parent / "trace", "".join(entries))
    many = command("graph", "--artifacts", "trace", "--format", "json")
    assert many.code == 2
    assert "name one of trace::0/0, trace::0/1" in many.err
    assert json.loads(command("graph", "--artifacts", "trace::0/1", "--format", "json").out)["target"] == "0/1"
    wrong = command("graph", "--artifacts", "trace::7/7")
    assert (wrong.code, wrong.out) == (2, "")
    assert "there is no compile '7/7'; there are 0/0, 0/1" in wrong.err


def test_nothing_to_read_is_exit_code_2(command: Command, model: Path) -> None:
    (model.parent / "empty").mkdir()
    for words, said in (
        (("--artifacts", "empty"), "empty is empty"),
        (("--artifacts", "gone"), "gone: no such file or directory"),
        ((), "name a Python file, or with --artifacts what a compiler has written"),
        (("--artifacts", "empty", "--stage", "aot"), "--stage"),
    ):
        ran = command("graph", *words)
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err
