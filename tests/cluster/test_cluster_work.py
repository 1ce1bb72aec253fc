"""What crosses the wire is our JSON: it comes back as it went, with the paths of whoever reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("distributed")

from inductor_debug import __version__
from inductor_debug.cluster.cluster_work import NodeWork, Study, moved, read_answer, read_work, written
from inductor_debug.cluster.node_facts import NodeFacts, NodeVersions, chosen, refusal
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug.engine.survey.model_survey import Measuring, SurveyOptions
from inductor_debug.engine.survey.survey_models import SurveyModel
from inductor_debug_schema import WireError

OLD = NodeVersions(__version__, "2.12.0", "3.11.7")
NEW = NodeVersions(__version__, "2.13.0", "3.11.7")
OTHER_TOOL = NodeVersions("0.0.1", "2.13.0", "3.11.7")


def test_settings_and_models_arrive_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.inductor-debug]\naccelerator = 'spyre'\nallow = ['write']\n"
        "[tool.inductor-debug.severity]\ndtype = 'off'\nalignment = 'hint'\n"
        "[tool.inductor-debug.targets.'model.py::M']\ninputs = '(1,)'\n"
    )
    path = str(tmp_path / "model.py")
    settings = SettingsResolver(environ={"MOCK_ALIGNMENT": "64"})
    options = SurveyOptions({"diff": "yes"}, ("h100",), ("inductor",), Measuring(3), compares=True, timeout=5.0)
    like = {"h100": settings.for_accelerator(path, "h100", folder=str(tmp_path))}
    work = NodeWork(path, settings(path), study=Study(SurveyModel("m", (path,), tags=("a",)), options, like))
    back = read_work(json.loads(json.dumps(written(work))))
    assert written(back) == written(work)
    assert back.settings.run_digest() == work.settings.run_digest()
    assert back.settings.severity == work.settings.severity
    assert back.study is not None
    assert back.study.options == options


def test_paths_are_moved_and_those_that_only_begin_alike_are_not() -> None:
    text = json.dumps(
        {
            "a": "/home/me/proj/model.py",
            "b": "/home/me/proj",
            "c": "/home/me/proj2/x.py",
            "d": "line 3 of /home/me/proj/x.py.",
        }
    )
    there = moved(text, "/home/me/proj", "/cache/0abc")
    assert json.loads(there) == {
        "a": "/cache/0abc/model.py",
        "b": "/cache/0abc",
        "c": "/home/me/proj2/x.py",
        "d": "line 3 of /cache/0abc/x.py.",
    }
    assert moved(there, "/cache/0abc", "/home/me/proj") == text


def test_an_answer_that_is_not_ours_is_refused() -> None:
    with pytest.raises(WireError):
        read_answer('{"state": "done"}')
    with pytest.raises(ValueError, match="Expecting"):
        read_answer("gASVBAAAAAAAAABLAS4=")


def test_most_workers_say_which_torch_a_run_is_of_and_others_are_refused_by_name() -> None:
    found = {"a": NodeFacts(OLD), "b": NodeFacts(NEW), "c": NodeFacts(OLD), "d": NodeFacts(OTHER_TOOL)}
    wanted = chosen(found)
    assert wanted == OLD
    assert refusal(found["a"], OLD) == ""
    assert "torch 2.13.0" in refusal(found["b"], OLD)
    assert "inductor-debug 0.0.1" in refusal(found["d"], OLD)
    assert chosen({"a": NodeFacts(OLD), "b": NodeFacts(NEW)}) == NEW
    assert chosen({"d": NodeFacts(OTHER_TOOL), "e": NodeFacts(NEW, trouble="x has no torch")}) is None
