"""`inductor-debug bench edits`: from an edit to the end of its analysis, beside a run of the same text from nothing.

Each text is analysed twice by one kept server, as an editor has it: when it is typed, and once more past all that is
kept. Both have to show the same diagnostics. What an edit of code takes is told beside what edits take that say
nothing, which are answered from the run before them.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from inductor_debug.cli.support.console import CommandError
from inductor_debug.server.rpc.headless_client import HeadlessEditor, ServerError

from inductor_debug_benchmarks.editor_session import TOGGLE, TROUBLE
from inductor_debug_benchmarks.measuring import MODELS, progress
from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise

EDITED = ("bert", "llama70b", "resnet152")
_PATIENCE = 300.0
_MOST_SHARE = 0.1
"""Of a run from nothing that an edit may take which says nothing."""

Edit = Callable[[str, int], str]
EDITS: dict[str, Edit] = {
    "comment added": lambda text, number: text.replace(TROUBLE, f"# take {number}\n        {TROUBLE}"),
    "comment changed": lambda text, number: text.replace(TROUBLE, f"{TROUBLE}, take {number}"),
    "blank lines": lambda text, number: text.replace("class Model", "\n" * (number + 1) + "class Model"),
    "code in forward": lambda text, number: text.replace(TROUBLE, f"{TROUBLE}\n        x = x + {number + 2}"),
}
SAYS_SOMETHING = "code in forward"


@dataclass(frozen=True, slots=True)
class EditRow:
    """Medians in seconds for one kind of edit of one model; `unlike` are how often other diagnostics were shown."""

    model: str
    edit: str
    full: float
    done: float
    findings: int
    unlike: int

    @property
    def share(self) -> float:
        """Of a run from nothing that the edit took."""
        return self.done / self.full


def run(models: list[str], rounds: int) -> BenchmarkOutcome:
    """Measures so many rounds of each edit of those of the models that edits are measured with.

    Raises:
        CommandError: there is none among them.
    """
    chosen = [name for name in EDITED if name in models]
    if not chosen:
        raise CommandError(f"edits are measured with {', '.join(EDITED)}")
    rows = asyncio.run(_measured(chosen, max(rounds, 1)))
    return BenchmarkOutcome({"rows": [asdict(row) for row in rows]}, promises(rows), table(rows))


async def _measured(models: list[str], rounds: int) -> list[EditRow]:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        async with HeadlessEditor() as editor:
            await editor.start(root)
            for model in models:
                text = (MODELS / f"{model}.py").read_text(encoding="utf-8").replace(TOGGLE, TROUBLE)
                document = _Document(editor, root / f"{model}.py", text)
                await document.full()  # the first run teaches the fork server what the file imports
                for kind, edit in EDITS.items():
                    progress(f"{model}: {kind}")
                    rows.append(await document.measured(model, kind, [edit(text, number) for number in range(rounds)]))
    return rows


class _Document:
    """One open file, and what an editor was last shown of it."""

    def __init__(self, editor: HeadlessEditor, path: Path, text: str) -> None:
        self._editor, self._path, self._version = editor, path, 1
        self._shown: list[dict[str, Any]] = []
        self._states: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        editor.handlers["textDocument/publishDiagnostics"] = self._diagnostics
        editor.handlers["inductorDebug/analysis"] = self._analysis
        path.write_text(text, encoding="utf-8")
        editor.open(path, text, self._version)

    async def measured(self, model: str, kind: str, texts: list[str]) -> EditRow:
        """Types each text, and has it run from nothing."""
        full, done, unlike = [], [], 0
        for text in texts:
            done.append(await self._typed(text))
            shown = self._shown
            full.append(await self.full())
            unlike += shown != self._shown
        return EditRow(model, kind, statistics.median(full), statistics.median(done), len(self._shown), unlike)

    async def full(self) -> float:
        """Seconds of a run of the present text past all that is kept."""
        started = time.perf_counter()
        arguments = [{"uri": self._path.as_uri()}]
        answer = await self._editor.request(
            "workspace/executeCommand", {"command": "inductorDebug.check", "arguments": arguments}
        )
        if answer["state"] != "done":
            raise ServerError(f"{self._path.name} could not be analysed")
        return time.perf_counter() - started

    async def _typed(self, text: str) -> float:
        self._version += 1
        started = time.perf_counter()
        self._editor.change(self._path, text, self._version)
        while True:
            told = await asyncio.wait_for(self._states.get(), _PATIENCE)
            if told.get("version") == self._version and told["state"] in ("done", "failed"):
                return time.perf_counter() - started

    def _diagnostics(self, parameters: dict[str, Any]) -> None:
        if parameters["uri"] == self._path.as_uri():
            self._shown = parameters["diagnostics"]

    def _analysis(self, parameters: dict[str, Any]) -> None:
        if parameters["uri"] == self._path.as_uri():
            self._states.put_nowait(parameters)


def promises(rows: list[EditRow]) -> list[Promise]:
    """What holds of every edit, and of those that say nothing."""
    unlike = [f"{row.model}, {row.edit}" for row in rows if row.unlike]
    said = [(not unlike, f"edits show what runs of their texts do ({'; '.join(unlike) or f'all {len(rows)} kinds'})")]
    silent = [row for row in rows if row.edit != SAYS_SOMETHING]
    most = max((row.share for row in silent), default=0.0)
    text = f"comments and blank lines take {most:.3f} of a run (at most {_MOST_SHARE})"
    return [*said, (most <= _MOST_SHARE, text)]


def table(rows: list[EditRow]) -> list[str]:
    """A line for each kind of edit of each model."""
    lines = [f"{'model':<12}{'edit':<18}{'full':>9}{'done':>9}{'share':>8}{'findings':>10}  equal"]
    lines += [
        f"{row.model:<12}{row.edit:<18}{row.full:8.2f}s{row.done:8.3f}s{row.share:8.3f}{row.findings:10}  "
        f"{'no' if row.unlike else 'yes'}"
        for row in rows
    ]
    return [*lines, ""]
