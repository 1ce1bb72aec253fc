"""A model is not ready when it is built: the method that gives what its run ends at is called, and that is told."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from forked import Job, analyze
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug_schema import FileReport, FileStatus, StageState

pytestmark = pytest.mark.torch

_HEADS = """
import torch
from torch import nn

class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(32, 64)
        self.names, self.heads = {names}, nn.ModuleList({heads})
        self.head = None

    def add_head(self, name, num_classes):
        if name not in self.names:
            self.names.append(name)
            self.heads.append(nn.Linear(64, num_classes))

    def choose(self, name):
        assert name in self.names
        self.head = self.heads[self.names.index(name)]

    def forward(self, x):
        return self.head(self.body(x))
"""
_TOUR = """
import torch
from torch import nn

class Chooser(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(16, 10)
        self.mode = None

    def set_mode(self, mode):
        self.mode = mode

    def forward(self, x):
        scores = self.score(x)
        if self.mode == "best":
            return scores.max(1)[1]
        elif self.mode == "drawn":
            return scores.softmax(1).multinomial(1)
        else:
            assert False, "no such mode"

class Tour(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(8, 16)
        self.chooser = Chooser()

    def set_way(self, way):
        self.chooser.mode = way

    def forward(self, x):
        return self.chooser(self.embed(x))
"""


def _analysed(tmp_path: Path, text: str, **others: str) -> Job:
    for name, content in others.items():
        (tmp_path / f"{name}.py").write_text(dedent(content))
    return analyze(tmp_path / "model.py", dedent(text), root=tmp_path)


def _states(job: Job) -> list[StageState]:
    return [stage.report.state for stage in job.stages]


def _told(job: Job) -> list[str]:
    """What was called before the run, by target."""
    notes = (note for stage in job.stages for note in stage.report.notes)
    return [note.partition("this was done before its run: ")[2] for note in notes if "before its run" in note]


def test_the_method_that_gives_what_is_none_is_called_with_what_the_class_holds(tmp_path: Path) -> None:
    job = _analysed(tmp_path, _HEADS.format(names='["flowers"]', heads="[nn.Linear(64, 100)]"))
    assert (job.status, job.findings, _states(job)) == (FileStatus.CLEAN, [], [StageState.DONE])
    assert _told(job) == ["`choose(name='flowers')`."]
    inferred = job.stages[0].inferred
    assert inferred is not None
    assert (inferred.signature, inferred.directive, inferred.invented) == ("x f32[batch, 32]", "", [])


def test_a_method_that_another_one_needs_is_called_before_it_with_the_same_key(tmp_path: Path) -> None:
    script = """
    from model import Heads

    model = Heads()
    model.add_head("cars", 20)
    model.choose("cars")
    """
    job = _analysed(tmp_path, _HEADS.format(names="[]", heads=""), script=script)
    assert (job.status, job.findings, _states(job)) == (FileStatus.CLEAN, [], [StageState.DONE])
    assert _told(job) == ["`add_head(name='cars', num_classes=20)`, then `choose(name='cars')`."]
    assert [stage.inferred.invented for stage in job.stages if stage.inferred] == [[]]


def test_where_nobody_calls_the_methods_their_arguments_are_made_up(tmp_path: Path) -> None:
    job = _analysed(tmp_path, _HEADS.format(names="[]", heads=""))
    assert (job.status, job.findings, _states(job)) == (FileStatus.CLEAN, [], [StageState.DONE])
    assert "num_classes of add_head" in job.stages[0].inferred.invented if job.stages[0].inferred else False


def test_what_is_compared_with_texts_is_given_one_also_in_a_part(tmp_path: Path) -> None:
    job = _analysed(tmp_path, _TOUR)
    assert (job.status, job.findings, set(_states(job))) == (FileStatus.CLEAN, [], {StageState.DONE})
    assert _told(job) == ["`set_way(way='best')`."]


def test_what_a_script_calls_it_with_is_taken(tmp_path: Path) -> None:
    script = """
    from model import Tour

    def measure(tour):
        tour.set_way("drawn")

    measure(Tour())
    """
    assert _told(_analysed(tmp_path, _TOUR, script=script)) == ["`set_way(way='drawn')`."]


def test_what_a_script_sets_is_set_where_no_method_gives_it(tmp_path: Path) -> None:
    text = _TOUR.partition("class Tour")[0].replace("    def set_mode(self, mode):\n        self.mode = mode\n", "")
    script = """
    from model import Chooser

    chooser = Chooser()
    chooser.mode = "drawn"
    """
    job = _analysed(tmp_path, text)
    assert (job.findings, _states(job), _told(job)) == ([], [StageState.SKIPPED], [])
    job = _analysed(tmp_path, text, script=script)
    assert (job.findings, _states(job), _told(job)) == ([], [StageState.DONE], ["`mode = 'drawn'`."])


@pytest.mark.parametrize(
    "body",
    [
        "self.head = torch.load(name)",
        "self.head = nn.Linear(64, 10); torch.save(self.head, name)",
        "self.head = nn.Linear(64, 10); self.head(torch.zeros(2, 64)).sum().backward()",
    ],
)
def test_what_loads_saves_or_trains_is_not_called(tmp_path: Path, body: str) -> None:
    text = f"""
    import torch
    from torch import nn

    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.Linear(32, 64), None

        def choose(self, name):
            {body}

        def forward(self, x):
            return self.head(self.body(x))
    """
    job = _analysed(tmp_path, text)
    assert (job.findings, _states(job)) == ([], [StageState.SKIPPED])
    assert "'NoneType' object is not callable" in str(job.stages[0].report)


def test_nobody_is_blamed_for_what_follows_of_such_a_call(tmp_path: Path) -> None:
    text = _HEADS.format(names="[]", heads="").replace("nn.Linear(64, num_classes)", "nn.Linear(num_classes, 5)")
    job = _analysed(tmp_path, text)
    assert (job.findings, _states(job)) == ([], [StageState.SKIPPED])
    assert "after `add_head(" in str(job.stages[0].report)


async def _checked(tmp_path: Path, *texts: str) -> list[FileReport]:
    """What is said of one file after each edit."""
    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "model.py"
    engine = Engine(
        settings_for=SettingsResolver(environ={}), listener=lambda update: None, cache_folder=tmp_path / "cache", jobs=1
    )
    reports = []
    for text in texts:
        path.write_text(text)
        reports.append(await engine.check(str(path)))
    await engine.shutdown()
    return reports


async def test_what_was_called_before_is_called_again_after_an_edit(tmp_path: Path) -> None:
    text = _HEADS.format(names='["flowers"]', heads="[nn.Linear(64, 100)]")
    renamed = text.replace("choose", "select")
    reports = await _checked(tmp_path, text, text.replace("self.body(x))", "self.body(x).relu())"), renamed)
    for report, method in zip(reports, ("choose", "choose", "select"), strict=True):
        assert (report.status, report.findings) == (FileStatus.CLEAN, [])
        assert f"`{method}(name='flowers')`" in str(report.targets[0].stages)


async def test_an_edit_that_leaves_something_to_a_method_that_is_not_called_is_no_error(tmp_path: Path) -> None:
    ready = _HEADS.format(names='["flowers"]', heads="[nn.Linear(64, 100)]")
    ready = ready.replace("self.head = None", "self.head = self.heads[0]")
    unready = ready.replace("self.head = self.heads[0]", "self.head = None").replace("self.names.index(name)", "name")
    first, second = await _checked(tmp_path, ready, unready)
    assert (first.status, first.findings) == (FileStatus.CLEAN, [])
    assert second.findings == []
