"""Files that nobody vouches for: whatever stands in them, they are named or read, and nothing outside is touched."""

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from compiler_samples import (
    SPYRE_WRAPPER,
    compile_entries,
    folder_files,
    sidecar,
    super_dsc,
    write_debug_folder,
    write_model,
    write_trace,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from inductor_debug.artifacts.graph_columns import decode, encode
from inductor_debug.compiler_output.files import confined_files
from inductor_debug.compiler_output.files.confined_files import FileFaultError, read_json
from inductor_debug.compiler_output.files.node_mappings import read_mappings
from inductor_debug.compiler_output.files.spyre_sidecar import read_sidecar
from inductor_debug.compiler_output.files.super_dsc import read_super_dsc
from inductor_debug.compiler_output.importing import NothingFoundError, read_artifacts
from reading import read

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A model, and one file of each kind by its path in a folder."""
    root = tmp_path_factory.mktemp("hostile")
    model = write_model(root / "project")
    files = {f"model__0_inference_0.0/{name}": text for name, text in folder_files(model).items()}
    files["model__1_inference_1.1/output_code.py"] = SPYRE_WRAPPER.replace("{path}", str(model))
    files["model__1_inference_1.1/sdsc_0.json"] = json.dumps(super_dsc("add", {"mb": 1}, {}))
    files["spyre_provenance.json"] = json.dumps(sidecar(model))
    files["dedicated_log_torch_trace_x.log"] = compile_entries(model)
    return root, files


@settings(max_examples=60)
@given(st.data())
def test_damaged_files_are_read_or_named(everything: tuple[Path, dict[str, str]], data: st.DataObject) -> None:
    root, files = everything
    folder = root / "damaged"
    name = data.draw(st.sampled_from(sorted(files)))
    text = files[name]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 200)) | st.just(len(text)))
    damaged = {**files, name: text[:start] + data.draw(st.text(max_size=20)) + text[end:]}
    for path, content in damaged.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content.encode("utf-8", "surrogatepass"))
    found = read_artifacts(str(folder), [str(root / "project")])
    assert found.documents
    for document in found.documents:
        assert decode(encode(document)).target == document.target


@pytest.mark.parametrize("reader", [read_sidecar, read_super_dsc, read_mappings])
@given(said=_JSON)
def test_any_json_is_read_or_refused(reader: Callable[[Any], Any], said: Any) -> None:
    with contextlib.suppress(FileFaultError):
        reader(said)


@given(st.data())
def test_a_sidecar_with_any_part_replaced_is_read_or_refused(data: st.DataObject) -> None:
    said = sidecar(Path("/nowhere/model.py"))
    at: Any = said
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at))) if isinstance(at, list) else []
        key = data.draw(st.sampled_from(keys))
        if not isinstance(at[key], (dict, list)) or not at[key] or data.draw(st.booleans()):
            at[key] = data.draw(_JSON)
            break
        at = at[key]
    with contextlib.suppress(FileFaultError):
        read_sidecar(said)


def test_handles_that_are_made_of_each_other_end(tmp_path: Path) -> None:
    model = write_model(tmp_path / "project")
    said = sidecar(model)
    said["handles"]["1"]["fused_from"] = ["3"]
    (tmp_path / "spyre_provenance.json").write_text(json.dumps(said))
    assert read(tmp_path / "spyre_provenance.json").documents


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 70 + "]" * 70, "1" * 10_000, '{"a": ' * 5_000])
def test_json_of_any_depth_is_refused(text: str) -> None:
    with pytest.raises(FileFaultError):
        read_json(text)


def test_python_of_any_depth_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    folder = write_debug_folder(tmp_path, write_model(tmp_path / "project"))
    (folder / "fx_graph_transformed.py").write_text("x = " + "(" * 5_000 + ")" * 5_000)
    (folder / "output_code.py").write_text(f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n")
    (folder / "fx_graph_readable.py").write_text("x = " + "-" * 50_000 + "1")
    found = read(tmp_path / "torch_compile_debug")
    assert {Path(fault.path).name for fault in found.unread} == {
        "fx_graph_transformed.py",
        "output_code.py",
        "fx_graph_readable.py",
    }
    assert not (tmp_path / "ran").exists()


def test_texts_that_patterns_would_take_forever_for_are_read(tmp_path: Path) -> None:
    """Lines that fit nearly and anywhere, and blank lines without end."""
    folder = write_debug_folder(tmp_path, write_model(tmp_path / "project"))
    graph = (folder / "fx_graph_transformed.py").read_text()
    (folder / "fx_graph_transformed.py").write_text("#  File: " + "a:1 in b, code " * 20_000 + "\n" + graph)
    (folder / "fx_graph_readable.py").write_text(" \n" * 200_000 + graph)
    (folder / "ir_pre_fusion.txt").write_text((folder / "ir_post_fusion.txt").read_text() + " \n" * 200_000)
    wrapper = (folder / "output_code.py").read_text()
    (folder / "output_code.py").write_text(wrapper + "# \n" * 50_000 + "aten.a();" * 2_000)
    assert read(tmp_path / "torch_compile_debug").unread == []


def test_links_and_devices_are_not_followed(tmp_path: Path) -> None:
    folder = write_debug_folder(tmp_path, write_model(tmp_path / "project"))
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps(super_dsc("secret", {"mb": 1}, {})))
    (folder / "sdsc_0.json").symlink_to(secret)
    (folder / "loop").symlink_to(tmp_path)
    os.mkfifo(folder / "sdsc_1.json")
    found = read(tmp_path / "torch_compile_debug")
    whys = {Path(fault.path).name: fault.why for fault in found.unread}
    assert "links are not followed" in whys["sdsc_0.json"]
    assert "links are not followed" in whys["loop"]
    assert whys["sdsc_1.json"] == "it is no regular file"
    assert all(document.specs is None for document in found.documents)


def test_sources_that_are_devices_or_no_python_are_not_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), Path("/etc/passwd")):
        write_debug_folder(tmp_path / f"of {path.name}", path)
        (document,) = read(tmp_path / f"of {path.name}").documents
        assert document.notes == [f"{path} is not here, so nothing that comes from it has a place."]


def test_what_is_too_large_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_debug_folder(tmp_path, write_model(tmp_path / "project"))
    (folder / "ir_pre_fusion.txt").write_text("x" * 200_000)
    write_trace(tmp_path / "torch_compile_debug", "x" * 300_000)
    monkeypatch.setattr(confined_files, "MOST_BYTES", 100_000)
    monkeypatch.setattr(confined_files, "MOST_LOG_BYTES", 100_000)
    found = read(tmp_path / "torch_compile_debug")
    assert {Path(fault.path).name for fault in found.unread} == {
        "ir_pre_fusion.txt",
        "dedicated_log_torch_trace_abc.log",
    }
    assert all("more than the" in fault.why for fault in found.unread)


def test_folders_that_are_too_deep_or_too_full_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_debug_folder(tmp_path, write_model(tmp_path / "project"))
    deep = tmp_path.joinpath(*map(str, range(20)))
    deep.mkdir(parents=True)
    assert any("folders deep" in fault.why for fault in read(tmp_path).unread)
    monkeypatch.setattr(confined_files, "MOST_FILES", 3)
    assert any("more than 3 files" in fault.why for fault in read(tmp_path).unread)


@pytest.mark.parametrize(
    ("made", "words"),
    [("empty", "is empty"), ("foreign", "nothing that a compiler has written"), ("gone", "no such file")],
)
def test_folders_without_anything_of_a_compiler_are_told_so(tmp_path: Path, made: str, words: str) -> None:
    folder = tmp_path / "folder"
    if made != "gone":
        folder.mkdir()
    if made == "foreign":
        (folder / "photo.json").write_text('{"iso": 100}')
    with pytest.raises(NothingFoundError, match=words):
        read(folder)
