"""Trials: what would become of a text that nobody wrote, found out without disturbing anybody."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from desk import DONE, SAVED, STALE, Desk, body, brief
from inductor_debug.engine.fixes.edits import TextEdit
from inductor_debug_schema import FileReport, FileStatus, Position, Range

MEND = TextEdit(Range(Position(2, 19), Position(2, 22)), "1")
"""Makes `SAVED` free of findings."""
TOP = TextEdit(Range(Position(0, 11), Position(0, 11)), "(object)")
"""Changes top-level code."""


def attempt(desk: Desk, *edits: TextEdit, name: str = "model.py") -> asyncio.Task[FileReport | None]:
    return asyncio.ensure_future(desk.engine.try_edits(desk.uri(name), edits))


async def test_a_trial_tells_what_would_be_found_and_changes_nothing(desk: Desk) -> None:
    before = await desk.opened()
    told = len(desk.updates)
    report = await attempt(desk, MEND)
    assert report is not None
    assert (report.status, report.findings) == (FileStatus.CLEAN, [])
    assert len(desk.updates) == told
    assert desk.engine.latest(desk.uri()) is before
    assert desk.ran == [SAVED, body("x + 1")]


async def test_a_text_is_tried_once_and_the_edit_itself_is_answered_from_the_trial(desk: Desk) -> None:
    await desk.opened()
    first, second = await asyncio.gather(attempt(desk, MEND), attempt(desk, MEND))
    assert first == second
    desk.type(body("x + 1"))
    assert (await desk.settled()).state is DONE
    assert desk.ran == [SAVED, body("x + 1")]


async def test_policy_holds_for_trials(desk: Desk) -> None:
    await desk.opened()
    ignore = TextEdit(Range(Position(2, 22), Position(2, 22)), "  # inductor-debug: ignore[dtype]")
    report = await attempt(desk, ignore)
    assert report is not None
    assert brief(report) == []


async def test_trials_run_one_at_a_time(desk: Desk) -> None:
    await desk.opened()
    gate = desk.pools.pool.hold()
    other = TextEdit(MEND.range, "2")
    tasks = [attempt(desk, MEND), attempt(desk, other)]
    await desk.pools.pool.reached()
    assert len(desk.ran) == 2
    gate.set()
    await asyncio.gather(*tasks)
    assert desk.ran == [SAVED, body("x + 1"), body("x + 2")]


async def test_an_edit_ends_the_trial_of_its_document(desk: Desk) -> None:
    await desk.opened()
    gate = desk.pools.pool.hold()
    trial = attempt(desk, MEND)
    await desk.pools.pool.reached()
    desk.type(body("x + 7"))
    gate.set()
    assert await trial is None
    assert (await desk.settled()).report.findings == []
    assert desk.ran == [SAVED, body("x + 1"), body("x + 7")]
    assert len(desk.pools.pool.killed) == 1


async def test_a_trial_makes_way_for_another_document_and_starts_again_after_it(desk: Desk) -> None:
    await desk.opened()
    gate = desk.pools.pool.hold()
    trial = attempt(desk, MEND)
    await desk.pools.pool.reached()
    other = body("x * 2")
    desk.open(other, "other.py")
    for _ in range(20):
        await asyncio.sleep(0)
    assert desk.ran == [SAVED, body("x + 1"), other]
    assert len(desk.pools.pool.killed) == 1
    gate.set()
    report = await trial
    assert report is not None
    assert report.findings == []
    assert desk.ran == [SAVED, body("x + 1"), other, body("x + 1")]


async def test_a_trial_waits_for_an_analysis_that_runs(desk: Desk) -> None:
    await desk.opened()
    gate = desk.pools.pool.hold()
    desk.open(body("x * 2"), "other.py")
    await desk.pools.pool.reached()
    trial = attempt(desk, MEND)
    for _ in range(20):
        await asyncio.sleep(0)
    assert desk.ran == [SAVED, body("x * 2")]
    gate.set()
    assert await trial is not None


async def test_nobody_can_tell_before_the_text_itself_is_analysed(desk: Desk) -> None:
    assert await attempt(desk, MEND) is None
    desk.open()
    assert await attempt(desk, MEND) is None
    await desk.settled()
    desk.engine.close(desk.uri())
    assert await attempt(desk, MEND) is None


async def test_top_level_code_is_tried_of_a_saved_document_only(desk: Desk) -> None:
    await desk.opened()
    assert await attempt(desk, TOP) is not None
    desk.type(body("x - BAD"))
    await desk.settled()
    tried = len(desk.ran)
    assert await attempt(desk, TOP) is None
    assert len(desk.ran) == tried
    assert await attempt(desk, MEND) is not None
    desk.save()
    await desk.settled()
    assert await attempt(desk, TOP) is not None


async def test_unsaved_top_level_code_is_never_tried(desk: Desk) -> None:
    await desk.opened()
    desk.type(f"import os\n{SAVED}")
    assert (await desk.settled()).state is STALE
    assert await attempt(desk, MEND) is None
    assert desk.ran == [SAVED]


@pytest.mark.parametrize("word", ["CRASH", "HANG", "RAISES"])
async def test_a_trial_that_fails_disturbs_nobody(desk: Desk, word: str) -> None:
    await desk.opened()
    try:
        report = await attempt(desk, TextEdit(MEND.range, word))
    except RuntimeError:
        report = None
    assert report is None or report.status in (FileStatus.CRASHED, FileStatus.TIMEOUT)
    report = await attempt(desk, MEND)
    assert report is not None
    assert report.findings == []


async def test_a_trial_that_nobody_waits_for_is_killed(desk: Desk) -> None:
    await desk.opened()
    gate = desk.pools.pool.hold()
    trial = attempt(desk, MEND)
    await desk.pools.pool.reached()
    trial.cancel()
    await asyncio.wait([trial])
    assert len(desk.pools.pool.killed) == 1
    gate.set()
    assert await attempt(desk, MEND) is not None


async def test_the_end_of_the_engine_ends_trials(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.opened()
    desk.pools.pool.hold()
    trial = attempt(desk, MEND)
    await desk.pools.pool.reached()
    await desk.engine.shutdown()
    assert await trial is None
    assert len(desk.pools.pool.killed) == 1
