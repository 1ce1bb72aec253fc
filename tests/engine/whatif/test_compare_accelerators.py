"""Several accelerators, one capture: what stands in each column is what a check for that accelerator reports."""

from __future__ import annotations

from pathlib import Path

import pytest
from inductor_debug.engine.engine import Engine
from inductor_debug.engine.pool.supervisor import WorkerPool
from inductor_debug.engine.settings.settings_ladder import ConfigurationError, SettingsResolver
from inductor_debug_schema import (
    AcceleratorColumn,
    AcceleratorComparison,
    Event,
    FileReport,
    FileStatus,
    JobRequest,
    StageStarted,
)

pytestmark = pytest.mark.torch

MODEL = """\
import torch
from torch import nn


# inductor-debug: inputs=[(torch.randn(2, 3, 17),), (torch.randn(64, 9, 17),)]
class Declared(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(17, 33)
        self.act = nn.PReLU()

    def forward(self, x):
        print(x.shape)
        y = self.act(self.fc(x).transpose(1, 2))
        return y.double() @ y.half().transpose(1, 2)  # inductor-debug: ignore[float64]


class Inferred(nn.Module):
    def __init__(self, width: int = 48):
        super().__init__()
        self.up = nn.ConvTranspose2d(3, width, 2)

    def forward(self, image):
        if image.mean() > 0:
            return torch.kthvalue(self.up(image).flatten(), 1).values
        return self.up(image)
"""
BOARD = (
    'schema = 1\nname = "board"\nextends = "mock"\n[memory]\ndevice_bytes = "2 KiB"\n[speed]\nbytes_per_second = 1000\n'
)
ACCELERATORS = ("mock", "spyre", "none", "board.toml")


class CountingPool:
    """A real pool that notes what it is asked for."""

    def __init__(self, requests: list[JobRequest], **arguments: object) -> None:
        self._requests = requests
        self._pool = WorkerPool(**arguments)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> object:
        return getattr(self._pool, name)

    async def run(self, request: JobRequest, *arguments: object, **more: object) -> object:
        self._requests.append(request)
        return await self._pool.run(request, *arguments, **more)  # type: ignore[arg-type]


@pytest.fixture
def folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (project / "model.py").write_text(MODEL)
    (project / "board.toml").write_text(BOARD)
    monkeypatch.chdir(project)
    return project


def engine_of(folder: Path, settings: SettingsResolver, requests: list[JobRequest]) -> Engine:
    return Engine(
        settings_for=settings,
        listener=lambda update: None,
        pool_factory=lambda **arguments: CountingPool(requests, **arguments),  # type: ignore[arg-type,return-value]
        cache_folder=folder / "cache",
        jobs=1,
    )


def resolver(accelerator: str | None = None) -> SettingsResolver:
    said = {"accelerator": accelerator, "stages": ["preview", "mock", "aot"]}
    return SettingsResolver(environ={}, command_line=said)


async def compared(
    folder: Path, names: tuple[str, ...], requests: list[JobRequest], events: list[Event]
) -> AcceleratorComparison | FileReport:
    settings = resolver()
    engine = engine_of(folder, settings, requests)
    path = str(folder / "model.py")
    try:
        alternatives = [settings.for_accelerator(path, name) for name in names]
        return await engine.compare_accelerators(path, "", alternatives, events.append)
    finally:
        await engine.shutdown()


async def checked(folder: Path, accelerator: str) -> FileReport:
    engine = engine_of(folder, resolver(accelerator), [])
    try:
        return await engine.check(str(folder / "model.py"))
    finally:
        await engine.shutdown()


def column(comparison: AcceleratorComparison, name: str) -> AcceleratorColumn:
    return next(column for column in comparison.columns if column.name == name)


async def test_each_column_is_what_a_check_for_that_accelerator_says_and_all_cost_one_capture(folder: Path) -> None:
    requests: list[JobRequest] = []
    events: list[Event] = []
    comparison = await compared(folder, ACCELERATORS, requests, events)
    assert isinstance(comparison, AcceleratorComparison)

    assert len(requests) == 1
    started = [(event.target, event.stage) for event in events if isinstance(event, StageStarted)]
    assert len(started) == len(set(started)) == 2 * 3, "each stage of each target was captured once"

    rules = set()
    for accelerator, column in zip(ACCELERATORS, comparison.columns, strict=True):
        alone = await checked(folder, accelerator)
        assert column.findings == alone.findings, accelerator
        assert column.status is alone.status
        assert sum(count.findings for count in column.counts) == len(alone.findings)
        rules.add(frozenset(finding.rule for finding in alone.findings))
    assert len(rules) >= 3, "the accelerators were to differ, or nothing is proved"


async def test_costs_stand_beside_and_a_time_only_where_the_profile_says_how_fast_it_is(folder: Path) -> None:
    comparison = await compared(folder, ("mock", "board.toml"), [], [])
    assert isinstance(comparison, AcceleratorComparison)
    mock, board = (column(comparison, name).costs[0] for name in ("mock", "board"))
    assert (mock.target, mock.ops, mock.unsupported_ops > 0) == ("Declared", board.ops, True)
    assert (mock.seconds_at_least, mock.limited_by) == (None, "")
    assert (board.seconds_at_least, board.limited_by) == (board.moved_bytes / 1000, "memory")
    assert column(comparison, "board").device_bytes == 2048
    assert [found.rule for found in column(comparison, "board").findings if found.rule == "peak-memory"]


async def test_a_model_that_cannot_be_loaded_gives_no_table_but_the_reason(folder: Path) -> None:
    (folder / "model.py").write_text("import nowhere_at_all\n")
    report = await compared(folder, ACCELERATORS, [], [])
    assert isinstance(report, FileReport)
    assert report.status is FileStatus.FAILED
    assert "nowhere_at_all" in report.findings[0].message


def test_an_accelerator_that_nobody_knows_is_refused_before_anything_runs(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"sypre.*did you mean 'spyre'"):
        resolver().for_accelerator(str(folder / "model.py"), "sypre")
