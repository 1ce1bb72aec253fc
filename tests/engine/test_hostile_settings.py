"""Settings, profiles and baselines of any content: each is used, or refused in words, and never anything else."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.accelerators.profile import ProfileError, load_document, read_profile
from inductor_debug.cli.support.baseline import BaselineError
from inductor_debug.cli.support.baseline import read as read_baseline
from inductor_debug.engine.settings.setting_values import COMMAND_LINE_KEYS
from inductor_debug.engine.settings.settings_ladder import ConfigurationError, SettingsResolver

_WORDS = st.one_of(
    st.sampled_from(["", "mock", "none", "preview", "off", "error", "2 GB", "a.py::N"]), st.text(max_size=9)
)
_PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), _WORDS)
_ANY = st.recursive(
    _PLAIN,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_WORDS, inner, max_size=3)),
    max_leaves=8,
)
_NAMES = [name for name in COMMAND_LINE_KEYS if name != "interpreter"]  # which would be asked what it has
_PROFILES = [load_document(name) for name in ("mock", "spyre", "h100")]


@given(said=st.dictionaries(st.sampled_from(_NAMES), _ANY, max_size=3), camel=st.booleans())
def test_any_settings_are_used_or_refused_in_words(said: dict[str, Any], camel: bool) -> None:
    values = said if camel else {name.replace("_", "-"): value for name, value in said.items()}
    for where in ("command_line", "editor"):
        with contextlib.suppress(ConfigurationError):
            SettingsResolver(**{where: values}, environ={})("/nowhere/model.py")


@given(data=st.binary(max_size=200), table=st.booleans())
def test_any_file_of_settings_is_used_or_refused_in_words(
    data: bytes, table: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "settings"
    folder.mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_bytes((b"[tool.inductor-debug]\n" if table else b"") + data)
    with contextlib.suppress(ConfigurationError):
        SettingsResolver(environ={})(str(folder / "model.py"))


@given(data=st.data())
def test_any_profile_is_used_or_refused_in_words(data: st.DataObject) -> None:
    document = json.loads(json.dumps(data.draw(st.sampled_from(_PROFILES))))
    place = document
    while data.draw(st.booleans()) and (inner := [key for key, value in place.items() if isinstance(value, dict)]):
        place = place[data.draw(st.sampled_from(inner))]
    if place:
        place[data.draw(st.sampled_from([*place]))] = data.draw(_ANY)
    with contextlib.suppress(ProfileError):
        read_profile(document)


@given(document=_ANY, text=st.one_of(st.none(), st.text(max_size=50)))
def test_any_baseline_is_used_or_refused_in_words(
    document: Any, text: str | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = Path(tmp_path_factory.getbasetemp()) / "known.json"
    rows = {"schema": 1, "entries": document, "findings": document, "costs": document}
    path.write_text(json.dumps(rows) if text is None else text, encoding="utf-8", errors="surrogatepass")
    with contextlib.suppress(BaselineError):
        read_baseline(str(path))


@pytest.mark.parametrize("source", [None, 7, "mock.toml", {"lines": None}])
def test_a_profile_that_does_not_say_where_it_was_read_is_refused(source: Any) -> None:
    with pytest.raises(ProfileError, match="source"):
        read_profile({**_PROFILES[0], "source": source})
