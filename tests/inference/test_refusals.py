"""A class for which nothing can be inferred costs a search once, not with every save."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from forked import in_child
from inductor_debug.capture.inference import inference, negative_cache
from inductor_debug.capture.inference.search import input_search
from inductor_debug.capture.inference.search.trial import Trials
from inductor_debug.capture.session import analyze
from inductor_debug_schema import InferenceHint, JobRequest, Stage, StageFinished

pytestmark = pytest.mark.torch

MODEL = """import torch
from torch import nn
from part import WIDTH

class Inner(nn.Module):
    def forward(self, x):
        if x.shape[-1] > 0:
            raise ValueError('never')
        return x

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.inner = nn.Linear(WIDTH, 8), Inner()
    def forward(self, x):
        return self.inner(self.layer(x))

class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def forward(self, x, y):
        return self.inner(x) + self.inner(y)

class Fine(nn.Module):
    def forward(self, x):
        return x + 1
"""
PART = "WIDTH = 24\n"
RUNS = 60


@dataclasses.dataclass
class Told:
    """What one job tells: reasons by target, hints by target, and how often each class was searched for."""

    reasons: dict[str, str]
    hints: dict[str, InferenceHint]
    runs: dict[str, int]


def job(
    folder: Path,
    text: str = MODEL,
    hints: tuple[InferenceHint, ...] = (),
    only: tuple[str, ...] = (),
    worth: float = 0.0,
) -> Told:
    def work() -> Told:
        told = Told({}, {}, {})
        # Short searches, which no busy machine breaks off.
        input_search.search.__kwdefaults__["runs"] = RUNS
        vars(inference)["_LONGEST_SEARCH"] = 100.0
        negative_cache.WORTH_KEEPING_SECONDS = worth
        original = Trials.run

        def counted(trials: Trials, guess: object, *watch: object) -> object:
            name = type(trials.subject).__name__
            told.runs[name] = told.runs.get(name, 0) + 1
            return original(trials, guess, *watch)  # type: ignore[arg-type]

        def receive(event: object) -> None:
            if isinstance(event, StageFinished) and event.inferred is not None:
                told.reasons[event.target] = event.inferred.reason
            if isinstance(event, InferenceHint):
                told.hints[event.target] = event

        Trials.run = counted  # type: ignore[method-assign, assignment]
        path = folder / "model.py"
        request = JobRequest(1, str(path), text, str(folder), [Stage.PREVIEW], {"name": "x"}, hints=list(hints))
        analyze(dataclasses.replace(request, only=list(only)), receive)
        return told

    told, output = in_child(work)
    assert isinstance(told, Told), output
    return told


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Told]:
    """A folder, and what was told when its model was searched for the first time."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "pyproject.toml").touch()
    (folder / "part.py").write_text(PART)
    return folder, job(folder)


@pytest.fixture
def folder(searched: tuple[Path, Told]) -> Iterator[Path]:
    """That folder, which is afterwards as it was, its times as well."""
    part = searched[0] / "part.py"
    times = (part.stat().st_atime_ns, part.stat().st_mtime_ns)
    yield searched[0]
    part.write_text(PART)
    os.utime(part, ns=times)


@pytest.fixture
def first(searched: tuple[Path, Told]) -> Told:
    return searched[1]


CHANGES = {
    "nothing": (MODEL, PART, True),
    "another class": (MODEL.replace("x + 1", "x + 2"), PART, True),
    "the class": (MODEL.replace("self.inner(self.layer(x))", "self.layer(self.inner(x))"), PART, False),
    "what it is made of": (MODEL.replace("'never'", "'not now'"), PART, False),
    "an imported file": (MODEL, PART + "HEIGHT = 3\n", False),
    "a call of it": (MODEL + "\nmodel = lambda: Model()\n", PART, False),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_refusal_is_known_until_something_that_it_rests_on_changes(what: str, folder: Path, first: Told) -> None:
    assert "never" in first.reasons["Model"]
    kept = first.hints["Model"]
    # A reason that only comes from where we put it.
    forged = dataclasses.replace(kept, answer=kept.answer.replace("never", "as kept"))
    text, part, known = CHANGES[what]
    if part != PART:
        (folder / "part.py").write_text(part)
    again = job(folder, text, (forged,))
    assert ("as kept" in again.reasons["Model"]) is known
    assert (again.runs.get("Model", 0) == 0) is known
    assert again.reasons["Fine"] == ""


def test_who_asks_for_one_class_by_name_has_it_tried_again(folder: Path, first: Told) -> None:
    assert job(folder, hints=(first.hints["Model"],), only=("Model",)).runs["Model"] > 0


def test_refusals_that_come_from_outside_or_cost_nothing_are_not_kept(folder: Path) -> None:
    text = "from torch import nn\nclass Model(nn.Module):\n    def __init__(self, width):\n        {}\n"
    text += "    def forward(self, x):\n        return x\n"
    for body, worth in (("open('missing.bin')", 0.0), ("raise ValueError('no')", 100.0)):
        told = job(folder, text.format(body), worth=worth)
        assert told.reasons["Model"]
        assert told.hints == {}


def test_what_fails_in_a_part_that_failed_before_is_not_searched_for_long(first: Told) -> None:
    assert "never" in first.reasons["Other"]
    assert first.runs["Other"] <= 50 < RUNS <= first.runs["Model"]


def test_a_known_refusal_says_nothing_that_could_be_taken_for_a_limit_of_fake_tensors() -> None:
    from inductor_debug.capture.inference.negative_cache import KnownRefusalError
    from inductor_debug.capture.tensors.fake_mode import is_limitation

    assert not is_limitation(KnownRefusalError("it cannot be called on meta tensors"))
