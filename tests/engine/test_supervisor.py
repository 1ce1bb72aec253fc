"""Whatever user code does to its process, the pool says how the job ended, and the next job runs.

The same contract for children of a fork server and for spare processes; no torch, so that it is quick.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from inductor_debug.engine.pool.supervisor import JobOutcome, WorkerPool
from inductor_debug_schema import StageFinished
from worker_pools import (
    FAKE,
    PATIENCE,
    Started,
    alive,
    all_gone,
    make_pool,
    notes,
    processes_of,
    read_pids,
    request,
    run,
    until,
)

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")


@pytest.fixture(params=[True, False], ids=["fork server", "spare process"])
async def pool(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[WorkerPool]:
    pool = make_pool(tmp_path, fork=request.param, environment={"FAKE_VARIABLE": "set"})
    yield pool
    await pool.close()
    assert await until(lambda: not processes_of(tmp_path)), "everything is gone"


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("exit 3", "exited with code 3"),
        ("exit 0", "exited with code 0"),
        ("sys-exit 4", "exited with code 4"),
        ("segfault", "killed by SIGSEGV"),
        ("abort", "killed by SIGABRT"),
        ("kill", "killed by SIGKILL; the system may have run out of memory"),
        ("raise", "inductor-debug itself failed: KeyError: 'ours'"),
        ("garbage", "sent something that is no message: a frame of 1751477356 bytes is over the limit of 33554432"),
        ("oversized", "sent something that is no message: a frame of 2147483647 bytes is over the limit of 33554432"),
        ("not-a-message", "sent something that is no message: a frame must hold a map with string keys"),
        ("unknown-event", "sent something that is no message: unknown event None"),
        ("close-channels", "closed the connection that it reports on"),
    ],
)
async def test_a_job_that_dies_is_told_in_plain_words_and_the_next_one_runs(
    pool: WorkerPool, text: str, detail: str
) -> None:
    end, _ = await run(pool, text)
    assert (end.outcome, end.detail) == (JobOutcome.CRASHED, detail)
    assert (await run(pool, "nothing"))[0].outcome is JobOutcome.FINISHED


@pytest.mark.parametrize("text", ["spin", "hang-in-c", "sleep"])
async def test_a_job_that_hangs_is_stopped_and_its_stack_kept(pool: WorkerPool, text: str) -> None:
    end, _ = await run(pool, text, timeout=1.5)
    assert (end.outcome, end.detail) == (JobOutcome.TIMEOUT, "stopped after 1.5 s")
    assert 'fake_jobs.py", line' in end.log_tail
    assert (await run(pool, "nothing"))[0].outcome is JobOutcome.FINISHED


async def test_the_limit_is_of_one_stage_and_that_of_a_file_ten_times_as_long(pool: WorkerPool) -> None:
    end, events = await run(pool, "stages 5 0.5", timeout=1.5)
    assert end.outcome is JobOutcome.FINISHED
    assert sum(isinstance(event, StageFinished) for event in events) == 5
    end, _ = await run(pool, "stages 2 600", timeout=0.3)
    assert (end.outcome, end.detail, end.of_all) == (JobOutcome.TIMEOUT, "stopped after 0.3 s", False)
    end, events = await run(pool, "stages 1000 0.02", timeout=0.3)
    assert (end.outcome, end.detail, end.of_all) == (JobOutcome.TIMEOUT, "stopped after 3 s", True)
    assert any(isinstance(event, StageFinished) for event in events)


async def test_what_may_be_quick_with_numbers_has_half_the_time_with_symbols(pool: WorkerPool) -> None:
    end, _ = await run(pool, "symbols 600", timeout=0.6)
    assert (end.outcome, end.detail, end.of_all) == (JobOutcome.TIMEOUT, "stopped after 0.3 s", False)
    assert (await run(pool, "symbols 0.1", timeout=60))[0].outcome is JobOutcome.FINISHED


async def test_a_job_that_hides_its_stack_is_stopped_all_the_same(pool: WorkerPool) -> None:
    end, _ = await run(pool, "faulthandler-off", timeout=0.3)
    assert end.outcome is JobOutcome.TIMEOUT


@pytest.mark.parametrize("text", ["hog", "hog-in-children"])
async def test_a_job_and_its_children_share_one_memory_limit(pool: WorkerPool, text: str) -> None:
    end, _ = await run(pool, text, memory_limit=350 << 20)
    assert end.outcome is JobOutcome.OUT_OF_MEMORY
    assert end.detail.endswith("of memory, more than the 350 MiB allowed")


async def test_what_user_code_prints_goes_to_the_log(pool: WorkerPool, tmp_path: Path) -> None:
    end, _ = await run(pool, "print from the model: \u2603")
    assert end.log_tail == "from the model: \u2603\n"
    log = (tmp_path / "logs" / "worker.log").read_text(encoding="utf-8")
    assert "job 1: /project/model.py\nfrom the model: \u2603\n" in log


async def test_a_flood_of_prints_neither_blocks_nor_fills_the_disk(pool: WorkerPool, tmp_path: Path) -> None:
    end, _ = await run(pool, "flood 30")
    assert end.outcome is JobOutcome.FINISHED
    assert end.log_tail.endswith("x\nthe end of the flood\n")
    assert (tmp_path / "logs" / "worker.log").stat().st_size < 10 << 20


async def test_stdin_is_empty(pool: WorkerPool) -> None:
    assert await notes(pool, "stdin") == ["''", "b''"]


async def test_closing_the_standard_streams_closes_nothing_of_ours(pool: WorkerPool) -> None:
    assert (await run(pool, "close"))[0].outcome is JobOutcome.FINISHED


async def test_a_forked_copy_of_the_job_says_nothing(pool: WorkerPool) -> None:
    assert await notes(pool, "fork") == ["parent"]


async def test_multiprocessing_works(pool: WorkerPool) -> None:
    assert await notes(pool, "multiprocessing") == ["6"]


async def test_programs_that_user_code_starts_inherit_no_descriptor(pool: WorkerPool) -> None:
    assert await notes(pool, "inherits") == ["0 1 2 3"], "3 is the listing's own"


async def test_threads_left_running_do_not_keep_a_job(pool: WorkerPool) -> None:
    assert (await run(pool, "threads"))[0].outcome is JobOutcome.FINISHED


@pytest.mark.parametrize("then", ["", " sleep", " exit"])
async def test_no_process_that_a_job_started_outlives_it(pool: WorkerPool, tmp_path: Path, then: str) -> None:
    if then == " exit" and "spare" in os.environ.get("PYTEST_CURRENT_TEST", ""):
        pytest.skip("without a fork server nobody adopts what a dead process left in other sessions")
    pids = tmp_path / "pids"
    job = asyncio.ensure_future(run(pool, f"children {pids}{then}", timeout=60))
    assert await until(pids.exists)
    if then == " sleep":
        job.cancel()
    await asyncio.gather(job, return_exceptions=True)
    assert await all_gone(read_pids(pids))


async def test_user_code_finds_its_project_and_none_of_our_modules(pool: WorkerPool, tmp_path: Path) -> None:
    assert await notes(pool, "describe") == [
        f"cwd={tmp_path}",
        "argv=['']",
        "leader=True",
        "path=[]",
        "variable=set",
        "msgpack=msgpack._cmsgpack",
    ]


async def test_cancelling_kills_the_job_and_leaves_the_pool_usable(pool: WorkerPool) -> None:
    started = Started()
    job = asyncio.ensure_future(pool.run(request("hang-in-c"), started, timeout=60))
    pid = await started.pid()
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert await all_gone([pid])
    assert (await run(pool, "nothing"))[0].outcome is JobOutcome.FINISHED


async def test_jobs_run_side_by_side_in_processes_of_their_own(pool: WorkerPool) -> None:
    jobs, pids = [], set()
    for _ in range(3):
        started = Started()
        jobs.append(asyncio.ensure_future(pool.run(request("sleep"), started, timeout=60)))
        pids.add(await started.pid())
    assert len(pids) == 3
    jobs[0].cancel()
    await asyncio.wait(jobs[:1])
    assert (await run(pool, "exit 5"))[0].detail == "exited with code 5"
    assert not jobs[1].done()
    assert not jobs[2].done()
    await pool.close()
    assert await all_gone(list(pids))
    assert all(job.done() for job in jobs)


async def test_a_listener_that_raises_ends_its_job_only(pool: WorkerPool) -> None:
    def listen(_event: object) -> None:
        raise LookupError("the listener's own")

    with pytest.raises(LookupError):
        await pool.run(request("sleep"), listen, timeout=60)
    assert (await run(pool, "nothing"))[0].outcome is JobOutcome.FINISHED


async def test_versions_are_known_after_a_start(pool: WorkerPool) -> None:
    assert pool.python_version is None
    await asyncio.gather(pool.start(), pool.start())
    assert (pool.python_version, pool.torch_version) == (sys.version.split()[0], "none")
    assert pool.start_failure is None


async def test_a_closed_pool_runs_nothing(pool: WorkerPool) -> None:
    await pool.close()
    assert (await run(pool, "nothing"))[0].outcome is JobOutcome.START_FAILED


async def test_a_fork_server_that_dies_is_replaced_by_the_next_job_only(tmp_path: Path) -> None:
    pool = make_pool(tmp_path)
    try:
        started = Started()
        job = asyncio.ensure_future(pool.run(request("sleep"), started, timeout=60))
        pid = await started.pid()
        server = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(server, signal.SIGKILL)
        assert (await job).outcome is JobOutcome.CRASHED
        assert await all_gone([pid, server])
        assert await until(lambda: not processes_of(tmp_path))
        assert (await run(pool, "nothing"))[0].outcome is JobOutcome.FINISHED
    finally:
        await pool.close()


async def test_third_party_modules_are_imported_ahead_of_time_and_bad_ones_are_not(tmp_path: Path) -> None:
    library = tmp_path / "library" / "site-packages"
    library.mkdir(parents=True)
    (library / "good_module.py").write_text("VALUE = 1\n")
    (library / "thread_module.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
    )
    (library / "deadly_module.py").write_text("import os\nos._exit(7)\n")
    (library / "late_module.py").write_text("VALUE = 2\n")
    (tmp_path / "users_own.py").write_text("VALUE = 3\n")
    environment = {"PYTHONPATH": os.pathsep.join([str(library), str(tmp_path)])}
    pool = make_pool(tmp_path, environment=environment)
    names = ["good_module", "thread_module", "deadly_module", "users_own", "missing_module", "late_module"]
    try:
        await run(pool, "uses " + ",".join(names))
        end = asyncio.get_running_loop().time() + PATIENCE
        while await notes(pool, "imported late_module") != ["True"] and asyncio.get_running_loop().time() < end:
            pass  # each asks a new child
        imported = [name for name in names if await notes(pool, f"imported {name}") == ["True"]]
        assert imported == ["good_module", "late_module"]
    finally:
        await pool.close()


async def test_alive_knows_this_process() -> None:
    assert alive(os.getpid())
    assert FAKE.script.is_file()
