"""Interpreters that cannot serve are told apart, in a sentence that says what to do, and not tried in a loop."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from inductor_debug.engine.pool import fork_link, spare_source, supervisor
from inductor_debug.engine.pool.launch import WorkerEntry
from inductor_debug.engine.pool.supervisor import JobOutcome
from worker_pools import FAKE, Started, alive, all_gone, make_pool, notes, processes_of, read_pids, request, run, until

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")

BOTH = pytest.mark.parametrize("fork", [True, False], ids=["fork server", "spare process"])


def bare_interpreter(folder: Path) -> str:
    """The same Python without any installed package: neither torch nor msgpack."""
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    script = folder / "bare-python"
    script.write_text(f'#!/bin/sh\nexec "{base}" -S "$@"\n')
    script.chmod(0o755)
    return str(script)


def fake_interpreter(folder: Path, shell: str) -> str:
    script = folder / "fake-python"
    script.write_text(f"#!/bin/sh\necho started >> {folder}/starts\n{shell}\n")
    script.chmod(0o755)
    return str(script)


@BOTH
async def test_no_torch_is_told_with_the_command_that_installs_it(tmp_path: Path, fork: bool) -> None:
    pool = make_pool(tmp_path, fork=fork, interpreter=bare_interpreter(tmp_path), entry=WorkerEntry())
    end, _ = await run(pool, "")
    await pool.close()
    assert end.outcome is JobOutcome.START_FAILED
    assert end.detail.startswith("torch is not installed in ")
    assert "-m pip install torch" in end.detail
    assert "or name the interpreter that has it, with --python or, in an editor, " in end.detail
    assert pool.start_failure == end.detail


@BOTH
async def test_a_python_without_msgpack_is_lent_ours(tmp_path: Path, fork: bool) -> None:
    pool = make_pool(tmp_path, fork=fork, interpreter=bare_interpreter(tmp_path))
    found = await notes(pool, "describe")
    await pool.close()
    assert found[-1] in ("msgpack=msgpack._cmsgpack", "msgpack=msgpack.fallback")


@BOTH
@pytest.mark.parametrize(
    ("shell", "told"),
    [
        ("exit 3", "exited with code 3 while starting"),
        ("echo 'libfoo.so: cannot open shared object file' >&2; exit 127", "libfoo.so: cannot open shared object file"),
        ("echo 'SyntaxError: invalid syntax' >&2; exit 1", "is too old; 3.10 or newer is needed"),
        ("kill -SEGV $$", "killed by SIGSEGV while starting"),
    ],
)
async def test_an_interpreter_that_breaks_is_told_with_its_last_words(
    tmp_path: Path, fork: bool, shell: str, told: str
) -> None:
    pool = make_pool(tmp_path, fork=fork, interpreter=fake_interpreter(tmp_path, shell))
    end, _ = await run(pool, "nothing")
    await pool.close()
    assert end.outcome is JobOutcome.START_FAILED
    assert told in end.detail


@BOTH
async def test_an_interpreter_that_takes_too_long_is_told_with_what_may_be_the_reason(
    tmp_path: Path, fork: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (fork_link, spare_source):
        monkeypatch.setattr(module, "START_SECONDS", 0.2)
    pool = make_pool(tmp_path, fork=fork, interpreter=fake_interpreter(tmp_path, "exec sleep 600"))
    end, _ = await run(pool, "nothing")
    await pool.close()
    assert end.outcome is JobOutcome.START_FAILED
    assert "was not ready within 3 minutes and was stopped: the first import of a torch" in end.detail
    assert end.detail.endswith("Check again when it has calmed down.")


@BOTH
async def test_a_missing_interpreter_or_project_is_named(tmp_path: Path, fork: bool) -> None:
    pool = make_pool(tmp_path, fork=fork, interpreter="/no/such/python")
    assert (await run(pool, "nothing"))[0].detail.startswith("the interpreter /no/such/python does not exist")
    pool = make_pool(tmp_path / "gone", fork=fork)
    assert (await run(pool, "nothing"))[0].detail == f"the project folder {tmp_path / 'gone'} does not exist"


@BOTH
async def test_a_start_that_failed_is_tried_again_by_a_later_job_only(
    tmp_path: Path, fork: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def starts() -> int:
        return len((tmp_path / "starts").read_text().splitlines())

    pool = make_pool(tmp_path, fork=fork, interpreter=fake_interpreter(tmp_path, "exit 1"))
    first, _ = await run(pool, "nothing")
    assert (await run(pool, "nothing"))[0] == first
    assert starts() == 1, "jobs that come in quick succession share one attempt"
    monkeypatch.setattr(supervisor, "BACK_OFF_SECONDS", 0.0)
    (tmp_path / "fake-python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    assert (await run(pool, "nothing"))[0].outcome is JobOutcome.FINISHED
    assert pool.start_failure is None
    await pool.close()


@BOTH
@pytest.mark.parametrize(("killed", "outcome"), [(1, JobOutcome.FINISHED), (9, JobOutcome.START_FAILED)])
async def test_a_start_that_was_killed_is_tried_once_more(
    tmp_path: Path, fork: bool, killed: int, outcome: JobOutcome
) -> None:
    shell = f'[ $(wc -l < {tmp_path}/starts) -le {killed} ] && kill -KILL $$; exec "{sys.executable}" "$@"'
    pool = make_pool(tmp_path, fork=fork, interpreter=fake_interpreter(tmp_path, shell))
    end, _ = await run(pool, "nothing")
    await pool.close()
    assert end.outcome is outcome
    if outcome is JobOutcome.START_FAILED:
        assert "killed by SIGKILL; the system may have run out of memory while starting" in end.detail
        assert len((tmp_path / "starts").read_text().splitlines()) == 2


@BOTH
async def test_a_warm_up_that_raises_is_told(tmp_path: Path, fork: bool) -> None:
    pool = make_pool(tmp_path, fork=fork, entry=replace(FAKE, warm_up="fake_jobs:broken_warm_up"))
    end, _ = await run(pool, "nothing")
    await pool.close()
    assert end.outcome is JobOutcome.START_FAILED
    assert "exited with code 1 while starting" in end.detail


@BOTH
async def test_a_pool_can_be_closed_while_it_starts(tmp_path: Path, fork: bool) -> None:
    pool = make_pool(tmp_path, fork=fork, entry=replace(FAKE, warm_up="fake_jobs:slow_warm_up"))
    start = asyncio.ensure_future(pool.start())
    assert await until(lambda: bool(processes_of(tmp_path)))
    await pool.close()
    await asyncio.gather(start, return_exceptions=True)
    assert await until(lambda: not processes_of(tmp_path))


KILLED_SUPERVISOR = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from worker_pools import make_pool, request

async def main():
    pool = make_pool(Path(sys.argv[2]), fork=sys.argv[3] == "True")
    await pool.run(request(sys.argv[4]), lambda event: print(*getattr(event, "notes", []), flush=True), timeout=600)

asyncio.run(main())
"""


@BOTH
@pytest.mark.parametrize("text", ["hang-in-c", "children {pids} hang-in-c"])
async def test_nothing_survives_a_killed_supervisor(tmp_path: Path, fork: bool, text: str) -> None:
    pids = tmp_path / "pids"
    if "children" in text and not fork:
        pytest.skip("without a fork server nobody adopts what a dead process left behind")
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED_SUPERVISOR, str(Path(__file__).parent), str(tmp_path), str(fork),
        text.format(pids=pids), stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert program.stdout is not None
    worker = int(await program.stdout.readline())
    if "children" in text:
        assert await until(pids.exists)
    started = [worker, *processes_of(tmp_path), *(map(int, pids.read_text().split()) if pids.exists() else [])]
    os.kill(program.pid, signal.SIGKILL)
    await program.wait()
    assert await all_gone(started)
    assert await until(lambda: not processes_of(tmp_path))


@BOTH
async def test_what_a_killed_daemon_left_in_the_temporary_folder_goes_with_the_next_start(
    tmp_path: Path, fork: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    theirs = temporary / "inductor-debug-other"
    theirs.mkdir()

    async def daemon() -> asyncio.subprocess.Process:
        """One that has a job which does not end; its folder is there."""
        before = set(temporary.iterdir())
        program = await asyncio.create_subprocess_exec(
            sys.executable, "-c", KILLED_SUPERVISOR, str(Path(__file__).parent), str(tmp_path), str(fork), "sleep",
            stdout=asyncio.subprocess.PIPE, env={**os.environ, "TMPDIR": str(temporary)},
        )  # fmt: skip
        assert program.stdout is not None
        await program.stdout.readline()
        assert len(set(temporary.iterdir()) - before) == 1
        return program

    living = await daemon()
    (kept,) = set(temporary.iterdir()) - {theirs}
    killed = await daemon()
    (left,) = set(temporary.iterdir()) - {theirs, kept}
    (left / "written by a job").write_text("")
    killed.kill()
    await killed.wait()
    assert left.exists()

    pool = make_pool(tmp_path, fork=fork)
    await pool.start()
    assert await until(lambda: not left.exists())
    await pool.close()
    assert sorted(temporary.iterdir()) == sorted([theirs, kept])
    living.kill()
    await living.wait()
    assert await until(lambda: not processes_of(tmp_path))


STARTING = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from worker_pools import FAKE, make_pool

entry = replace(FAKE, warm_up="fake_jobs:slow_warm_up")
pool = make_pool(Path(sys.argv[2]), fork=sys.argv[3] == "True", entry=entry, interpreter=sys.argv[4])
asyncio.run(pool.start())
"""


@BOTH
@pytest.mark.parametrize(
    "shell",
    [
        'while ! [ -e "$0.go" ]; do sleep 0.01; done; exec "{python}" "$@"',  # no signal was asked for yet
        '"{python}" "$@"',  # its parent lives on
    ],
    ids=["before its Python runs", "while it gets ready, below a wrapper"],
)
async def test_nothing_survives_a_supervisor_that_is_killed_while_it_starts(
    tmp_path: Path, fork: bool, shell: str
) -> None:
    interpreter = fake_interpreter(tmp_path, shell.format(python=sys.executable))
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", STARTING, str(Path(__file__).parent), str(tmp_path), str(fork), interpreter
    )
    count = 1 if "exec" in shell else 2
    assert await until(lambda: len(processes_of(tmp_path)) == count)
    program.kill()
    await program.wait()
    Path(f"{interpreter}.go").touch()
    assert await until(lambda: not processes_of(tmp_path))


QUESTION = """
import asyncio, sys
from inductor_debug.engine.orders.proving import prove
from inductor_debug.engine.pool.launch import Launch, WorkerEntry
from inductor_debug.engine.pool.short_process import run_to_end
from inductor_debug.system.clean_process import prove_all

folder, kind = sys.argv[1:]
script = f"import os, time; print(os.getpid(), file=open({folder + '/pids'!r}, 'w'), flush=True); time.sleep(600)"
if kind == "prove":
    asyncio.run(prove(script, interpreter=sys.executable))
elif kind == "prove_all":
    prove_all([script], interpreter=sys.executable)
else:
    open(folder + "/asleep.py", "w").write(script)
    run_to_end(Launch(sys.executable, folder, {}, WorkerEntry(extra_path=(folder,))), "asleep", {}, 600)
"""


@pytest.mark.parametrize("kind", ["prove", "prove_all", "run_to_end"])
async def test_what_is_asked_or_proved_does_not_survive_who_asked(tmp_path: Path, kind: str) -> None:
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", QUESTION, str(tmp_path), kind)
    pids = tmp_path / "pids"
    assert await until(lambda: pids.exists() and pids.read_text().endswith("\n"))
    program.kill()
    await program.wait()
    assert await all_gone(read_pids(pids))


@BOTH
async def test_sigterm_does_not_save_a_job(tmp_path: Path, fork: bool) -> None:
    pool = make_pool(tmp_path, fork=fork)
    started = Started()
    job = asyncio.ensure_future(pool.run(request("hang-in-c"), started, timeout=60))
    pid = await started.pid()
    os.kill(pid, signal.SIGTERM)
    assert alive(pid)
    await pool.close()
    assert await all_gone([pid])
    await asyncio.gather(job, return_exceptions=True)
