"""The soak: random edits, saves, cancels, reloads and `kill -9` over a real editor connection, for as long as is asked.

After each settling the findings must be those of a fresh check of the same text, after each end of a daemon no process
of it may be left, and at the end every artifact must be whole. How memory grows is printed.
"""

from __future__ import annotations

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
from inductor_debug.server.rpc.headless_client import HeadlessEditor, ServerError

from inductor_debug_benchmarks.editor_session import TOGGLE, TROUBLE
from inductor_debug_benchmarks.outcome import BenchmarkOutcome
from inductor_debug_benchmarks.process_usage import descendants, resident_bytes

_MODELS = ("mlp", "autoencoder", "mixer")
_EDITS = (TOGGLE, TROUBLE, "print(x)", "x = x.undefined_name", "x = x[:, :", "x = x * x.sum().item()", "x = x + 1")
"""What the line of a model that is edited becomes: sound, wrong in several ways, and no Python."""
_SETTLING = 12
"""Deeds between two settlings."""
_PATIENCE = 180.0
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
    settled: int = 0
    differences: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    artifacts: int = 0
    memory: list[list[tuple[int, int]]] = field(default_factory=list)
    """By session: how many edits there had been, and the resident bytes of daemon and fork server."""

    def slope(self) -> float | None:
        """Bytes for each edit, in the session with the most measurements; None where there are too few."""
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

    async def start(self) -> None:
        """Opens a window with all files."""
        editor = HeadlessEditor(environment={"XDG_CACHE_HOME": str(self._folder / "cache")})
        editor.handlers["textDocument/publishDiagnostics"] = self._diagnostics
        editor.handlers["inductorDebug/analysis"] = self._analysis
        self._editor = editor
        self._shown.clear()
        self._done.clear()
        self._log.memory.append([])
        await editor.start(self._folder, {"accelerator": "none"})
        for path in self._paths:
            self._versions[path] += 1
            editor.open(path, self._texts[path], self._versions[path])

    async def stop(self, *, by_force: bool = False) -> None:
        """Closes the window, or kills its daemon; whatever is left of it is an orphan."""
        editor, self._editor = self._editor, None
        if editor is None:
            return
        family = [editor.process_id, *descendants(editor.process_id)]
        if by_force:
            with contextlib.suppress(ProcessLookupError):
                os.kill(editor.process_id, signal.SIGKILL)
        with contextlib.suppress(ServerError):
            await editor.stop()
        ends = time.monotonic() + _ENDING
        while (left := [process for process in family if _lives(process)]) and time.monotonic() < ends:
            await asyncio.sleep(0.1)
        self._log.orphans += [f"process {process} after {'kill' if by_force else 'exit'}" for process in left]

    async def deed(self) -> None:
        """Does one thing that people and machines do."""
        kinds = {"edit": 60, "save": 15, "cancel": 6, "kill worker": 8, "graph": 4, "reload": 4, "kill daemon": 3}
        [kind] = self._chance.choices([*kinds], [*kinds.values()])
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
        elif kind == "kill worker":
            if below := descendants(self._editor.process_id):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._chance.choice(below), signal.SIGKILL)
        else:
            await self.stop(by_force=kind == "kill daemon")
            await self.start()

    async def settle(self) -> None:
        """Saves all, waits until all are analysed, and compares each with a fresh check of its text."""
        assert self._editor is not None
        for path in self._paths:
            self._edit(path, self._texts[path] + f"# {self._log.settled}\n")
            self._save(path)
        await self._command("inductorDebug.check", {"uri": self._paths[0].as_uri()})
        ends = time.monotonic() + _PATIENCE
        while any(self._done.get(path.as_uri()) != self._versions[path] for path in self._paths):
            if time.monotonic() > ends:
                self._log.differences.append(f"settling {self._log.settled}: not analysed in {_PATIENCE:g} s")
                return
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.2)
        fresh = await _checked(self._folder, self._paths)
        for path in self._paths:
            if (shown := self._shown.get(path.as_uri(), set())) != fresh[path.name]:
                self._log.differences.append(f"{path.name}: shown {sorted(shown)}, fresh {sorted(fresh[path.name])}")
        self._log.settled += 1
        family = [self._editor.process_id, *_children(self._editor.process_id)[:1]]
        sizes = [resident_bytes(process) or 0 for process in family]
        self._log.memory[-1].append((self._log.deeds["edit"], sum(sizes)))

    def _edit(self, path: Path, text: str) -> None:
        assert self._editor is not None
        self._texts[path] = text
        self._versions[path] += 1
        self._editor.change(path, text, self._versions[path])

    def _save(self, path: Path) -> None:
        assert self._editor is not None
        path.write_text(self._texts[path], encoding="utf-8")
        self._editor.save(path, self._texts[path])

    async def _command(self, name: str, argument: dict[str, Any]) -> None:
        """Asks for something; what was killed meanwhile answers with an error, which is an answer."""
        assert self._editor is not None
        with contextlib.suppress(ServerError, asyncio.TimeoutError):
            asked = self._editor.request("workspace/executeCommand", {"command": name, "arguments": [argument]})
            await asyncio.wait_for(asked, _PATIENCE)

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


async def _soak(minutes: float, seed: int) -> SoakLog:
    log, chance = SoakLog(), random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="inductor-debug-soak-") as name:
        folder = Path(name).resolve()
        for model in _MODELS:
            shutil.copy(Path(__file__).parent / "models" / f"{model}.py", folder)
        session = _Session(folder, chance, log)
        await session.start()
        ends = time.monotonic() + 60 * minutes
        try:
            while time.monotonic() < ends or not log.settled:
                for _ in range(_SETTLING):
                    await session.deed()
                await session.settle()
        finally:
            await session.stop()
        for path in folder.rglob(f"*{SUFFIX}"):
            log.artifacts += 1
            try:
                decode(path.read_bytes())
            except ArtifactError as error:
                log.torn.append(f"{path.name}: {error}")
    return log


def run(minutes: float, seed: int) -> BenchmarkOutcome:
    """Soaks for so many minutes, and until it has settled once."""
    log = asyncio.run(_soak(minutes, seed))
    slope = log.slope()
    grown = "too few measurements" if slope is None else f"{slope * 100 / 2**20:.2f} MiB for 100 edits"
    deeds = ", ".join(f"{count} × {kind}" for kind, count in log.deeds.most_common())
    figures = {
        "deeds": dict(log.deeds),
        "settled": log.settled,
        "artifacts": log.artifacts,
        "bytes_per_edit": slope,
        "seed": seed,
    }
    lines = [deeds, f"memory of daemon and fork server: {grown}", *log.differences, *log.orphans, *log.torn]
    promises = [
        (not log.differences, f"findings are those of a fresh check after each of {log.settled} settlings"),
        (not log.orphans, "no process is left of a daemon that ended or was killed"),
        (not log.torn, f"none of {log.artifacts} artifacts is torn"),
    ]
    if slope is not None:
        promises.append((slope < _MOST_GROWTH, f"memory is flat: {grown}"))
    return BenchmarkOutcome(figures, promises, lines)


def _children(process: int) -> list[int]:
    """The processes directly below one, the oldest first."""
    below = set(descendants(process))
    return sorted(below - {deeper for child in below for deeper in descendants(child)})


def _lives(process: int) -> bool:
    """Whether a process runs; one that nobody has waited for yet does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"
