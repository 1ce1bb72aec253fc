"""`inductor-debug bench typing`: mistakes typed into models that declare no inputs, as an editor's user sees them.

A real server is driven over stdio. Each mistake is typed into a file that was analysed before, and put into a file that
is opened fresh; what is timed is the road from the change to the diagnostic at the mistake. Then the first quick fix is
asked for and applied: it gives the original text back, or another one that is free of findings, or nothing.

Files and mistakes are those of `models/typed`, or of a folder that looks the same: Python files, and a `mistakes.json`
that names for each a list of `{"kind", "before", "after", "seen"}`: `before` stands once in the file, `seen` begins the
expression where running it fails, where that is another one than `after`. Nothing here imports torch.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from inductor_debug.cli.support.console import CommandError
from inductor_debug.server.rpc.headless_client import CAPABILITIES, HeadlessEditor

from inductor_debug_benchmarks.measuring import MODELS, progress
from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise
from inductor_debug_benchmarks.process_usage import tree_seconds

TYPED = MODELS / "typed"
LIMIT = 1.0
"""Seconds within which a typed mistake is to be shown."""
_PATIENCE = 15.0
"""Seconds for which a proof of a fix is waited for, and diagnostics after their analysis."""
_ERROR, _WARNING = 1, 2
_ABLE: dict[str, Any] = {
    **CAPABILITIES,
    "textDocument": {
        **CAPABILITIES["textDocument"],
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
            "isPreferredSupport": True,
        },
    },
    "workspace": {"workspaceFolders": True, "workspaceEdit": {"documentChanges": True}},
}


@dataclass(frozen=True, slots=True)
class TypedMistake:
    """One mistake; `file` is the name of the file, `seen` is empty where running fails at `after` itself."""

    file: str
    kind: str
    before: str
    after: str
    seen: str = ""

    def planted(self, text: str) -> str:
        """The text with the mistake in it.

        Raises:
            CommandError: it cannot be planted just once.
        """
        if text.count(self.before) != 1:
            raise CommandError(f"{self.file}: {self.before!r} stands there {text.count(self.before)} times, not once")
        return text.replace(self.before, self.after)

    def lines(self, text: str) -> set[int]:
        """The lines, from 0, of the mistaken text where a finding is in its place."""
        said = self.planted(text)
        start = text.index(self.before)
        places = [(start, start + len(self.after))] if self.after else []
        if self.seen:
            where = said.index(self.seen)
            places.append((where, where + len(self.seen)))
        return {line for first, last in places for line in range(said.count("\n", 0, first), _line(said, last) + 1)}


@dataclass(frozen=True, slots=True)
class Sight:
    """What a user saw of one mistake.

    `seconds` and `worked` (processor seconds of the server and its workers) run from the change to the diagnostic; None
    if there was none in its place. `said` is the first line of what was told there, or elsewhere. `mended` is
    "original", "otherwise" or "no".
    """

    seconds: float | None
    worked: float | None
    said: str
    mended: str = "no"
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """One mistake, typed and opened fresh."""

    mistake: TypedMistake
    typed: Sight
    fresh: Sight


class _Document:
    """One open document of a session."""

    def __init__(self, editor: HeadlessEditor, path: Path) -> None:
        self._editor = editor
        self._path = path
        self._version = 0
        self._told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._over: asyncio.Queue[int] = asyncio.Queue()
        self.diagnostics: list[dict[str, Any]] = []
        self.listen()

    def listen(self) -> None:
        """Hears what the server says from now on; only one document of a session does."""
        self._editor.handlers["textDocument/publishDiagnostics"] = self._publish
        self._editor.handlers["inductorDebug/analysis"] = self._analysis

    def put(self, text: str) -> None:
        """Opens the document with a text, or changes it to that."""
        self._version += 1
        if self._version == 1:
            self._path.write_text(text, encoding="utf-8")
            self._editor.open(self._path, text, 1)
        else:
            self._editor.change(self._path, text, self._version)

    async def told(self, lines: set[int], started: float) -> tuple[float | None, str]:
        """Seconds until a problem stands on one of the lines, None if none does, and what was said."""
        over = asyncio.create_task(self._settled())
        while True:
            found = [item for item in self._problems() if item["range"]["start"]["line"] in lines]
            if found:
                seconds = time.perf_counter() - started
                await over
                return seconds, _headline(found[0])
            if over.done() and self._told.empty():
                elsewhere = self._problems()
                return None, _headline(elsewhere[0]) if elsewhere else ""
            news = asyncio.create_task(self._told.get())
            await asyncio.wait([news, over], return_when=asyncio.FIRST_COMPLETED)
            if not news.done():
                # What is told with the end of an analysis comes right behind it.
                await asyncio.wait([news], timeout=0.3)
            if not news.done():
                news.cancel()

    async def settled(self) -> list[str]:
        """Waits for the end of the analysis of the newest text; what problems there are."""
        await self._settled()
        await asyncio.sleep(0.3)
        return [_headline(item) for item in self._problems()]

    async def first_fix(self, lines: set[int], text: str) -> tuple[str, str]:
        """The title of the first quick fix for the problem on the lines, and the text with it; empty if none is."""
        found = [item for item in self._problems() if item["range"]["start"]["line"] in lines]
        started = time.perf_counter()
        while found and time.perf_counter() - started < _PATIENCE:
            place = {"textDocument": {"uri": self._path.as_uri()}, "range": found[0]["range"]}
            context = {"diagnostics": found, "only": ["quickfix"]}
            actions = await self._editor.request("textDocument/codeAction", {**place, "context": context})
            mending = [action for action in actions or () if "edit" in action and "ilence" not in action["title"]]
            if mending:
                return mending[0]["title"], _edited(text, mending[0]["edit"])
            await asyncio.sleep(0.2)
        return "", ""

    def _problems(self) -> list[dict[str, Any]]:
        return [item for item in self.diagnostics if item.get("severity") in (_ERROR, _WARNING)]

    async def _settled(self) -> None:
        while await asyncio.wait_for(self._over.get(), 300) != self._version:
            pass

    def _publish(self, parameters: dict[str, Any]) -> None:
        if parameters["uri"] == self._path.as_uri() and parameters.get("version") == self._version:
            self.diagnostics = parameters["diagnostics"]
            self._told.put_nowait(parameters)

    def _analysis(self, parameters: dict[str, Any]) -> None:
        ended = parameters.get("state") in ("done", "failed")
        if parameters["uri"] == self._path.as_uri() and ended and parameters.get("version") is not None:
            self._over.put_nowait(parameters["version"])


def run(folder: str) -> BenchmarkOutcome:
    """Measures the mistakes of a folder; of `models/typed` where it is empty.

    Raises:
        CommandError: its `mistakes.json` cannot be read or names what is not there.
    """
    where = Path(folder) if folder else TYPED
    mistakes = list(_mistakes(where))
    measured, sound = asyncio.run(_measure(where, mistakes))
    figures = {"mistakes": [asdict(item) for item in measured], "sound": sound}
    return BenchmarkOutcome(figures, promises(measured, sound), table(measured, sound))


def _mistakes(folder: Path) -> Iterator[TypedMistake]:
    path = folder / "mistakes.json"
    try:
        known: dict[str, list[dict[str, str]]] = json.loads(path.read_text(encoding="utf-8"))
        for name, rows in known.items():
            text = (folder / name).read_text(encoding="utf-8")
            for row in rows:
                mistake = TypedMistake(name, **row)
                mistake.lines(text)
                yield mistake
    except (OSError, ValueError, TypeError) as error:
        raise CommandError(f"{path}: {error}") from error


async def _measure(folder: Path, mistakes: list[TypedMistake]) -> tuple[list[Measured], dict[str, list[str]]]:
    measured: list[Measured] = []
    sound: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch).resolve()
        async with HeadlessEditor(capabilities=_ABLE) as editor:
            await editor.start(root)
            for name in dict.fromkeys(mistake.file for mistake in mistakes):
                text = (folder / name).read_text(encoding="utf-8")
                document = _Document(editor, root / name)
                document.put(text)
                sound[name] = await document.settled()
                # Two edits that change nothing: the first ones teach the server what the file imports.
                for _ in range(2):
                    document.put(text + "\n# typed\n")
                    await document.settled()
                    document.put(text)
                    await document.settled()
                some = [mistake for mistake in mistakes if mistake.file == name]
                typed = [await _typed(editor, document, mistake, text) for mistake in some]
                for number, mistake in enumerate(some):
                    other = _Document(editor, root / f"{Path(name).stem}_{number}.py")
                    fresh = await _seen(editor, other, mistake, text)
                    measured.append(Measured(mistake, typed[number], fresh))
                    progress(f"{len(measured)} of {len(mistakes)}, {name}: {mistake.kind}")
    return measured, sound


async def _typed(editor: HeadlessEditor, document: _Document, mistake: TypedMistake, text: str) -> Sight:
    sight = await _seen(editor, document, mistake, text)
    document.put(text)
    await document.settled()
    return sight


async def _seen(editor: HeadlessEditor, document: _Document, mistake: TypedMistake, text: str) -> Sight:
    """Puts the mistake into the document and takes down what is said of it."""
    wrong, lines = mistake.planted(text), mistake.lines(text)
    worked, started = tree_seconds(editor.process_id), time.perf_counter()
    document.put(wrong)
    seconds, said = await document.told(lines, started)
    if seconds is None:
        return Sight(None, None, said)
    worked = tree_seconds(editor.process_id) - worked
    title, mended = await document.first_fix(lines, wrong)
    if mended == text:
        return Sight(seconds, worked, said, "original", title)
    if not mended:
        return Sight(seconds, worked, said)
    document.put(mended)
    left = await document.settled()
    return Sight(seconds, worked, said, "no" if left else "otherwise", title)


def _edited(text: str, edit: dict[str, Any]) -> str:
    """The text with a workspace edit of one document done; in UTF-16, and no character is wide."""
    (change,) = edit["documentChanges"]
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]

    def place(position: dict[str, int]) -> int:
        return starts[position["line"]] + position["character"]

    for item in sorted(change["edits"], key=lambda item: place(item["range"]["start"]), reverse=True):
        text = text[: place(item["range"]["start"])] + item["newText"] + text[place(item["range"]["end"]) :]
    return text


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset)


def _headline(diagnostic: dict[str, Any]) -> str:
    message: str = diagnostic["message"].splitlines()[0]
    return f"{diagnostic['range']['start']['line'] + 1} {diagnostic['code']}: {message}"


def promises(measured: list[Measured], sound: dict[str, list[str]]) -> list[Promise]:
    """What we promise of these mistakes, with what was measured."""
    typed, fresh = [item.typed for item in measured], [item.fresh for item in measured]
    times = [sight.seconds for sight in typed if sight.seconds is not None]
    soon = sum(seconds <= LIMIT for seconds in times)
    mended = sum(sight.mended != "no" for sight in typed)
    opened = sum(sight.seconds is not None for sight in fresh)
    told = sum(map(len, sound.values()))
    count = len(measured)
    return [
        (len(times) == count, f"typed mistakes found in their place: {len(times)} of {count} (all)"),
        (soon == count, f"within {LIMIT:g} s: {soon} of {count}, median {_median(times)} s (all)"),
        (mended == count, f"mended by the first quick fix: {mended} of {count} (all)"),
        (opened >= 0.85 * count, f"found when a file with the mistake is opened: {opened} of {count} (at least 85 %)"),
        (told == 0, f"problems told of the files as they are: {told} (none)"),
    ]


def table(measured: list[Measured], sound: dict[str, list[str]]) -> list[str]:
    """A line for each mistake, and what was said of each that was missed or not mended."""
    lines = [f"{'file':<12}{'mistake':<26}{'typed':>8}{'worked':>8}{'fresh':>8}  {'mended':<10}{'mended fresh':<10}"]
    for item in measured:
        typed, fresh = item.typed, item.fresh
        times = f"{_seconds(typed.seconds)}{_seconds(typed.worked)}{_seconds(fresh.seconds)}"
        lines.append(f"{item.mistake.file:<12}{item.mistake.kind:<26}{times}  {typed.mended:<10}{fresh.mended:<10}")
        lines += [f"    typed: {typed.said or 'nothing'}"] if typed.seconds is None else []
        lines += [f"    fresh: {fresh.said or 'nothing'}"] if fresh.seconds is None else []
        lines += [
            f"    {name} fix: {sight.fix or 'none'}; {sight.said}"
            for name, sight in (("first", typed), ("fresh file's first", fresh))
            if sight.mended == "no" and sight.seconds is not None
        ]
    return [*lines, *(f"{name} as it is: {said}" for name, told in sound.items() for said in told), ""]


def _seconds(amount: float | None) -> str:
    return f"{amount:8.2f}" if amount is not None else f"{'-':>8}"


def _median(times: list[float]) -> str:
    return f"{statistics.median(times):.2f}" if times else "-"
