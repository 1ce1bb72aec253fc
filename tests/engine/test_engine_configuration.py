"""The configuration ladder: who wins, and what is said about a setting that cannot be used."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from inductor_debug.engine.settings.folders import artifact_folder
from inductor_debug.engine.settings.settings_ladder import ConfigurationError, Settings, SettingsResolver, Trigger
from inductor_debug_schema import Entry, Location, Position, Range, Severity, Stage, TargetSetting

PROFILE = 'name = "mine"\nextends = "mock"\n'


def resolve(folder: Path, toml: str = "", name: str = "model.py", **rungs: Any) -> Settings:
    if toml:
        (folder / "pyproject.toml").write_text(toml)
    return SettingsResolver(**{"environ": {}, **rungs})(str(folder / name))


def test_defaults(tmp_path: Path) -> None:
    settings = resolve(tmp_path, '[project]\nname = "p"\n')
    assert (settings.chosen_accelerator, settings.stages) == (None, (Stage.PREVIEW, Stage.MOCK))
    assert (settings.strict, settings.trigger, settings.severity) == (False, Trigger.ON_TYPE, {})
    assert settings.configuration_path is None


def test_the_nearest_rung_wins_key_by_key(tmp_path: Path) -> None:
    toml = (
        '[tool.inductor-debug]\naccelerator = "spyre"\nstrict = false\ntimeout = 5\nstages = ["mock"]\n'
        'exclude = ["generated"]\nmemory_limit = 1000\nseverity = { dtype = "hint", layout = "off" }\n'
    )
    settings = resolve(
        tmp_path,
        toml,
        environ={"MOCK_STRICT": "1"},
        editor={"timeout": 7, "stages": ["preview"], "memoryLimit": 2000, "trace.server": "off", "exclude": None},
        command_line={"stages": ["mock", "preview"], "severity": {"dtype": "error"}, "timeout": None},
    )
    assert settings.accelerator == "spyre"
    assert settings.strict is True
    assert settings.timeout == 7.0
    assert settings.stages == (Stage.PREVIEW, Stage.MOCK)
    assert settings.memory_limit == 2000
    assert settings.exclude == ("generated",)
    assert settings.severity == {"dtype": Severity.ERROR, "layout": None}
    assert settings.configuration_path == str(tmp_path / "pyproject.toml")


def test_the_environment_shapes_the_mock_accelerator_and_yields_to_the_editor(tmp_path: Path) -> None:
    environ = {"MOCK_STRICT": "1", "MOCK_ALIGNMENT": "8", "MOCK_MAX_MEMORY": "1000"}
    settings = resolve(tmp_path, environ=environ, editor={"strict": False})
    assert settings.strict is False
    assert settings.profile["alignment"] == {"elements": 8, "dimensions": "all"}
    assert settings.profile["memory"]["tensor_bytes"] == 1000


@pytest.mark.parametrize("variable", ["MOCK_STRICT", "MOCK_ALIGNMENT", "MOCK_MAX_MEMORY"])
def test_a_variable_of_mock_chooses_it_where_nobody_names_an_accelerator(tmp_path: Path, variable: str) -> None:
    assert resolve(tmp_path, environ={variable: "1"}).chosen_accelerator == "mock"
    toml = '[tool.inductor-debug]\naccelerator = "spyre"\n'
    assert resolve(tmp_path, toml, environ={variable: "1"}).chosen_accelerator == "spyre"
    assert resolve(tmp_path, toml, command_line={"accelerator": "none"}).chosen_accelerator is None


def test_the_nearest_pyproject_with_our_table_holds(tmp_path: Path) -> None:
    inner = tmp_path / "package"
    inner.mkdir()
    (inner / "pyproject.toml").write_text('[project]\nname = "inner"\n')
    settings = resolve(tmp_path, "[tool.inductor-debug]\ntimeout = 5\n", "package/model.py")
    assert settings.timeout == 5.0
    assert settings.project_root == str(inner)


def test_a_set_up_file_inside_of_a_package_builds_an_extension_and_makes_no_project(tmp_path: Path) -> None:
    inner, tools = tmp_path / "models" / "ops", tmp_path / "tools"
    for folder in (inner, tools):
        folder.mkdir(parents=True)
        (folder / "setup.py").touch()
    (tmp_path / "models" / "__init__.py").touch()
    (tmp_path / ".git").mkdir()
    assert resolve(tmp_path, "", "models/ops/attention.py").project_root == str(tmp_path)
    assert resolve(tmp_path, "", "tools/model.py").project_root == str(tools)


def test_a_given_configuration_file_replaces_the_nearest(tmp_path: Path) -> None:
    other = tmp_path / "ci.toml"
    other.write_text("[tool.inductor-debug]\ntimeout = 9\n")
    settings = resolve(tmp_path, "[tool.inductor-debug]\ntimeout = 5\n", command_line={"config": str(other)})
    assert settings.timeout == 9.0


def test_profiles_by_path_are_relative_to_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / "mine.toml").write_text(PROFILE)
    toml = '[tool.inductor-debug]\naccelerator = "devices/mine.toml"\n'
    settings = resolve(tmp_path, toml, "package/model.py")
    assert settings.profile["name"] == "mine"
    assert settings.accelerator == str(tmp_path / "devices" / "mine.toml")


def test_targets_are_those_of_the_file(tmp_path: Path) -> None:
    toml = (
        '[tool.inductor-debug.targets."package/model.py::Model"]\ninit = "64"\ninputs = "(1,)"\n'
        '[tool.inductor-debug.targets."other.py::Model"]\ninputs = "(2,)"\n'
    )

    def place(line: int, length: int) -> Location:
        return Location(str(tmp_path / "pyproject.toml"), Range(Position(line, 0), Position(line, length)))

    assert resolve(tmp_path, toml, "package/model.py").targets == (TargetSetting("Model", "64", "(1,)", place(0, 55)),)
    assert resolve(tmp_path, toml, "other.py").targets == (TargetSetting("Model", None, "(2,)", place(3, 47)),)
    assert resolve(tmp_path, toml, "model.py").targets == ()


def test_entries_are_those_of_the_file_and_the_command_line_comes_first(tmp_path: Path) -> None:
    toml = '[tool.inductor-debug]\nentry = ["package/model.py::build(Cfg())", "other.py::Net(3)"]\n'
    place = Location(str(tmp_path / "pyproject.toml"), Range(Position(1, 0), Position(1, 62)))
    assert resolve(tmp_path, toml, "package/model.py").entry == (Entry("build(Cfg())", place),)
    assert resolve(tmp_path, toml, "model.py").entry == ()
    said = {"entry": [f"{tmp_path / 'package' / 'model.py'}::Net(1)"]}
    both = resolve(tmp_path, toml, "package/model.py", command_line=said).entry
    assert [entry.expression for entry in both] == ["Net(1)", "build(Cfg())"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [("build()", 'must be "file.py::EXPRESSION"'), ("m.py::build(", "'build(' is not a Python expression")],
)
def test_an_entry_that_cannot_be_read_is_told_with_its_line(tmp_path: Path, entry: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(words)) as caught:
        resolve(tmp_path, f'[tool.inductor-debug]\nentry = ["{entry}"]\n')
    assert caught.value.line == 1


def test_a_target_of_no_file_is_told_where_it_stands_with_what_was_meant(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("")
    toml = (
        '[tool.inductor-debug.targets."modle.py::Net"]\ninputs = "(1,)"\n'
        '[tool.inductor-debug.targets."gone/away.py::Net"]\ninputs = "(2,)"\n'
        '[tool.inductor-debug.targets."model.py::Net"]\ninputs = "(3,)"\n'
    )
    found = resolve(tmp_path, toml).complaints
    assert [(item.path, item.range.start.line, item.message) for item in found] == [
        (
            str(tmp_path / "pyproject.toml"),
            0,
            "Net is not analysed, because there is no file 'modle.py'; did you mean 'model.py'?",
        ),
        (str(tmp_path / "pyproject.toml"), 2, "Net is not analysed, because there is no file 'gone/away.py'."),
    ]


ROOTS = [
    pytest.param([], "a/b", id="the file's folder"),
    pytest.param(["a/setup.py"], "a", id="setup.py"),
    pytest.param(["pyproject.toml", "a/b/.git/"], "a/b", id="nearest mark"),
]


@pytest.mark.parametrize(("marks", "root"), ROOTS)
def test_the_project_root_is_found(tmp_path: Path, marks: list[str], root: str) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for mark in marks:
        path = tmp_path / mark
        path.mkdir() if mark.endswith("/") else path.touch()
    assert resolve(tmp_path, name="a/b/model.py").project_root == str(tmp_path / root)
    folders = [str(tmp_path), str(tmp_path / "a")]
    assert resolve(tmp_path, name="a/b/model.py", workspace_folders=folders).project_root == str(tmp_path / "a")


BROKEN = [
    pytest.param("[tool.inductor-debug\n", None, 0, "is not TOML", id="no TOML"),
    pytest.param("x = 1\ny = \n", None, 1, "is not TOML", id="no TOML further down"),
    pytest.param("[tool.inductor-debug]\n\nstrcit = true\n", "strcit", 2, "did you mean 'strict'", id="unknown key"),
    pytest.param(
        '[tool.inductor-debug]\nstrict = "yes"\n', "strict", 1, "must be true or false, not a string", id="type"
    ),
    pytest.param('[tool.inductor-debug]\nstages = ["mok"]\n', "stages", 1, "did you mean 'mock'", id="unknown stage"),
    pytest.param('[tool.inductor-debug]\nstages = "mock"\n', "stages", 1, "must be a list of strings", id="no list"),
    pytest.param("[tool.inductor-debug]\nstages = []\n", "stages", 1, "at least one", id="no stage"),
    pytest.param("[tool.inductor-debug]\ntimeout = -1\n", "timeout", 1, "above 0", id="negative"),
    pytest.param("[tool.inductor-debug]\ntimeout = true\n", "timeout", 1, "number of seconds", id="flag for number"),
    pytest.param("[tool.inductor-debug]\nmemory_limit = 0.5\n", "memory_limit", 1, "number of bytes", id="half a byte"),
    pytest.param(
        '[tool.inductor-debug]\naccelerator = "spire"\n', "accelerator", 1, "did you mean 'spyre'", id="accelerator"
    ),
    pytest.param('[tool.inductor-debug]\naccelerator = "no.toml"\n', "accelerator", 1, "no such file", id="no profile"),
    pytest.param(
        '[tool.inductor-debug.severity]\ndtpye = "error"\n', "severity.dtpye", 1, "did you mean 'dtype'", id="rule"
    ),
    pytest.param(
        '[tool.inductor-debug]\nseverity = { dtype = "fatal" }\n', "severity.dtype", 1, "unknown severity", id="level"
    ),
    pytest.param(
        '[tool.inductor-debug.targets."m.py::A"]\ninput = "1"\n',
        "targets.m.py::A.input",
        1,
        "did you mean 'inputs'",
        id="target",
    ),
    pytest.param('[tool.inductor-debug.targets."m.py"]\n', "targets.m.py", 0, "file.py::Name", id="target's name"),
    pytest.param("[tool]\ninductor-debug = 3\n", "", None, "must be a table", id="no table"),
]


@pytest.mark.parametrize(("toml", "key", "line", "words"), BROKEN)
def test_a_broken_pyproject_names_file_key_and_line(
    tmp_path: Path, toml: str, key: str | None, line: int | None, words: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve(tmp_path, toml)
    error = caught.value
    assert words in str(error)
    assert error.path == str(tmp_path / "pyproject.toml")
    assert error.line == line
    assert error.key == (key and f"tool.inductor-debug.{key}" if key != "" else "tool.inductor-debug")
    if line is not None:
        assert str(error).startswith(f"{error.path}:{line + 1}:")


def test_a_broken_profile_is_blamed_itself(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(PROFILE + "\n[rank]\nmaximun = 3\n")
    with pytest.raises(ConfigurationError) as caught:
        resolve(tmp_path, '[tool.inductor-debug]\naccelerator = "mine.toml"\n')
    error = caught.value
    assert (error.path, error.key, error.line) == (str(tmp_path / "mine.toml"), "rank.maximun", 4)


NAMED = [
    pytest.param({"command_line": {"accelerator": "RTX 4090"}}, id="command line"),
    pytest.param({"editor": {"accelerator": "NVIDIA GeForce RTX 4090"}}, id="editor"),
    pytest.param({"toml": '[tool.inductor-debug]\naccelerator = "rtx4090"\n'}, id="pyproject.toml"),
]


@pytest.mark.parametrize("rungs", NAMED)
def test_a_card_is_named_as_people_name_it_on_every_rung(tmp_path: Path, rungs: dict[str, Any]) -> None:
    settings = resolve(tmp_path, rungs.pop("toml", ""), **rungs)
    assert (settings.accelerator, settings.profile["name"]) == ("rtx-4090", "rtx-4090")


def test_a_name_that_several_cards_have_is_blamed_where_it_stands(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve(tmp_path, '[tool.inductor-debug]\naccelerator = "A100"\n')
    assert "'A100' may be a100-40gb or a100-80gb" in str(caught.value)
    assert (caught.value.path, caught.value.line) == (str(tmp_path / "pyproject.toml"), 1)


ELSEWHERE = [
    pytest.param({"environ": {"MOCK_STRICT": "yes"}}, "environment: MOCK_STRICT: must be 1 or 0", id="flag"),
    pytest.param({"environ": {"MOCK_ALIGNMENT": "x"}}, "environment: MOCK_ALIGNMENT:", id="number"),
    pytest.param({"editor": {"trigger": "onIdle"}}, "editor settings: trigger: unknown trigger", id="trigger"),
    pytest.param({"command_line": {"accelerator": "mok"}}, "command line: accelerator: unknown accelerator", id="name"),
    pytest.param({"command_line": {"config": "/nowhere.toml"}}, "/nowhere.toml: cannot be read", id="file"),
]


@pytest.mark.parametrize(("rungs", "words"), ELSEWHERE)
def test_other_rungs_are_blamed_by_name(tmp_path: Path, rungs: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve(tmp_path, **rungs)
    assert str(caught.value).startswith(words)


EXCLUDED = [
    ("generated", "generated/model.py", True),
    ("generated", "src/generated/model.py", True),
    ("src/generated", "src/generated/model.py", True),
    ("src/generated/", "src/generated/deep/model.py", True),
    ("src/generated", "other/generated/model.py", False),
    ("*_pb2.py", "src/model_pb2.py", True),
    ("tests/*.py", "tests/model.py", True),
    ("model", "model.py", False),
]


@pytest.mark.parametrize(("pattern", "path", "excluded"), EXCLUDED)
def test_exclude_patterns(pattern: str, path: str, excluded: bool) -> None:
    assert Settings("/project", exclude=(pattern,)).excludes(f"/project/{path}") is excluded


def test_what_a_worker_does_not_see_does_not_change_the_digest() -> None:
    one = Settings("/p", profile={"name": "mock"})
    assert one.run_digest() == Settings("/p", profile={"name": "mock"}, strict=True, timeout=1.0).run_digest()
    assert one.run_digest() != Settings("/p", profile={"name": "spyre"}).run_digest()
    assert one.run_digest() != Settings("/p", profile={"name": "mock"}, stages=(Stage.MOCK,)).run_digest()


@pytest.mark.parametrize(
    ("said", "folder"),
    [
        ({}, "cache/artifacts/project-"),
        ({"editor": {"artifacts": "project"}}, "project/debug_artifacts"),
        ({"editor": {"artifacts": "graphs"}}, "project/graphs"),
        ({"toml": '[tool.inductor-debug]\nartifacts = "../kept"\n'}, "kept"),
        ({"command_line": {"artifacts": "off"}, "editor": {"artifacts": "project"}}, None),
    ],
)
def test_artifacts_go_where_the_nearest_rung_says(tmp_path: Path, said: dict[str, Any], folder: str | None) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / ".git").mkdir()
    found = artifact_folder(resolve(project, **said), tmp_path / "cache")
    assert (folder is None) == (found is None)
    assert found is None or str(found).startswith(str(tmp_path / str(folder)))


def test_projects_of_one_name_share_no_artifacts(tmp_path: Path) -> None:
    folders = set()
    for parent in ("a", "b"):
        (tmp_path / parent / "project" / ".git").mkdir(parents=True)
        folders.add(artifact_folder(resolve(tmp_path / parent / "project"), tmp_path))
    assert len(folders) == 2
