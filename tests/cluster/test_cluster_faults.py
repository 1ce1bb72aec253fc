"""What a user reads when there is no cluster, when it cannot do what is asked, and when workers die each time."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("distributed")

from distributed import KilledWorker
from distributed.client import FutureCancelledError
from inductor_debug.cli.main import main
from inductor_debug.cluster.cluster_errors import ClusterError
from inductor_debug.cluster.cluster_place import ClusterOptions, ClusterPlace
from inductor_debug.cluster.cluster_work import AnswerState, NodeAnswer, written
from inductor_debug.engine.settings.settings_ladder import SettingsResolver
from inductor_debug.engine.survey.model_survey import SurveyOptions
from inductor_debug.engine.survey.survey_models import SurveyModel
from inductor_debug_schema import FileReport, FileStatus


class Futures:
    """A client whose tasks end as they are told, one after the other."""

    def __init__(self, *ends: Any) -> None:
        self.status = "running"
        self.ends = list(ends)
        self.where: list[Any] = []

    def submit(self, *words: Any, **options: Any) -> Any:
        self.where.append(options["workers"])

        async def end() -> Any:
            told = self.ends.pop(0)
            if isinstance(told, BaseException):
                raise told
            return told

        task = asyncio.ensure_future(end())
        task.release = lambda: None  # type: ignore[attr-defined]
        return _Future(task)


class _Future:
    def __init__(self, task: asyncio.Future[Any]) -> None:
        self._task = task

    def __await__(self) -> Any:
        return self._task.__await__()

    def release(self) -> None:
        """Nothing to let go of."""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text("x = 1\n")
    return path


def place_with(client: Futures, study: SurveyOptions | None = None) -> ClusterPlace:
    resolver = SettingsResolver()
    place = ClusterPlace(
        ClusterOptions("local:1", say=lambda said: None),
        resolver,
        study,
        lambda path, name: resolver.for_accelerator(path, name),
    )
    place._client = client
    place._workers = {"tcp://a:1": 1, "tcp://b:2": 1}
    return place


def done(report: FileReport) -> str:
    return written(NodeAnswer(AnswerState.DONE, "b (tcp://b:2)", 0.1, written(report), torch="2.13.0", python="3.11.7"))


def killed() -> KilledWorker:
    return KilledWorker("job", SimpleNamespace(address="tcp://a:1"), 2)


async def test_a_model_whose_workers_die_each_time_is_named_and_the_last_one_too(model: Path) -> None:
    report = await place_with(Futures(killed())).check(str(model))
    assert report.status is FileStatus.CRASHED
    assert "died, 3 times on end, the last one at tcp://a:1" in report.findings[0].message
    place = place_with(Futures(killed()), SurveyOptions({}))
    outcome = await place.outcome(SurveyModel("m", (str(model),)), lambda doing: None)
    assert isinstance(outcome.learned, FileReport)
    assert outcome.learned.status is FileStatus.CRASHED


async def test_a_node_that_cannot_is_not_asked_again(model: Path) -> None:
    unable = written(NodeAnswer(AnswerState.FAILED, "a (tcp://a:1)", 0.0, why="its workspace is gone"))
    client = Futures(unable, done(FileReport(str(model), FileStatus.CLEAN)))
    place = place_with(client)
    assert (await place.check(str(model))).status is FileStatus.CLEAN
    assert client.where == [None, ["tcp://b:2"]]
    assert place.versions.torch == "2.13.0"


async def test_answers_that_are_not_ours_are_no_results(model: Path) -> None:
    report = await place_with(Futures("{}", b"\x80\x04K\x01.", TypeError("pickle"))).check(str(model))
    assert report.status is FileStatus.CRASHED
    assert "an answer that is not ours" in report.findings[0].message


async def test_a_scheduler_that_is_gone_ends_the_command(model: Path) -> None:
    with pytest.raises(ClusterError, match="is gone"):
        await place_with(Futures(FutureCancelledError("job", "scheduler-connection-lost"))).check(str(model))


def test_what_to_install_is_said_where_dask_is_missing(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("inductor_debug.cluster.c")]:
        monkeypatch.delitem(sys.modules, name)
    importlib.import_module("inductor_debug.cluster.cluster_errors")
    for name in ("distributed", "distributed.client", "dask"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["check", str(model), "--cluster", "local:1"]) == 2
    assert 'pip install "inductor-debug[cluster]"' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cluster", "nowhere"], "neither local"),
        (["--shared", "."], "say which with --cluster"),
        (["--cluster", "local", "--diff"], "leave --cluster out"),
        (["--cluster", "tcp://127.0.0.1:9", "--artifacts", "cache"], "needs --shared"),
        (["--cluster", "local", "--shared", "/no/such/folder"], "there is no such folder"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    model: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(model), *words]) == 2
    assert said in capsys.readouterr().err


def test_without_a_cluster_no_dask_is_imported() -> None:
    program = (
        "import sys, inductor_debug.cli.commands.survey, inductor_debug.cli.commands.check\n"
        "print([name for name in ('dask', 'distributed', 'pathspec', 'torch') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
