"""What a user sees when a run breaks off, and that nothing starts it again by itself."""

from __future__ import annotations

import pytest
from desk import DONE, FAILED, Desk, body, brief
from inductor_debug.engine.pool.job_outcomes import JobEnd, JobOutcome
from inductor_debug.engine.results.endings import conclude, gives_up, wants_numbers
from inductor_debug.engine.results.merge import Results
from inductor_debug.engine.settings.settings import Settings
from inductor_debug_schema import (
    Checked,
    FileStatus,
    Inferred,
    Loaded,
    Severity,
    Stage,
    StageFinished,
    StageReport,
    StageStarted,
    StageState,
    TargetFound,
)

ENDINGS = [
    pytest.param("CRASH", "crash 1:4-25", FileStatus.CRASHED, "capture stage of Model: killed by SIGSEGV", id="crash"),
    pytest.param(
        "HANG", "timeout 0:0-12", FileStatus.TIMEOUT, "120 s of work in the capture stage of Model", id="timeout"
    ),
    pytest.param("HOG", "out-of-memory 0:0-12", FileStatus.CRASHED, "more than 8 GiB", id="out of memory"),
    pytest.param("NOTORCH", "environment 0:0-12", FileStatus.FAILED, "install torch", id="start failed"),
    pytest.param("RAISES", "internal-error 0:0-12", FileStatus.FAILED, "inductor-debug itself failed", id="our fault"),
]


@pytest.mark.parametrize(("word", "expected", "status", "words"), ENDINGS)
async def test_a_run_that_breaks_off_says_how_and_keeps_what_it_found(
    desk: Desk, word: str, expected: str, status: FileStatus, words: str
) -> None:
    last = await desk.opened(body(f"x + BAD + {word}"))
    assert (last.state, last.report.status) == (FAILED, status)
    told = [finding for finding in last.report.findings if finding.rule != "dtype"]
    assert brief(told) == [expected]
    assert words in told[0].message
    loaded = word not in ("NOTORCH", "RAISES")
    assert [finding.rule for finding in last.report.findings if finding.rule == "dtype"] == ["dtype"] * loaded
    report = await desk.engine.check(str(desk.path()))
    assert (report.status, brief(report)) == (status, brief(last.report))


LOGS = [
    ("", []),
    ("hello\nworld\n", ["hello\nworld"]),
    ("\n".join(map(str, range(100))), ["\n".join(map(str, range(88, 100)))]),
    ("hi\nCurrent thread 0x1:\n  File x\n", ["Current thread 0x1:\n  File x"]),
    (
        'Stack (...):\n  File "/v/site-packages/torch/a.py"\n  File "/p/m.py"\n  File "/d/inductor_debug/b.py"\n',
        ['Stack (...):\n  File "/p/m.py"'],
    ),
    (
        "hello\nFatal Python error: Aborted\n\n  File x\n\nExtension modules: a, b\n",
        ["Fatal Python error: Aborted\n\n  File x"],
    ),
]


@pytest.mark.parametrize(("log", "told"), LOGS)
def test_what_the_log_says_of_the_end_is_related_information(log: str, told: list[str]) -> None:
    results = Results("/p/m.py", "x\n")
    conclude(results, JobEnd(JobOutcome.CRASHED, "killed by SIGSEGV", log), Settings("/p"))
    assert results.ending is not None
    assert [
        place.message.removeprefix("From the log of its process:\n") for place in results.ending.finding.related
    ] == told


LIMITS = [
    pytest.param("inferred", 1, False, [], id="nobody asked for it"),
    pytest.param("inferred", 1, True, [Severity.ERROR], id="ordered"),
    pytest.param("directive", 1, False, [Severity.ERROR], id="declared"),
    pytest.param("directive", 2, False, [], id="declared and seen to its end"),
]


@pytest.mark.parametrize("outcome", [JobOutcome.TIMEOUT, JobOutcome.OUT_OF_MEMORY])
@pytest.mark.parametrize(("origin", "stages", "ordered", "told"), LIMITS)
def test_a_limit_is_an_error_where_it_hides_what_was_asked_for_and_else_only_why_it_was_not_checked(
    origin: str, stages: int, ordered: bool, told: list[Severity], outcome: JobOutcome
) -> None:
    results = Results("/p/m.py", "x\n", (Stage.PREVIEW, Stage.MOCK))
    results.accept(Loaded([TargetFound("Model", 0, origin), TargetFound("Other", 0, "inferred")], [], [], 0.0))
    for stage in results.asked[:stages]:
        results.accept(StageFinished("Model", StageReport(stage, StageState.DONE, 0.1), []))
    conclude(results, JobEnd(outcome), Settings("/p"), ordered=ordered)
    assert results.ending is not None
    assert [finding.severity for finding in results.findings()] == told
    other = results.targets()[1]
    assert (other.inferred, other.checked, other.why) == (Inferred(), Checked.NO, results.ending.finding.headline)


@pytest.mark.parametrize("of_all", [False, True])
def test_a_file_that_took_all_of_its_time_gets_no_other_process(of_all: bool) -> None:
    results = Results("/p/m.py", "x\n", (Stage.PREVIEW, Stage.MOCK))
    results.accept(Loaded([TargetFound("Model", 0, "inferred"), TargetFound("Other", 0, "inferred")], [], [], 0.0))
    results.accept(StageStarted("Model", Stage.PREVIEW))
    end = JobEnd(JobOutcome.TIMEOUT, seconds=1200.0 if of_all else 120.0, of_all=of_all)
    assert gives_up(results, end, Settings("/p")) is not of_all
    if of_all:
        conclude(results, end, Settings("/p"))
        [model, _] = results.targets()
        assert model.why == (
            "Stopped after 1200 s of work in the run stage of Model: what `timeout` allows all of a file."
        )


def test_what_symbols_made_slow_is_run_once_more_with_numbers_before_it_is_given_up() -> None:
    results = Results("/p/m.py", "x\n", (Stage.PREVIEW, Stage.MOCK))
    end = JobEnd(JobOutcome.TIMEOUT, seconds=60.0)
    for fixed, given_up in ((["Model"], []), (["Model"], ["Model"])):
        results.accept(Loaded([TargetFound("Model", 0, "inferred")], [], [], 0.0))
        results.accept(StageStarted("Model", Stage.PREVIEW))
        results.accept(StageFinished("Model", StageReport(Stage.PREVIEW, StageState.DONE, 0.1), []))
        results.accept(StageStarted("Model", Stage.MOCK, symbols_may_slow=True))
        assert wants_numbers(results, end) or gives_up(results, end, Settings("/p"))
        assert (results.fixed, list(results.given_up)) == (fixed, given_up)


async def test_a_crash_is_not_tried_again_until_somebody_does_something(desk: Desk) -> None:
    crashing = body("CRASH")
    await desk.opened(crashing)
    desk.engine.settings_changed()
    other = desk.write("x = 1\n", "other.py")
    desk.engine.files_changed([other, str(desk.path())])
    assert (await desk.settled()).state is FAILED
    assert desk.ran == [crashing]
    desk.save()
    await desk.settled()
    assert desk.ran == [crashing, crashing]
    desk.type(body("x"))
    last = await desk.settled()
    assert (last.state, last.report.findings) == (DONE, [])


async def test_the_next_run_forgets_the_crash(desk: Desk) -> None:
    await desk.opened(body("CRASH"))
    desk.updates.clear()
    desk.type(body("x + BAD"))
    await desk.settled()
    running = [brief(update.report) for update in desk.updates if update.state.value == "running"]
    assert running[0] == []
    assert running[-1] == ["dtype 2:19-22"]
