"""The soak: edits, saves, cancels and reloads at random over a real editor connection, while things go wrong around it.

The daemon, its fork server and its workers are killed (`kill -9`), the disk is full, the clock is set, the interpreter
is gone (`faults/`). After each settling the findings must be those of a fresh check of the same text, whatever is still
wrong; while the interpreter is gone an analysis ends all the same; after each end of a daemon no process of it may be
left. At the end, with all as it should be, graphs are kept again, and every file of ours is whole. How memory grows is
printed. It lasts as long as it is told, and on, until as much was done as was asked for: a slow machine does the same.
Ctrl-C ends it as its time would, with all that is looked at in the end.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inductor_debug.artifacts.errors import ArtifactError
from inductor_debug.artifacts.graph_columns import SUFFIX, decode
from inductor_debug.engine.pool.supervisor import BACK_OFF_SECONDS
from inductor_debug.server.rpc.headless_client import HeadlessEditor, ServerError

from inductor_debug_benchmarks.editor_session import TOGGLE, TROUBLE
from inductor_debug_benchmarks.faults import full_disk
from inductor_debug_benchmarks.faults.lost_interpreter import LostInterpreter
from inductor_debug_benchmarks.faults.set_clock import SetClock
from inductor_debug_benchmarks.outcome import BenchmarkOutcome
from inductor_debug_benchmarks.process_usage import descendants, naming, resident_bytes, seen

_MODELS = ("mlp", "autoencoder", "mixer")
_EDITS = (TOGGLE, TROUBLE, "print(x)", "x = x.undefined_name", "x = x[:, :", "x = x * x.sum().item()", "x = x + 1")
"""What the line of a model that is edited becomes: sound, wrong in several ways, and no Python."""
DEEDS = {
    "edit": 60, "save": 15, "cancel": 6, "graph": 4, "reload": 4, "kill worker": 6, "kill fork server": 3,
    "kill daemon": 3, "fill or free the disk": 4, "set the clock": 4, "lose the interpreter": 2,
}  # fmt: skip
"""What is done, and how often in proportion."""
_CALM = ("edit", "edit", "edit", "edit", "save", "graph")
"""What is done at last, while nothing goes wrong, so that memory can be measured."""
_CALM_PART = 0.3
"""Of the time."""
_STRETCH = (1, 60)
"""Deeds between two settlings, at least and at most."""
_CLOCKS = (0, -3600, 3600, 10 * 86_400, -400 * 86_400)
"""Seconds by which the clock may be off."""
_PATIENCE = 180.0
_BACKED_OFF = BACK_OFF_SECONDS + 1.0
"""Seconds after which a start that failed is tried again, with some until its failure has come to be known."""
_ENDING = 20.0
_MOST_GROWTH = 100_000
"""Bytes for each edit."""
_BESIDE = frozenset({"not-run", "not-checked"})
"""Hints of editors, which are no findings."""
Shown = set[tuple[str, int, int]]


@dataclass
class SoakLog:
    """What happened, and what went wrong."""

    deeds: Counter[str] = field(default_factory=Counter)
    killed: Counter[str] = field(default_factory=Counter)
    """What `kill -9` met, and how often; a deed may find nothing to kill."""
    settled: int = 0
    settled_with: Counter[str] = field(default_factory=Counter)
    """What was wrong while it settled, and how often."""
    hung: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """What was not kept although there was room."""
    differences: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    artifacts: int = 0
    memory: list[list[tuple[int, int]]] = field(default_factory=list)
    """By daemon and fork server: how many edits there had been, and the resident bytes of both."""

    def slope(self) -> float | None:
        """Bytes for each edit, of the processes with the most measurements; None where there are too few."""
        points = max(self.memory, key=len, default=[])[1:]  # the first is from before everything is loaded
        if len(points) < 4:
            return None
        middle = sum(at for at, _ in points) / len(points)
        level = sum(size for _, size in points) / len(points)
        spread = sum((at - middle) ** 2 for at, _ in points)
        return sum((at - middle) * (size - level) for at, size in points) / spread if spread else None


class _Session:
    """One window after the other, over the same files."""

    def __init__(self, folder: Path, chance: random.Random, log: SoakLog) -> None:
        self._folder, self._chance, self._log = folder, chance, log
        self._paths = [folder / f"{name}.py" for name in _MODELS]
        self._clean = {path: path.read_text(encoding="utf-8") for path in self._paths}
        self._texts = dict(self._clean)
        self._versions = dict.fromkeys(self._paths, 0)
        self._shown: dict[str, Shown] = {}
        self._done: dict[str, int] = {}
        self._editor: HeadlessEditor | None = None
        self._interpreter = LostInterpreter(folder / "environment")
        self._clock = SetClock(folder / "clock")
        self._measured: list[int] = []
        self._fresh: dict[tuple[str, str], Shown] = {}
        """What a fresh check has found, by a file's name and its code; comments at its end only make it a new text."""
        self._room: int | None = None
        """Bytes that files may have; None where the disk is not full."""

    async def start(self) -> None:
        """Opens a window with all files."""
        editor = HeadlessEditor(self._clock.command(), {"XDG_CACHE_HOME": str(self._folder / "cache")})
        editor.handlers["textDocument/publishDiagnostics"] = self._diagnostics
        editor.handlers["inductorDebug/analysis"] = self._analysis
        self._editor = editor
        self._shown.clear()
        self._done.clear()
        await editor.start(self._folder, {"accelerator": "none", "interpreter": str(self._interpreter.path)})
        if self._room is not None:
            full_disk.fill(editor.process_id, self._room)
        for path in self._paths:
            self._versions[path] += 1
            editor.open(path, self._texts[path], self._versions[path])

    async def stop(self, *, by_force: bool = False) -> None:
        """Closes the window, or kills its daemon; whatever is left of it is an orphan."""
        editor, self._editor = self._editor, None
        if editor is None:
            return
        family = seen([editor.process_id, *descendants(editor.process_id)])
        if by_force:
            self._log.killed["daemon"] += _killed(editor.process_id)
        with contextlib.suppress(ServerError):
            await editor.stop()
        ends = time.monotonic() + _ENDING
        while left := [process for process in family | seen(naming(str(self._folder))) if process.lives()]:
            if time.monotonic() > ends:
                break
            await asyncio.sleep(0.1)
        how = "killed" if by_force else "closed"
        self._log.orphans += [f"{process}, {_ENDING:g} s after its daemon was {how}" for process in left]

    async def deed(self, kind: str = "") -> None:
        """Does one thing that people and machines do: any, or that one."""
        if not kind:
            [kind] = self._chance.choices([*DEEDS], [*DEEDS.values()])
        self._log.deeds[kind] += 1
        path = self._chance.choice(self._paths)
        assert self._editor is not None
        if kind == "edit":
            self._edit(path, self._clean[path].replace(TOGGLE, self._chance.choice(_EDITS)))
            await asyncio.sleep(self._chance.choice((0.0, 0.02, 0.3)))
        elif kind == "save":
            self._save(path)
        elif kind == "cancel":
            await self._command("inductorDebug.cancel", {"uri": path.as_uri()})
        elif kind == "graph":
            await self._command("inductorDebug.graph", {"uri": path.as_uri()})
        elif kind in ("kill worker", "kill fork server"):
            self._kill(fork_server=kind == "kill fork server")
        elif kind == "fill or free the disk":
            self._set_room(self._chance.choice(full_disk.SIZES) if self._room is None else None)
        elif kind == "set the clock":
            self._clock.set(self._chance.choice(_CLOCKS))
        elif kind == "lose the interpreter":
            await self._lose_interpreter(path)
        else:
            await self.stop(by_force=kind == "kill daemon")
            await self.start()

    def _kill(self, *, fork_server: bool) -> None:
        """Kills the fork server, or any process below it; any of the daemon's where that has none now."""
        assert self._editor is not None
        first = _children(self._editor.process_id)[:1]
        below = [process for parent in first for process in descendants(parent)]
        chosen = first if fork_server else below or descendants(self._editor.process_id)
        if chosen:
            self._log.killed["fork server" if fork_server else "worker"] += _killed(self._chance.choice(chosen))

    def _set_room(self, room: int | None) -> None:
        self._room = room
        assert self._editor is not None
        if room is None:
            full_disk.free(self._editor.process_id)
        else:
            full_disk.fill(self._editor.process_id, room)

    async def _lose_interpreter(self, path: Path) -> None:
        """Takes the interpreter away from under the workers: an analysis ends all the same, and none is found sound."""
        self._interpreter.vanish()
        self._kill(fork_server=True)
        self._edit(path, self._clean[path] + f"# lost {self._log.deeds.total()}\n")
        self._save(path)
        if not await self._through([path]):
            self._log.hung.append(f"{path.name} without an interpreter, in {_PATIENCE:g} s")

    async def _through(self, paths: list[Path]) -> bool:
        """Whether the newest versions of all are analysed, or have failed, before patience ends."""
        ends = time.monotonic() + _PATIENCE
        while any(self._done.get(path.as_uri()) != self._versions[path] for path in paths):
            if time.monotonic() > ends:
                return False
            await asyncio.sleep(0.05)
        return True

    async def settle(self) -> None:
        """Saves all, waits until all are analysed, and compares each with a fresh check of its text."""
        assert self._editor is not None
        self._interpreter.come_back()
        await asyncio.sleep(_BACKED_OFF)
        for path in self._paths:
            self._edit(path, self._texts[path] + f"# {self._log.settled}\n")
            self._save(path)
        await self._command("inductorDebug.check", {"uri": self._paths[0].as_uri()})
        if not await self._through(self._paths):
            self._log.hung.append(f"settling {self._log.settled}: not analysed in {_PATIENCE:g} s")
            return
        wrong = {"a full disk": self._room is not None, "a clock that is off": self._clock.seconds != 0}
        self._log.settled_with.update(name for name, is_so in wrong.items() if is_so)
        await asyncio.sleep(0.2)
        codes = {path: (path.name, _without_comments(self._texts[path])) for path in self._paths}
        if unknown := [path for path in self._paths if codes[path] not in self._fresh]:
            found = await _checked(self._folder, unknown)
            self._fresh |= {codes[path]: found[path.name] for path in unknown}
        for path in self._paths:
            shown, fresh = self._shown.get(path.as_uri(), set()), self._fresh[codes[path]]
            # Of a text that is no Python the findings of the last one that was stay, beside what is wrong with it.
            if shown != fresh and not (shown > fresh and not _parses(self._texts[path])):
                self._log.differences.append(f"{path.name}: shown {sorted(shown)}, fresh {sorted(fresh)}")
        self._log.settled += 1
        family = [self._editor.process_id, *_children(self._editor.process_id)[:1]]
        if family != self._measured:  # others have their own memory
            self._log.memory.append([])
            self._measured = family
        sizes = [resident_bytes(process) or 0 for process in family]
        self._log.memory[-1].append((self._log.deeds["edit"], sum(sizes)))

    async def recover(self) -> None:
        """With room on the disk, graphs are kept again."""
        self._set_room(None)
        self._interpreter.come_back()
        await asyncio.sleep(_BACKED_OFF)
        for path in self._paths:
            self._edit(path, self._clean[path])
            self._save(path)
            answer = await self._command("inductorDebug.graph", {"uri": path.as_uri(), "fresh": True})
            kept = [Path(made["path"]) for made in (answer or {}).get("artifacts", ())]
            if not kept or not all(file.is_file() for file in kept):
                self._log.lost.append(f"{path.name}: {answer}")

    def _edit(self, path: Path, text: str) -> None:
        assert self._editor is not None
        self._texts[path] = text
        self._versions[path] += 1
        self._editor.change(path, text, self._versions[path])

    def _save(self, path: Path) -> None:
        assert self._editor is not None
        path.write_text(self._texts[path], encoding="utf-8")
        self._clock.stamp(path)
        self._editor.save(path, self._texts[path])

    async def _command(self, name: str, argument: dict[str, Any]) -> Any:
        """Asks for something; what was killed meanwhile answers with an error, which is an answer: None."""
        assert self._editor is not None
        with contextlib.suppress(ServerError, asyncio.TimeoutError):
            asked = self._editor.request("workspace/executeCommand", {"command": name, "arguments": [argument]})
            return await asyncio.wait_for(asked, _PATIENCE)
        return None

    def _diagnostics(self, told: dict[str, Any]) -> None:
        self._shown[told["uri"]] = {
            (str(known.get("code")), known["range"]["start"]["line"], known["range"]["start"]["character"])
            for known in told["diagnostics"]
            if known.get("code") not in _BESIDE
        }

    def _analysis(self, told: dict[str, Any]) -> None:
        if told["state"] in ("done", "failed") and told.get("version") is not None:
            self._done[told["uri"]] = told["version"]


async def _checked(folder: Path, paths: list[Path]) -> dict[str, Shown]:
    """What `inductor-debug check` finds in each file, by its name."""
    words = ["check", "--no-cache", "--accelerator", "none", "--format", "json", "-q", *(path.name for path in paths)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "inductor_debug", *words, cwd=folder, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    return {
        file["path"]: {
            (finding["rule"], finding["range"]["start"]["line"], finding["range"]["start"]["character"])
            for finding in file["findings"]
        }
        for file in json.loads(output)["files"]
    }


async def _soak(minutes: float, seed: int, edits: int, kills: int) -> SoakLog:
    log, chance = SoakLog(), random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="inductor-debug-soak-") as name:
        folder = Path(name).resolve()
        for model in _MODELS:
            shutil.copy(Path(__file__).parent / "models" / f"{model}.py", folder)
        session = _Session(folder, chance, log)
        await session.start()
        storm_ends = time.monotonic() + 60 * minutes * (1 - _CALM_PART)
        ends: float | None = None  # of the calm, which nobody knows before it has begun
        ctrl_c = asyncio.Event()

        def is_over() -> bool:
            done = ends is not None and time.monotonic() >= ends and log.deeds["edit"] >= edits
            return done or ctrl_c.is_set()

        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, ctrl_c.set)
        try:
            kinds = [*DEEDS, "edit"]  # first each of them once
            chance.shuffle(kinds)
            while kinds:
                for kind in kinds:
                    await session.deed(kind)
                    if is_over():
                        break
                await session.settle()
                now = time.monotonic()
                if ends is None and now >= storm_ends and log.killed.total() >= kills:
                    ends = now + 60 * minutes * _CALM_PART
                stretch = 0 if is_over() else chance.randint(*_STRETCH)
                kinds = ["" if ends is None else chance.choice(_CALM) for _ in range(stretch)]
            await session.recover()
        finally:
            await session.stop()
        for path in [*folder.rglob(f"*{SUFFIX}"), *(folder / "cache").rglob("*.json")]:
            log.artifacts += 1
            try:
                content = path.read_bytes()
                json.loads(content) if path.suffix == ".json" else decode(content)
            except (ArtifactError, ValueError) as error:
                log.torn.append(f"{path.name}: {error}")
    return log


def run(minutes: float, seed: int, *, edits: int = 0, kills: int = 0) -> BenchmarkOutcome:
    """Soaks for so many minutes, and until there were so many edits and so many processes were killed."""
    began = time.monotonic()
    log = asyncio.run(_soak(minutes, seed, edits, kills))
    slope = log.slope()
    grown = "too few measurements" if slope is None else f"{slope * 100 / 2**20:.2f} MiB for 100 edits"
    deeds = ", ".join(f"{count} × {kind}" for kind, count in log.deeds.most_common())
    figures = {
        "minutes": (time.monotonic() - began) / 60,
        "deeds": dict(log.deeds),
        "killed": dict(log.killed),
        "settled": log.settled,
        "settled_with": dict(log.settled_with),
        "artifacts": log.artifacts,
        "bytes_per_edit": slope,
        "seed": seed,
    }
    wrong = ", ".join(f"{count} with {name}" for name, count in log.settled_with.most_common()) or "none with a fault"
    faults = [*log.differences, *log.hung, *log.lost, *log.orphans, *log.torn]
    killed = ", ".join(f"{count} × {name}" for name, count in log.killed.most_common())
    lasted = f"{(time.monotonic() - began) / 60:.0f} minutes; killed {log.killed.total()} processes: {killed}"
    lines = [lasted, deeds, f"{log.settled} settlings, {wrong}", f"memory of daemon and fork server: {grown}", *faults]
    promises = [
        (
            log.deeds["edit"] >= edits and log.killed.total() >= kills,
            f"there were {log.deeds['edit']} edits and {log.killed.total()} processes killed",
        ),
        (not log.differences, f"findings are those of a fresh check after each of {log.settled} settlings"),
        (not log.hung, f"every analysis ended, also the {log.deeds['lose the interpreter']} without an interpreter"),
        (not log.lost, "graphs are kept again once the disk has room"),
        (not log.orphans, "no process is left of a daemon that ended or was killed"),
        (not log.torn, f"none of {log.artifacts} artifacts and files of the cache is torn"),
    ]
    if slope is not None:
        promises.append((slope < _MOST_GROWTH, f"memory is flat: {grown}"))
    return BenchmarkOutcome(figures, promises, lines)


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("# "))


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _killed(process: int) -> int:
    """Kills it; 1, or 0 where it was gone already."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return 0
    return 1


def _children(process: int) -> list[int]:
    """The processes directly below one, the oldest first."""
    below = set(descendants(process))
    return sorted(below - {deeper for child in below for deeper in descendants(child)})
