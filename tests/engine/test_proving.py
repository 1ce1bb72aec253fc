"""A reproducer is proved in a process that knows nothing of us, of the project or of the user's environment."""

from __future__ import annotations

import asyncio
import sys
import time
import venv
from pathlib import Path

import pytest
from inductor_debug.engine.orders.proving import prove
from inductor_debug.system.clean_process import prove_all


@pytest.mark.parametrize(
    ("script", "verified", "why"),
    [
        ("raise SystemExit(0)", True, ""),
        ("raise SystemExit(1)", False, "the failure does not reproduce in a clean process"),
        ("import no_such_module", False, "No module named 'no_such_module'"),
        ("def broken(:", False, "SyntaxError"),
        ("import os; os.kill(os.getpid(), 11)", False, "killed by signal 11"),
        ("import time; time.sleep(60)", False, "did not end within 0.5 s"),
    ],
)
async def test_the_exit_status_is_the_verdict(script: str, verified: bool, why: str) -> None:
    patience = 0.5 if "sleep" in script else 60.0
    proof = await prove(script, interpreter=sys.executable, patience=patience)
    assert proof.verified is verified
    assert why in proof.why


async def test_nothing_of_the_users_is_in_reach(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("MY_TOKEN", "secret")
    monkeypatch.chdir(tmp_path)
    script = (
        "import os, sys\nprint(sorted(os.environ), os.getcwd())\nassert 'MY_TOKEN' not in os.environ\nimport mine\n"
    )
    proof = await prove(script, interpreter=sys.executable)
    assert "No module named 'mine'" in proof.why
    assert str(tmp_path) not in proof.output.splitlines()[0]


async def test_files_lie_beside_the_script_and_nothing_stays() -> None:
    script = (
        "import pathlib\nprint(pathlib.Path(__file__).parent)\npathlib.Path(__file__).with_name('values').read_bytes()"
    )
    proof = await prove(script, {"values": b"1"}, interpreter=sys.executable)
    assert proof.verified
    assert not Path(proof.output.strip()).exists()


async def test_a_proof_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    script = f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)"
    task = asyncio.ensure_future(prove(script, interpreter=sys.executable))
    while not (mark.exists() and mark.read_text()):
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    deadline = time.monotonic() + 60
    while Path(f"/proc/{mark.read_text()}/cmdline").exists() and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    assert not Path(f"/proc/{mark.read_text()}/cmdline").exists()


async def test_an_interpreter_that_is_not_there_is_told() -> None:
    assert "could not be run" in (await prove("", interpreter="/nowhere/python")).why


async def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **kwargs: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    proof = await prove("", interpreter=sys.executable)
    assert proof.why == "the proof could not be run: No space left on device"


def test_several_scripts_are_proved_side_by_side_without_a_loop() -> None:
    scripts = ["", "raise SystemExit(1)", "import time; time.sleep(60)", "import os; os.kill(os.getpid(), 11)"]
    proofs = prove_all(scripts, interpreter=sys.executable, patience=6.0)
    assert [proof.verified for proof in proofs] == [True, False, False, False]
    assert "did not end within 6 s" in proofs[2].why
    assert "signal 11" in proofs[3].why
    (lost,) = prove_all([""], interpreter="/nowhere/python")
    assert "could not be run" in lost.why


NEEDS_TORCH = """
import sys, traceback
try:
    import torch
except ImportError:
    traceback.print_exc()
    sys.exit(2)
sys.exit(0 if torch.mine else 1)
"""


async def test_torch_may_be_among_the_users_own_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    folder = "Scripts" if sys.platform == "win32" else "bin"
    interpreter = str(next((tmp_path / "bare" / folder).glob("python*")))
    assert "No module named 'torch'" in (await prove(NEEDS_TORCH, interpreter=interpreter)).why
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "torch.py").write_text("mine = True")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "own"))
    assert (await prove(NEEDS_TORCH, interpreter=interpreter)).verified
    assert prove_all([NEEDS_TORCH], interpreter=interpreter)[0].verified
