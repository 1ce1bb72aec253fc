"""The command as a process: what it imports, how it takes signals, pipes and odd terminals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PATIENCE = 300
PROGRAM = """
import sys
sys.path[:0] = [{here!r}, {tests!r}]
from fake_pool import FakePool
from inductor_debug.engine.pool import supervisor
supervisor.WorkerPool = FakePool
from inductor_debug.cli.main import main
code = main(sys.argv[1:])
{after}
raise SystemExit(code)
"""


def program(after: str = "") -> str:
    """The command as Python runs it, with a pool without processes; `after` is what is done with its exit code."""
    return PROGRAM.format(here=str(HERE), tests=str(HERE.parent), after=after)


def start(*words: str, cwd: Path, after: str = "", **environ: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", program(after), *words],
        cwd=cwd,
        env={**os.environ, "XDG_CACHE_HOME": str(cwd / "cache"), **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_a_check_never_imports_torch_nor_the_language_server(project: Path) -> None:
    (project / "model.py").write_text("y = x.double()\n")
    after = "print([name for name in ('torch', 'pygls', 'lsprotocol', 'numpy') if name in sys.modules])"
    out, err = start("check", "model.py", cwd=project, after=after).communicate(timeout=PATIENCE)
    assert out.decode().splitlines()[-1] == "[]"
    assert err == b""


def test_the_command_itself_imports_no_subcommand(project: Path) -> None:
    program = (
        "import sys, inductor_debug.cli.main\n"
        "print([name for name in sys.modules if name in ('asyncio', 'torch', 'msgpack', 'pygls')\n"
        "       or name.startswith(('inductor_debug.engine', 'inductor_debug.rules', 'inductor_debug.report'))])"
    )
    out = subprocess.run([sys.executable, "-c", program], cwd=project, capture_output=True, check=True).stdout
    assert out.decode().strip() == "[]"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_it_at_once_without_a_traceback(project: Path, number: int, code: int) -> None:
    (project / "a.py").write_text("y = x.double()\n")
    (project / "b.py").write_text("y = 1  # wait\n")
    process = start("check", "a.py", "b.py", "--jobs", "1", cwd=project)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"a.py:1:1")  # so b.py is next, and never ends by itself
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert b"Traceback" not in err


def test_an_interrupted_survey_keeps_the_rows_that_it_has(project: Path) -> None:
    (project / "a.py").write_text("y = x.double()\n")
    (project / "b.py").write_text("y = 1  # wait\n")
    process = start("survey", "a.py", "b.py", "--jobs", "1", "--name", "two", cwd=project)
    results = project / "survey" / "two.jsonl"
    while process.poll() is None and not (results.exists() and results.read_text().count("\n") == 2):
        time.sleep(0.05)  # until a.py is done: b.py, which is next, never ends by itself
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert b"results are in survey/two.jsonl" in err
    assert results.read_text().count("\n") == 2


def test_a_reader_that_goes_away_is_no_error_worth_a_traceback(project: Path) -> None:
    for number in range(50):
        (project / f"m{number}.py").write_text("y = x.double()\n" * 200)
    process = start("check", ".", "--include", "*", cwd=project)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=PATIENCE) == 141
    assert err == b""


@pytest.mark.parametrize("format_name", ["text", "json", "sarif", "github", "junit"])
def test_a_terminal_that_knows_ascii_only_gets_question_marks(project: Path, format_name: str) -> None:
    (project / "model.py").write_text("s = '日本🙂'; y = x.double()\n", encoding="utf-8")
    process = start(
        "check", "model.py", "--format", format_name, cwd=project, PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C"
    )
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert b"Traceback" not in err
    if format_name == "text":
        assert b"s = '???'; y = x.double()" in out


def test_a_file_name_that_is_not_utf8(project: Path) -> None:
    name = os.fsdecode(b"m\xff.py")
    (project / name).write_text("y = x.double()\n")
    for format_name in ("text", "json", "sarif", "github", "junit"):
        process = start("check", ".", "--include", "*", "--format", format_name, cwd=project)
        _, err = process.communicate(timeout=PATIENCE)
        assert b"Traceback" not in err
        assert process.returncode == 1


@pytest.mark.parametrize("closed", ["1", "2", "1 2", "0 1 2"])
def test_closed_streams_are_no_crash(project: Path, closed: str) -> None:
    (project / "model.py").write_text("y = x.double()\n")
    written = program("open('code', 'w').write(str(code))")
    closing = "".join(f"os.close({number});" for number in closed.split())
    launcher = f"import os, sys; {closing} os.execv(sys.executable, [sys.executable, '-c', *sys.argv[1:]])"
    subprocess.run(
        [sys.executable, "-c", launcher, written, "check", "model.py"],
        cwd=project,
        env={**os.environ, "XDG_CACHE_HOME": str(project / "cache")},
        timeout=PATIENCE,
        check=False,
    )
    assert (project / "code").read_text() == "1"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("words", [["check", "model.py"], ["check", "model.py", "--format", "json"], ["explain"]])
def test_a_full_disk_is_told_in_a_line(project: Path, words: list[str]) -> None:
    (project / "model.py").write_text("y = x.double()\n")
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [sys.executable, "-c", program(), *words], cwd=project, stdout=full, stderr=subprocess.PIPE
        )
    assert ran.returncode == 2
    assert ran.stderr == b"inductor-debug: error: cannot write standard output: No space left on device\n"
