"""What was inferred for a class is kept while its text stays what it is: run once and believed, not searched again."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.results.kept_hints import Hints
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug_schema import InferenceHint

pytestmark = pytest.mark.torch

MODEL = """import torch
from torch import nn

WIDTH = 24


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(WIDTH, 8)

    def forward(self, x):
        return self.layer(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x, flag: bool, pair):
        a, b = pair
        return self.part(x) + a.relu() + b.relu()


class Other(nn.Module):
    def forward(self, x):
        return x + 1
"""
LIKELY, FORGED = "torch.randn(2, 24)", "torch.randn(9, 24)"

EDITS = {
    # What the comment says could be a shape: an edit of plain words alone is answered without a run.
    "a comment elsewhere": (MODEL.replace("WIDTH = 24", "# [width]\nWIDTH = 24"), FORGED),
    "another class": (MODEL.replace("x + 1", "x + 2"), FORGED),
    "the class": (MODEL.replace("a.relu() + b.relu()", "b.relu() + a.relu()"), FORGED),
    "what the class is made of": (MODEL.replace("self.layer(x)", "self.layer(x).relu()"), FORGED),
    "its signature": (MODEL.replace("x, flag: bool, pair", "x, flag: bool, pair, factor=1"), LIKELY),
    "what its documentation says": (MODEL.replace("a, b = pair", '"""x: (batch, 24)"""\n        a, b = pair'), LIKELY),
}


def engine_in(folder: Path) -> Engine:
    return Engine(
        settings_for=SettingsResolver(environ={}), listener=lambda update: None, cache_folder=folder / "cache", jobs=1
    )


async def test_an_answer_is_kept_for_as_long_as_what_it_rests_on(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    engine = engine_in(tmp_path)
    hints = engine._runner._hints
    first = await engine.check(str(path))
    assert first.targets[0].inferred is not None
    assert first.targets[0].inferred.inputs.startswith(f"({LIKELY}, False, ")
    (place,) = hints._files
    (kept, _) = hints.of(place)
    # An answer that only comes from where we put it.
    forged = dataclasses.replace(kept, answer=kept.answer.replace('"B": 2', '"B": 9'))
    assert forged != kept
    for name, (text, expected) in EDITS.items():
        hints.keep(place, forged)
        path.write_text(text)
        report = await engine.check(str(path))
        assert report.targets[0].inferred is not None
        assert report.targets[0].inferred.inputs.startswith(f"({expected}, "), name
    await engine.shutdown()


BROKEN = (
    "",
    "{}",
    "[1, 2]",
    '{"way": 0}',
    '{"way": 7, "init": "", "arguments": [], "free": [], "sizes": {}, "traced": {}}',
    '{"way": 0, "init": "", "arguments": [["x", {"text": "open(1)"}, false]], "free": [], "sizes": {}, "traced": {}}',
)


async def test_a_hint_that_is_wrong_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    engine = engine_in(tmp_path)
    hints = engine._runner._hints
    first = await engine.check(str(path))
    (place,) = hints._files
    for number, answer in enumerate(BROKEN):
        hints.keep(place, dataclasses.replace(hints.of(place)[0], answer=answer))
        path.write_text(MODEL + "\n" * (number + 1))
        assert (await engine.check(str(path))).targets[0].inferred == first.targets[0].inferred
    await engine.shutdown()


def test_the_files_used_least_are_forgotten_first() -> None:
    hints = Hints(capacity=2)
    for name in ("a", "b", "a", "c"):
        hints.keep(("python", "root", name), InferenceHint("Model", name, name))
    assert [len(hints.of(("python", "root", name))) for name in "abc"] == [1, 0, 1]
