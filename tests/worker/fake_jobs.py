"""A worker's job without torch, that misbehaves as told: the first word of the request's text says how.

It runs inside real worker processes (`WorkerEntry(job="fake_jobs:run", ...)`), so it imports nothing from the tests.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import multiprocessing
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inductor_debug_schema import (
    Event,
    FileStatus,
    Finished,
    JobRequest,
    Loaded,
    Stage,
    StageFinished,
    StageReport,
    StageStarted,
    StageState,
)


def warm_up() -> dict[str, Any]:
    return {"python": platform.python_version(), "torch": "none"}


def slow_warm_up() -> dict[str, Any]:
    time.sleep(600)
    return {}


def broken_warm_up() -> dict[str, Any]:
    raise RuntimeError("the warm-up\nraises")


def run(request: JobRequest, emit: Callable[[Event], None]) -> None:
    word, _, argument = request.text.partition(" ")
    if word == "hang-in-c":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    emit(Loaded([], [], argument.split(",") if word == "uses" else [], 0.0, notes=[str(os.getpid())]))
    if word == "stages":
        work_in_stages(argument, emit)
    elif word == "symbols":
        emit(StageStarted("Model", Stage.MOCK, symbols_may_slow=True))
        time.sleep(float(argument))
    else:
        BEHAVIOURS[word](argument)
    notes = [str(note) for note in NOTES]
    emit(Finished(FileStatus.CLEAN, dependencies=notes))


def work_in_stages(argument: str, emit: Callable[[Event], None]) -> None:
    """So many stages, of so many seconds each."""
    count, seconds = argument.split()
    for number in range(int(count)):
        time.sleep(float(seconds))
        emit(StageFinished(f"Model{number}", StageReport(Stage.PREVIEW, StageState.DONE, 0.1), []))


NOTES: list[Any] = []


def channels() -> list[int]:
    """The sockets and pipes above the standard streams: where user code would have to write to reach us."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if int(name) > 2 and target.startswith(("socket:", "pipe:")):
            found.append(int(name))
    return found


def write_to_channels(data: bytes) -> None:
    for descriptor in channels():
        with contextlib.suppress(OSError):
            os.write(descriptor, data)
    time.sleep(600)


def hang_in_c(_: str) -> None:
    libc = ctypes.PyDLL(None)  # keeps the interpreter's lock: no Python code runs meanwhile
    while True:
        libc.usleep(100_000)


def spin(_: str) -> None:
    while True:
        pass


def flood(argument: str) -> None:
    line = "x" * 1023
    for _ in range(int(argument) * 1024):
        print(line)
    print("the end of the flood", file=sys.stderr)


def read_stdin(_: str) -> None:
    NOTES.append(repr(sys.stdin.read()))
    NOTES.append(repr(os.read(0, 10)))


def close_standard_streams(_: str) -> None:
    sys.stdout.close()
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    os.closerange(3, 256)
    Path(os.devnull).open()  # noqa: SIM115 (takes number 0)


def fork_and_emit(_: str) -> None:
    """A child that returns from the job, as a forgotten os.fork() at module level would."""
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
    NOTES.append("parent" if pid else "child")


def use_multiprocessing(_: str) -> None:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        NOTES.append(sum(pool.map(abs, [-1, -2, -3])))


def leave_threads(_: str) -> None:
    for daemon in (True, False):
        threading.Thread(target=time.sleep, args=(600,), daemon=daemon).start()


SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]


def leave_children(argument: str) -> None:
    """A child in the group, a child in a session of its own, and a daemon whose parent is gone; ids go to a file."""
    plain = subprocess.Popen(SLEEPER)
    apart = subprocess.Popen(SLEEPER, start_new_session=True)
    code = f"import subprocess; print(subprocess.Popen({SLEEPER!r}, start_new_session=True, stdout=2).pid)"
    daemon = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout
    path, _, then = argument.partition(" ")
    Path(path + ".new").write_text(f"{plain.pid} {apart.pid} {daemon}")
    os.rename(path + ".new", path)
    if then:
        BEHAVIOURS[then]("")


def hog(_: str) -> None:
    kept = []
    while True:
        kept.append(b"x" * (16 << 20))
        time.sleep(0.001)


def hog_in_children(_: str) -> None:
    for _number in range(3):
        if os.fork() == 0:
            kept = b"x" * (150 << 20)
            time.sleep(600)
            del kept
    time.sleep(600)


def inherits(_: str) -> None:
    """Which descriptors a program started by user code can see."""
    code = "import os; print(*sorted(int(n) for n in os.listdir('/proc/self/fd')))"
    NOTES.append(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True).stdout.strip())


def describe(_: str) -> None:
    NOTES.extend([f"cwd={os.getcwd()}", f"argv={sys.argv}", f"leader={os.getsid(0) == os.getpid() == os.getpgrp()}"])
    NOTES.append(f"path={[entry for entry in sys.path if entry.endswith('worker') and 'inductor_debug' in entry]}")
    NOTES.append(f"variable={os.environ.get('FAKE_VARIABLE')}")
    NOTES.append(f"msgpack={sys.modules['msgpack'].Packer.__module__}")


def imported(argument: str) -> None:
    NOTES.append(argument in sys.modules)


def raise_in_our_code(_: str) -> None:
    raise KeyError("ours")


BEHAVIOURS: dict[str, Callable[[str], Any]] = {
    "nothing": lambda _: None,
    "uses": lambda _: None,
    "exit": lambda argument: os._exit(int(argument)),
    "sys-exit": lambda argument: sys.exit(int(argument)),
    "raise": raise_in_our_code,
    "segfault": lambda _: ctypes.string_at(1),
    "abort": lambda _: os.abort(),
    "kill": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "spin": spin,
    "sleep": lambda _: time.sleep(600),
    "hang-in-c": hang_in_c,
    "garbage": lambda _: write_to_channels(b"hello, I am no frame"),
    "oversized": lambda _: write_to_channels(b"\x7f\xff\xff\xff"),
    "not-a-message": lambda _: write_to_channels(b"\x00\x00\x00\x01\x07"),
    "unknown-event": lambda _: write_to_channels(b"\x00\x00\x00\x0c\x81\xa4kind\xa5event"),
    "close-channels": lambda _: [os.close(descriptor) for descriptor in channels()] and time.sleep(600),
    "print": lambda argument: print(argument),
    "flood": flood,
    "stdin": read_stdin,
    "close": close_standard_streams,
    "fork": fork_and_emit,
    "multiprocessing": use_multiprocessing,
    "threads": leave_threads,
    "children": leave_children,
    "hog": hog,
    "hog-in-children": hog_in_children,
    "inherits": inherits,
    "describe": describe,
    "imported": imported,
    "faulthandler-off": lambda _: (faulthandler.disable(), signal.signal(signal.SIGUSR2, signal.SIG_IGN), spin("")),
    "socket": lambda _: socket.socketpair(),
}
