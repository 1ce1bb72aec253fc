"""A Dask cluster of real processes gives what this machine gives, whoever is killed on the way."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")

from inductor_debug.cli.main import main
from inductor_debug.cluster.connecting import SETTINGS, connected
from inductor_debug_benchmarks.processes.dask_cluster import RunningCluster, running_cluster

pytestmark = pytest.mark.torch
MODEL = """\
import torch
from helper import scale


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, {size})

    def forward(self, x):
        y = self.layer(x).double()
        if y.sum() > 0:
            y = y + 1
        return scale(y)


def get_inputs():
    return [torch.randn(4, 8)]


def get_init_inputs():
    return []
"""
MODELS = 4


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "helper.py").write_text("def scale(x):\n    return x * 2\n")
    for number in range(1, MODELS + 1):
        (folder / f"model{number}.py").write_text(MODEL.format(size=number))
    (folder / "broken.py").write_text("import torch\n\nclass Model(torch.nn.Module)\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def cluster(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[RunningCluster]:
    with running_cluster(getattr(request, "param", 1), tmp_path) as running:
        yield running


def rows_of(name: str) -> dict[str, Any]:
    """What a survey's file says, without what may differ, in the order of the models."""
    lines = (Path("survey") / f"{name}.jsonl").read_text().splitlines()
    rows = sorted((json.loads(line) for line in lines[1:]), key=lambda row: (row["index"], row["number"]))
    for row in rows:
        row.pop("seconds")
    return {"asked": json.loads(lines[0])["asked"], "torch": json.loads(lines[0])["torch"], "rows": rows}


@contextmanager
def once_there_are_rows(path: Path, act: Callable[[], None]) -> Iterator[None]:
    """Acts when the first results are in the file, in the midst of whatever is being done then."""
    over = threading.Event()

    def wait() -> None:
        while not over.wait(0.02):
            if path.is_file() and len(path.read_text().splitlines()) > 1:
                act()
                return

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def without_times(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "seconds"}


def survey(name: str, *words: str) -> int:
    told = ["--name", name, "--no-page", "--format", "json", "--output", f"{name}.json", "--quiet"]
    return main(["survey", ".", "--accelerators", "spyre,h100", *told, *words])


@pytest.mark.parametrize("cluster", [2, 1], indirect=True, ids=["one of two", "the only one"])
def test_a_worker_that_is_killed_costs_nothing(project: Path, cluster: RunningCluster) -> None:
    with once_there_are_rows(
        Path("survey/there.jsonl"), lambda: os.kill(random.choice(cluster.workers()), signal.SIGKILL)
    ):
        there = survey("there", "--cluster", cluster.address)
    assert there == survey("here")
    assert rows_of("there") == rows_of("here")
    assert len(rows_of("there")["rows"]) == MODELS + 1  # one file cannot be read


def test_what_was_done_before_the_scheduler_went_is_kept_and_gone_on_with(
    project: Path, cluster: RunningCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = Path("survey/all.jsonl")
    with once_there_are_rows(rows, cluster.die):
        assert survey("all", "--cluster", cluster.address) == 2
    assert "is gone" in capsys.readouterr().err
    kept = len(rows.read_text().splitlines()) - 1
    assert 0 < kept < MODELS + 1
    survey("all", "--resume")
    assert len(rows.read_text().splitlines()) - 1 == MODELS + 1


async def test_a_worker_that_dask_gives_up_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SETTINGS, "distributed.deploy.lost-worker-timeout", "1ms")  # else after 15 s on a busy machine
    async with connected("local:1") as client:
        ((address, pid),) = (await client.run(os.getpid)).items()
        os.kill(pid, signal.SIGKILL)
        while address in await client.nthreads():
            await asyncio.sleep(0.05)
        await client.wait_for_workers(1, timeout=120)
        assert await client.submit(str, 1) == "1"


async def test_a_result_that_is_a_pickle_is_refused(cluster: RunningCluster) -> None:
    async with connected(cluster.address) as client:
        assert await client.submit(str, 1) == "1"
        with pytest.raises(TypeError, match="deserialize"):
            await client.submit(complex, 1, 2)


def test_check_takes_an_embedded_cluster_and_says_what_it_says_here(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*words: str) -> Any:
        code = main(["check", "model1.py", "broken.py", "--format", "json", "--quiet", *words])
        return code, json.loads(capsys.readouterr().out, object_hook=without_times)

    assert told("--cluster", "local:1") == told("--no-cache")
