"""A bug report holds all that could be had, says what could not, and is written only when somebody asks for it."""

from __future__ import annotations

import hashlib
import os
import sys
import zipfile
from pathlib import Path

import pytest
from answers import answer
from inductor_debug.engine.bug_report import bug_report
from inductor_debug.engine.bug_report.bug_report import BugReport, Part, WantedReport, gather, write
from inductor_debug.engine.bug_report.trace_text import resealed
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.settings.settings import Settings
from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    BisectDocument,
    BisectTask,
    FileReport,
    FileStatus,
    Finding,
    Position,
    Range,
    ReproDocument,
    ReproTask,
    Severity,
    Stage,
    StageReport,
    StageState,
    TargetReport,
    TransfersDocument,
    TransfersTask,
)

HOME = os.path.expanduser("~")
FINDING = Finding(
    rule="dtype",
    severity=Severity.WARNING,
    message="float64 is not there",
    path=f"{HOME}/work/model.py",
    range=Range(Position(3, 4), Position(3, 14)),
    stage=Stage.MOCK,
    target="Net",
)
SCRIPT = "import sys\nprint('the failure reproduces')\nsys.exit(0)\n"
LADDER = [{"backend": "eager", "state": "ok", "why": "a | b"}]
BISECTION = answer(
    BisectDocument,
    {
        "target": "Net",
        "ladder": LADDER,
        "verdict": "back-end",
        "guilty": {"backend": "inductor", "op": "torch.cos"},
        "commands": ["left", "right"],
    },
)


class Desk:
    """Answers orders as workers would; `without` names tasks that give nothing."""

    def __init__(self, *without: type) -> None:
        self.without = without
        self.orders: list[Order] = []

    async def __call__(self, order: Order) -> Performed:
        self.orders.append(order)
        report = FileReport("model.py", FileStatus.CLEAN)
        if isinstance(order.task, self.without):
            return Performed(FileReport("model.py", FileStatus.CRASHED), "", broken=True)
        if order.task is None:
            stage = StageReport(Stage.MOCK, StageState.DONE, 0.1, notes=["a note"])
            report = FileReport("model.py", FileStatus.FINDINGS, [TargetReport("Net", 0, [stage])], [FINDING])
            made = [
                ArtifactMade(ArtifactKind.FX_GRAPHS, "graphs", ".graph", "application/x", b"\0\1", "Net", Stage.MOCK),
                ArtifactMade(
                    ArtifactKind.FX_GRAPHS, "graphs", ".txt", "text/plain", f"{HOME}/x".encode(), "Net", Stage.MOCK
                ),
                ArtifactMade(ArtifactKind.FX_GRAPHS, "graphs", ".txt", "text/plain", b"again", "Net", Stage.MOCK),
                ArtifactMade(ArtifactKind.REPORTS, "torch trace", ".log", "text/plain", b"V1121"),
            ]
            return Performed(report, "", artifacts=made)
        if isinstance(order.task, ReproTask):
            made = [ArtifactMade(ArtifactKind.REPROS, "repro", ".py", "text/x-python", SCRIPT.encode(), "Net")]
            return Performed(report, "", [Answered("Net", ReproDocument.without_script(""))], made)
        return Performed(
            report,
            "",
            [Answered("Net", BISECTION if isinstance(order.task, BisectTask) else answer(TransfersDocument, {}))],
        )


@pytest.fixture(autouse=True)
def quick_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async def collected(interpreter: str) -> str:
        return f"PyTorch version: 2.13.0\nOS: {HOME}/os\nother: line"

    monkeypatch.setattr(bug_report, "collected", collected)


def settings() -> Settings:
    return Settings(project_root=".", interpreter=sys.executable, profile={"name": "spyre"})


async def test_everything_is_there_once_and_redacted() -> None:
    desk = Desk()
    report = await gather(WantedReport("model.py", "Net"), settings(), desk)
    names = [part.name for part in report.parts]
    assert names == [
        "ISSUE.md",
        "findings.json",
        "graphs/Net-mock-graphs.txt",
        "graphs/Net-mock-graphs-2.txt",
        "reports/torch_trace.log",
        "error.txt",
        "reports/Net-bisection.json",
        "repro/repro.py",
        "repro/output.txt",
        "reports/Net-transfers.json",
        "environment.txt",
    ]
    assert {order.target for order in desk.orders} == {"Net"}
    assert not report.missing
    if len(HOME) > 1:
        assert all(HOME.encode() not in part.content for part in report.parts if part.name != "environment.txt")
        assert report.redacted["home folder"] >= 3


def test_a_trace_keeps_sums_that_fit_after_words_were_taken_out() -> None:
    sums = {text: hashlib.md5(text.encode()).hexdigest() for text in ("{\n/home/me/x\n}", "{\n~/x\n}")}
    before, after = (
        f'V1 a.py:1] {{"str": ["x", 1]}}\nV1 b.py:2] {{"has_payload": "{digest}"}}\n\t'
        + text.replace("\n", "\n\t")
        + '\nV1 c.py:3] {"end": 1}\n'
        for text, digest in sums.items()
    )
    assert resealed(before) == before
    assert resealed(before.replace("/home/me", "~")) == after


async def test_the_issue_can_be_pasted() -> None:
    report = await gather(WantedReport("model.py", "Net"), settings(), Desk())
    body = report.body
    assert body.startswith("# [dtype] float64 is not there\n")
    assert "- **where**: `model.py:4:5`" in body
    assert SCRIPT.strip() in body
    assert "| eager | ok | a \\| b |" in body
    assert "Guilty: backend `inductor`, op `torch.cos`" in body
    assert "- [x] the reproducer was run in a clean process" in body
    assert "- PyTorch version: 2.13.0" in body


@pytest.mark.parametrize("task", [ReproTask, BisectTask, TransfersTask])
async def test_what_cannot_be_had_is_named_as_missing(task: type) -> None:
    report = await gather(WantedReport("model.py"), settings(), Desk(task))
    assert len(report.missing) == 1
    assert f"not there: {report.missing[0]}" in report.body
    assert "ended as crashed" in report.missing[0] or "run failed" in report.missing[0]


async def test_a_bisection_that_nobody_asked_for_is_not_made() -> None:
    desk = Desk()
    report = await gather(WantedReport("model.py", bisect=False), settings(), desk)
    assert not any(isinstance(order.task, BisectTask) for order in desk.orders)
    assert report.missing == ["bisection: not asked for"]
    assert "- [ ] the layer that goes wrong was looked for" in report.body


def test_the_zip_is_whole_or_not_there(tmp_path: Path) -> None:
    report = BugReport("title", [Part("ISSUE.md", b"text", "about"), Part("a/b.txt", b"x" * 9, "b")])
    path = tmp_path / "report.zip"
    write(report, path)
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["ISSUE.md", "a/b.txt"]
        assert archive.read("a/b.txt") == b"x" * 9
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.zip"]
    with pytest.raises(OSError, match="No such file"):
        write(report, tmp_path / "none" / "report.zip")
