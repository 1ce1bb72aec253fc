"""Profiles: what comes with the tool, what a user may write, and what an error says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inductor_debug.accelerators.capabilities import Dimensions, Profile, Speed, StoredAs
from inductor_debug.accelerators.profile import (
    ProfileError,
    built_in_names,
    load_document,
    read_profile,
    with_environment,
)
from inductor_debug.report.text.profile_page import profile_page
from inductor_debug_schema import Severity, from_wire, to_wire


def test_mock() -> None:
    profile = read_profile(load_document("mock"))
    assert profile.dtypes == {"float32", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool"}
    assert (profile.tensor_bytes, profile.alignment, profile.max_rank) == (16 << 30, None, None)
    assert profile.layout is not None


def test_spyre() -> None:
    profile = read_profile(load_document("spyre"))
    assert profile.dtypes == {"float16", "bfloat16", "float32", "bool", "int32", "float8_e4m3fn"}
    assert profile.supports("int64")
    assert not profile.supports("float64")
    assert profile.device_bytes("bool", 1) == 2
    assert (profile.stored_as["int64"].dtype, profile.stored_as["int64"].severity) == ("int32", Severity.INFORMATION)
    assert profile.alignment is None
    assert (profile.cores, profile.span_bytes) == (32, 256 * (1 << 20))
    assert profile.read_in["torch"] == "2.13"
    assert profile.backends["spyre"].back_end == profile.backends["sendnn"].back_end
    assert profile.stick_bytes == 128


@pytest.mark.parametrize("name", built_in_names())
def test_a_document_survives_the_wire(name: str) -> None:
    document = load_document(name)
    assert read_profile(from_wire(dict, to_wire(document))) == read_profile(document)


def write(folder: Path, text: str, name: str = "device.toml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def read(folder: Path, text: str) -> Any:
    return read_profile(load_document(write(folder, text)))


def test_a_profile_of_ones_own_extends_another(tmp_path: Path) -> None:
    profile = read(
        tmp_path,
        """
        extends = "mock"
        name = "mine"
        allow = ["aten.prelu", "aten._prelu_kernel"]
        [dtypes]
        supported = ["float32"]
        [alignment]
        elements = 8
        [[operators]]
        match = "aten.topk"
        """,
    )
    assert (profile.name, profile.dtypes, profile.tensor_bytes) == ("mine", {"float32"}, 16 << 30)
    assert profile.alignment.amount == 8
    assert profile.limits_on("aten.topk.default")
    assert profile.limits_on("aten.kthvalue.default")
    assert not profile.limits_on("aten.prelu.default")


def test_bytes_replace_elements_in_a_refinement(tmp_path: Path) -> None:
    write(tmp_path, 'name = "a"\n[alignment]\nbytes = 128\ndimensions = "last"\n', "parent.toml")
    profile = read(tmp_path, 'name = "b"\nextends = "parent.toml"\n[alignment]\nelements = 8\n')
    assert (profile.alignment.amount, profile.alignment.in_bytes) == (8, False)
    assert profile.alignment.dimensions is Dimensions.LAST


@pytest.mark.parametrize(
    ("text", "size"), [("16 GiB", 16 << 30), ("1.5 MiB", 3 << 19), ("100", 100), ("2 GB", 2 * 10**9), ("8 b", 8)]
)
def test_sizes_are_written_as_people_write_them(tmp_path: Path, text: str, size: int) -> None:
    assert read(tmp_path, f'name = "a"\n[memory]\ntensor_bytes = "{text}"\n').tensor_bytes == size


@pytest.mark.parametrize(
    ("text", "key", "line", "says"),
    [
        ("title = 'x'\n", "name", None, "is missing"),
        ("name = 'a'\ndtype = 1\n", "dtype", 2, "did you mean 'dtypes'?"),
        ("name = 3\n", "name", 1, "must be a string, not an integer"),
        ("name = 'a'\n[dtypes]\nsupported = ['float32', 'fp16']\n", "dtypes.supported", 3, "did you mean 'float16'?"),
        ("name = 'a'\n[dtypes]\nsupported = ['flaot32']\n", "dtypes.supported", 3, "did you mean 'float32'?"),
        ("name = 'a'\n[dtypes]\nsupported = [1]\n", "dtypes.supported", 3, "not an integer"),
        ("name = 'a'\n[dtypes]\nsuported = []\n", "dtypes.suported", 3, "did you mean 'supported'?"),
        ("name = 'a'\n[dtypes.stored_as.int64]\ndtype = 'i32'\n", "dtypes.stored_as.int64.dtype", 3, "'int32'"),
        ("name = 'a'\n[alignment]\nelements = 0\n", "alignment.elements", 3, "must be at least 1"),
        ("name = 'a'\n[alignment]\nelements = true\n", "alignment.elements", 3, "must be an integer, not a boolean"),
        ("name = 'a'\n[alignment]\nelements = 1\nbytes = 2\n", "alignment.bytes", 4, "not both"),
        ("name = 'a'\n[alignment]\nbytes=8\ndimensions='lst'\n", "alignment.dimensions", 4, "did you mean 'last'?"),
        ("name = 'a'\n[memory]\ntensor_bytes = 'lots'\n", "memory.tensor_bytes", 3, "16 GiB"),
        ("name = 'a'\nmemory = 5\n", "memory", 2, "must be a table, not an integer"),
        ("name = 'a'\n[[operators]]\nreason = 'x'\n", "operators[0].match", 2, "is missing"),
        (
            "name = 'a'\n[[operators]]\nmatch = 'aten.a'\n\n[[operators]]\nmatch = [\n 'aten.b',\n]\ndtype = 'x'\n",
            "operators[1].dtype",
            9,
            "did you mean 'dtypes'?",
        ),
        ("name = 'a'\n[[operators]]\nmatch = 'prelu'\n", "operators[0].match", 3, "did you mean 'aten.prelu'?"),
        ("name = 'a'\nrank = { maximum = 'x' }\n", "rank.maximum", 2, "must be an integer, not a string"),
        ("schema = 2\nname = 'a'\n", "schema", 1, "another version"),
    ],
)
def test_an_error_names_the_file_the_key_and_the_line(
    tmp_path: Path, text: str, key: str, line: int | None, says: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ProfileError) as caught:
        read_profile(load_document(path))
    error = caught.value
    assert (error.path, error.key, error.line) == (path, key, None if line is None else line - 1)
    assert says in error.message
    assert str(error).startswith(f"{path}:{line}: {key}" if line else f"{path}: {key}")


def test_an_unknown_accelerator_lists_the_known_ones() -> None:
    with pytest.raises(ProfileError, match=r"did you mean 'spyre'\?.*mock, .*spyre"):
        load_document("spire")


@pytest.mark.parametrize(
    ("text", "says"), [("name = ", "is not TOML"), ("name = 'a'\nsource = 1\n", "unknown key 'source'")]
)
def test_a_file_that_is_no_profile(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ProfileError, match=says):
        load_document(write(tmp_path, text))


def test_a_missing_file_a_folder_and_a_circle(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="no such file"):
        load_document(str(tmp_path / "nowhere.toml"))
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    with pytest.raises(ProfileError, match="cannot be read"):
        load_document(str(folder))
    write(tmp_path, 'name = "a"\nextends = "b.toml"\n', "a.toml")
    write(tmp_path, 'name = "b"\nextends = "a.toml"\n', "b.toml")
    with pytest.raises(ProfileError, match="extends itself"):
        load_document(str(tmp_path / "a.toml"))


def test_an_unknown_parent_is_told_at_the_line_that_names_it(tmp_path: Path) -> None:
    path = write(tmp_path, 'name = "a"\nextends = "mok"\n')
    with pytest.raises(ProfileError) as caught:
        load_document(path)
    assert (caught.value.path, caught.value.key, caught.value.line) == (path, "extends", 1)


def test_the_environment_changes_the_mock_accelerator_and_its_refinements(tmp_path: Path) -> None:
    environ = {"MOCK_ALIGNMENT": "16", "MOCK_MAX_MEMORY": "1000"}
    mine = load_document(write(tmp_path, 'name = "mine"\nextends = "mock"\n'))
    for document in (load_document("mock"), mine):
        profile = read_profile(with_environment(document, environ))
        assert profile.alignment is not None
        assert (profile.alignment.amount, profile.alignment.dimensions) == (16, Dimensions.ALL)
        assert (profile.alignment.in_bytes, profile.tensor_bytes) == (False, 1000)
    assert with_environment(load_document("spyre"), environ) == load_document("spyre")
    assert read_profile(with_environment(mine, {"MOCK_ALIGNMENT": "0"})).alignment is None
    assert with_environment(mine, {}) == mine


@pytest.mark.parametrize(
    ("name", "value"), [("MOCK_ALIGNMENT", "eight"), ("MOCK_MAX_MEMORY", "-1"), ("MOCK_MAX_MEMORY", "0")]
)
def test_a_variable_that_is_no_number_is_named(name: str, value: str) -> None:
    with pytest.raises(ProfileError, match=f"{name}: .*integer"):
        with_environment(load_document("mock"), {name: value})


def test_speed_is_bandwidth_and_rates_by_dtype() -> None:
    said = {"bytes_per_second": "1.5 TB", "operations_per_second": {"float16": 3.12e14, "int8": 624}}
    speed = read_profile({"schema": 1, "name": "fast", "speed": said}).speed
    assert speed is not None
    assert speed.bytes_per_second == 1_500_000_000_000
    assert speed.operations_per_second == {"float16": 3.12e14, "int8": 624.0}
    page = profile_page(Profile("fast", stored_as={"int64": StoredAs("int32")}, speed=Speed(1.5e12, {"int8": 6e2})))
    assert "- int64 is stored as int32\n" in page
    assert "## At best\n\n- memory: 1.5 TB/s\n- int8: 600 FLOP/s" in page
    assert read_profile({"schema": 1, "name": "silent"}).speed is None


@pytest.mark.parametrize(
    ("speed", "message"),
    [
        ({"bytes_per_second": "fast"}, "must be bytes or a size"),
        ({"operations_per_second": {"float16": 0}}, "must be above 0"),
        ({"operations_per_second": {"float16": "3e14"}}, "must be a number"),
        ({"operations_per_second": {"fp16": 1}}, "did you mean 'float16'"),
        ({"bandwith": 1}, "unknown key"),
    ],
)
def test_speeds_that_are_none_are_refused(speed: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read_profile({"schema": 1, "name": "fast", "speed": speed})
