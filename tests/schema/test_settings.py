"""The one table of settings: whoever reads a setting knows all of them, and what was said arrives."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from inductor_debug.engine.settings.setting_values import READERS
from inductor_debug.engine.settings.settings_ladder import Settings, SettingsResolver
from inductor_debug.server.state.client_configuration import Configuration, section_of
from inductor_debug.server.state.notices import Notices
from inductor_debug_schema.settings import SETTINGS, Setting, SettingKind, names, values_of

ROOT = Path(__file__).resolve().parents[2]
UNUSUAL: dict[str, Any] = {
    "interpreter": "/opt/other/python",
    "trigger": "manual",
    "accelerator": "spyre",
    "stages": ["aot"],
    "strict": True,
    "severity": {"layout": "hint"},
    "exclude": ["left_out"],
    "include": ["kept"],
    "allow": ["network"],
    "timeout": 7,
    "memory_limit": 1 << 30,
    "infer": False,
    "require_targets": True,
    "artifacts": "off",
    "entry": ["model.py::build()"],
    "follow_main": True,
    "argv": ["--width", "3"],
}
"""For every setting a value that is not its default."""
EDITORS = [setting for setting in SETTINGS if setting.scope and setting.daemon]
PLAIN = [setting for setting in EDITORS if setting.kind is not SettingKind.SWITCH]


def test_every_setting_of_the_daemon_has_a_reader_and_no_reader_is_left_over() -> None:
    assert set(names()) == set(READERS)


def test_every_setting_but_targets_is_tried_below() -> None:
    assert set(names()) - {"targets"} == set(UNUSUAL)


@pytest.mark.parametrize("setting", PLAIN, ids=lambda setting: setting.name)
def test_what_an_editor_says_decides_how_a_file_is_analysed(setting: Setting, tmp_path: Path) -> None:
    configuration = Configuration(Notices(lambda *_: None), environ={})
    configuration.push({"inductorDebug": {setting.editor_name: UNUSUAL[setting.name]}})
    said = configuration.settings_for(str(tmp_path / "model.py"))
    plain = SettingsResolver(environ={})(str(tmp_path / "model.py"))
    changed = {
        field.name for field in dataclasses.fields(Settings) if getattr(said, field.name) != getattr(plain, field.name)
    }
    assert changed - {"profile"} == {setting.name}


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.kind is SettingKind.SWITCH], ids=lambda s: s.name)
def test_a_switch_hides_in_either_way_of_writing_it(setting: Setting) -> None:
    for said in (False, {"enabled": False}):
        configuration = Configuration(Notices(lambda *_: None), environ={})
        configuration.push({setting.editor_name: said})
        assert not configuration.shows(setting.editor_name, "/project/model.py")


def test_the_editors_own_settings_are_left_out() -> None:
    assert section_of({"importStrategy": "useBundled", "showNotifications": "off", "strict": True}) == {"strict": True}


@pytest.mark.parametrize("name", [name for name in names(project=True) if name != "targets"])
def test_what_pyproject_says_decides_how_a_file_is_analysed(name: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.inductor-debug]\n{name} = {_toml(UNUSUAL[name])}\n")
    said = SettingsResolver(environ={})(str(tmp_path / "model.py"))
    (tmp_path / "pyproject.toml").unlink()
    assert getattr(said, name) != getattr(SettingsResolver(environ={})(str(tmp_path / "model.py")), name)


def test_the_readmes_table_of_pyproject_can_be_read(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = text.split("<!-- settings of pyproject.toml -->")[1].split("```toml\n")[1].split("```")[0]
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    assert set(toml.loads(shown)["tool"]["inductor-debug"]) == set(names(project=True))
    (tmp_path / "pyproject.toml").write_text(shown, encoding="utf-8")
    assert SettingsResolver(environ={})(str(tmp_path / "model.py")).timeout == 60


def test_the_schema_of_pyproject_offers_what_is_understood(documents: ModuleType) -> None:
    properties = documents.pyproject_schema()["properties"]["tool"]["properties"]["inductor-debug"]["properties"]
    assert set(properties) == set(names(project=True))
    assert properties["stages"]["items"]["enum"] == list(values_of("stages"))


@pytest.fixture(scope="module")
def documents() -> ModuleType:
    path = ROOT / "shared_schema" / "settings_documents.py"
    specification = importlib.util.spec_from_file_location("settings_documents", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
