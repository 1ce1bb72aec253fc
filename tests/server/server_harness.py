"""What the server's tests stand on: a fake engine, an editor in the same event loop, and a raw client of a process.

Every message that the server sends through either of the clients is checked against lsprotocol's types and the 64 KiB
that a message may have.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from inductor_debug.engine import engine as engine_module
from inductor_debug.engine.batch import OnDisk
from inductor_debug.engine.engine import AnalysisState, AnalysisUpdate, ConfigurationError
from inductor_debug.engine.fixes.edits import Fix, TextEdit, applied
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.results.keeping import KeptArtifact
from inductor_debug.engine.results.kept_runs import Versions
from inductor_debug.engine.results.known_expressions import KnownExpression
from inductor_debug.server.factory import create_server
from inductor_debug.server.rpc.framing import LspFrameReader, frame
from inductor_debug.server.state.server import ServeOptions
from inductor_debug_schema import (
    AnalysisNotification,
    Answered,
    ArtifactMade,
    Checked,
    Event,
    FileReport,
    FileStatus,
    Finding,
    Position,
    Range,
    Related,
    SameResults,
    Severity,
    Stage,
    StageReport,
    StageState,
    TargetReport,
    from_wire,
)
from lsprotocol import converters, types
from zygote import COMMAND

PUSHED = {
    "textDocument": {
        "publishDiagnostics": {
            "relatedInformation": True,
            "codeDescriptionSupport": True,
            "dataSupport": True,
            "versionSupport": True,
        }
    }
}
PULLED = {
    "textDocument": {**PUSHED["textDocument"], "diagnostic": {"relatedDocumentSupport": True}},
    "workspace": {"diagnostics": {"refreshSupport": True}},
}


PATIENCE = 300.0
"""Seconds after which a test gives up waiting; far above what anything takes, on a busy machine too."""
CUSTOM_NOTIFICATIONS = {"inductorDebug/analysis"}
LARGEST_MESSAGE = 64 << 10

_converter = converters.get_converter()


def check_message(message: dict[str, Any], asked: dict[Any, str]) -> None:
    """Fails unless a message of the server is what the protocol says it is. `asked` maps our ids to methods."""
    assert message["jsonrpc"] == "2.0"
    size = len(json.dumps(message, separators=(",", ":")))
    assert size <= LARGEST_MESSAGE, f"{size} bytes: {str(message)[:200]}"
    if "method" in message:
        if message["method"] in CUSTOM_NOTIFICATIONS:
            assert from_wire(AnalysisNotification, message["params"])
            return
        kind = types.METHOD_TO_TYPES[message["method"]][0]
        direction = types.message_direction(message["method"])
        assert direction in ("serverToClient", "both"), f"{message['method']} goes {direction}"
    elif "error" in message:
        assert "result" not in message
        kind = types.ResponseErrorMessage
    else:
        assert "result" in message, "a response has a result, even if it is null"
        kind = types.METHOD_TO_TYPES[asked[message["id"]]][1]
        if kind is types.CodeActionResponse:  # lsprotocol takes an action with a command for the command alone
            for action in message["result"] or ():
                _check_kind(action, types.Command if isinstance(action.get("command"), str) else types.CodeAction)
            return
    _check_kind(message, kind)


def _check_kind(message: dict[str, Any], kind: Any) -> None:
    structured = _converter.structure(message, kind)
    assert _without_nulls(_converter.unstructure(structured, kind)) == _without_nulls(message)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


class Messages:
    """What came from the server, in order, and who waits for what."""

    def __init__(self) -> None:
        self.all: list[dict[str, Any]] = []
        self.asked: dict[Any, str] = {}
        self.fault: Exception | None = None
        self._changed = asyncio.Event()

    def add(self, message: dict[str, Any]) -> None:
        try:
            check_message(message, self.asked)
        except Exception as error:
            self.fault = error
        self.all.append(message)
        self._changed.set()

    async def first(self, wanted: Callable[[dict[str, Any]], bool], after: int = 0) -> dict[str, Any]:
        """The first message from number `after` on that is `wanted`, waiting for it if need be."""

        async def search() -> dict[str, Any]:
            start = after
            while True:
                self.verify()
                for message in self.all[start:]:
                    if wanted(message):
                        return message
                start = len(self.all)
                self._changed.clear()
                await self._changed.wait()

        return await asyncio.wait_for(search(), PATIENCE)

    def verify(self) -> None:
        """Fails if any message so far was not what the protocol says."""
        if self.fault is not None:
            raise AssertionError("the server sent a bad message") from self.fault

    def of(self, method: str) -> list[dict[str, Any]]:
        """The parameters of every message of a method so far."""
        return [message["params"] for message in self.all if message.get("method") == method]


class FakeEngine:
    """The engine's interface; a test says what it finds. Calls are kept in `calls`."""

    def __init__(
        self,
        *,
        settings_for: Callable[[str], Any],
        listener: Callable[[AnalysisUpdate], None],
        **_: Any,
    ) -> None:
        self.settings_for = settings_for
        self.listener = listener
        self.calls: list[tuple[Any, ...]] = []
        self.texts: dict[str, str] = {}
        self.document_versions: dict[str, int] = {}
        self.versions = Versions()
        self.paths: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.quiet: dict[str, asyncio.Event] = {}
        self.updates: dict[str, AnalysisUpdate] = {}
        self.check_gate: asyncio.Event | None = None
        self.on_disk: dict[str, list[Finding]] = {}
        self.imports: dict[str, list[str]] = {}
        self.tried: list[str] = []
        self.trial: Callable[[str], list[Finding] | None] = lambda text: None
        self.trial_gate: asyncio.Event | None = None
        self.same: bool | None = True
        self.ran: dict[str, str] = {}
        self.known: dict[str, list[KnownExpression]] = {}
        self.events: list[Event] = []
        self.performed: Performed | None = None
        self.holds: Performed | None = None
        self.kept = KeptArtifact(notes=["artifacts are switched off"])
        self.given: list[ArtifactMade] = []

    def open(self, uri: str, path: str, version: int, text: str) -> None:
        self.calls.append(("open", uri))
        self.texts[uri], self.document_versions[uri], self.paths[uri] = text, version, path
        self._begin(uri)

    def change(self, uri: str, version: int, text: str) -> None:
        self.calls.append(("change", uri))
        self.texts[uri], self.document_versions[uri] = text, version
        self._begin(uri)

    def save(self, uri: str, text: str | None = None) -> None:
        self.calls.append(("save", uri, text))

    def close(self, uri: str) -> None:
        self.calls.append(("close", uri))
        self.updates.pop(uri, None)
        self.quiet.pop(uri).set()

    def files_changed(self, paths: list[str], created: Collection[str] = ()) -> None:
        self.calls.append(("files_changed", paths))

    def settings_changed(self) -> None:
        self.calls.append(("settings_changed",))

    def analyze(self, uri: str, cause: str) -> None:
        self.calls.append(("analyze", uri, cause))
        self._begin(uri)

    def cancel(self, uri: str | None = None) -> None:
        self.calls.append(("cancel", uri))

    def prewarm(self, path: str) -> None:
        self.calls.append(("prewarm", path))

    def latest(self, uri: str) -> AnalysisUpdate | None:
        return self.updates.get(uri)

    def expressions(self, uri: str) -> list[KnownExpression]:
        return self.known.get(uri, [])

    async def settled(self, uri: str) -> AnalysisUpdate | None:
        if uri in self.quiet:
            await self.quiet[uri].wait()
        return self.updates.get(uri)

    def judged(self, path: str, findings: Sequence[Finding], text: str | None) -> list[Finding]:
        return list(findings)

    async def check(self, path: str, on_progress: Any = None) -> FileReport:
        return (await self.check_on_disk(path)).update.report

    async def check_on_disk(self, path: str) -> OnDisk:
        """Finds what `on_disk` has for the path, in a file that imports what `imports` has."""
        self.calls.append(("check", path))
        if self.check_gate is not None:
            try:
                await self.check_gate.wait()
            except asyncio.CancelledError:
                self.calls.append(("check cancelled", path))
                raise
        found = self.on_disk.get(path, [])
        report = FileReport(path, FileStatus.FINDINGS if found else FileStatus.CLEAN, findings=found)
        uri, state, cause = Path(path).as_uri(), AnalysisState.DONE, "check"
        text = Path(path).read_text() if Path(path).is_file() else ""
        return OnDisk(
            AnalysisUpdate(uri, path, None, 0, state, None, report, 0.25, cause), text, self.dependencies(uri)
        )

    def dependencies(self, uri: str) -> frozenset[str]:
        return frozenset(self.imports.get(uri, ()))

    async def held(self, path: str, order: Order) -> Performed | None:
        """What it `holds`."""
        return self.holds

    async def perform(self, path: str, order: Order, on_event: Callable[[Event], None] | None = None) -> Performed:
        """Tells `events`, waits for `check_gate`, and answers with `performed`."""
        self.calls.append(("perform", path, order))
        for event in self.events:
            assert on_event is not None
            on_event(event)
        if self.check_gate is not None:
            try:
                await self.check_gate.wait()
            except asyncio.CancelledError:
                self.calls.append(("perform cancelled", path))
                raise
        return self.performed or Performed(FileReport(path, FileStatus.CLEAN), "")

    def last_ran(self, uri: str, target: str) -> str | None:
        return self.ran.get(target)

    async def try_edits(self, uri: str, edits: Collection[TextEdit], only: str = "") -> FileReport | None:
        """What `trial` finds in the edited text, in the stages that the last update tells of."""
        text = applied(self.texts[uri], edits)
        self.tried.append(text)
        if self.trial_gate is not None:
            try:
                await self.trial_gate.wait()
            except asyncio.CancelledError:
                self.calls.append(("trial cancelled", text))
                raise
        found = self.trial(text)
        if found is None:
            return None
        status = FileStatus.FINDINGS if found else FileStatus.CLEAN
        return replace(self.updates[uri].report, status=status, findings=found)

    async def compare_fix(self, uri: str, fix: Fix, target: str) -> list[Answered] | None:
        """What `same` says of a comparison of the text with a fix and the text without it."""
        ran = self.same is not None
        return [Answered(target, SameResults(self.same, "", 1, ran))]

    def keep(self, path: str, artifacts: Sequence[ArtifactMade]) -> KeptArtifact:
        self.given += artifacts
        return self.kept

    async def restart(self) -> None:
        self.calls.append(("restart",))

    async def shutdown(self) -> None:
        self.calls.append(("shutdown",))

    def _begin(self, uri: str) -> None:
        self.generations[uri] = self.generations.get(uri, 0) + 1
        self.quiet[uri] = asyncio.Event()

    def tell(
        self,
        uri: str,
        state: AnalysisState,
        findings: list[Finding] | None = None,
        *,
        stage: Stage | None = None,
        ended: tuple[Stage, ...] = (),
        cause: str = "opened",
        targets: Sequence[TargetReport] = (),
    ) -> None:
        """Sends an update: `findings` of None are those of before; `ended` are the stages that have."""
        if findings is None:
            findings = self.updates[uri].report.findings if uri in self.updates else []
        stages = [StageReport(name, StageState.DONE, 0.1) for name in ended]
        status = FileStatus.FINDINGS if findings else FileStatus.CLEAN
        model = [TargetReport("Model", 0, stages, checked=Checked.YES)] if stages else []
        report = FileReport(self.paths[uri], status, [*model, *targets], findings)
        update = AnalysisUpdate(
            uri, self.paths[uri], self.document_versions[uri], self.generations[uri], state, stage, report, 0.25, cause
        )
        self.updates[uri] = update
        if state.settled:
            self.quiet[uri].set()
        self.listener(update)

    def done(self, uri: str, findings: list[Finding], targets: Sequence[TargetReport] = ()) -> None:
        """The analysis of the document ends with these findings, and with `targets` besides the one called Model."""
        ended = (Stage.PREVIEW, Stage.MOCK)
        self.tell(uri, AnalysisState.DONE, findings, stage=Stage.MOCK, ended=ended, targets=targets)


def finding(
    path: Path | str, line: int = 3, rule: str = "dtype", message: str = "float64 is not here", **more: Any
) -> Finding:
    """A finding of a test: nine characters of one line."""
    values: dict[str, Any] = {
        "severity": Severity.WARNING,
        "stage": Stage.PREVIEW,
        "target": "Model",
        "op": "aten._to_copy.default",
        "module": "layer.0",
        "count": 2,
        "fingerprint": f"{rule}-{line}",
        **more,
    }
    return Finding(rule=rule, message=message, path=str(path), range=span(line), **values)


def span(line: int) -> Range:
    """Nine characters of a line."""
    return Range(Position(line, 4), Position(line, 13))


def related(path: Path | str, line: int, message: str = "declared here") -> Related:
    """A related place of a test."""
    return Related(str(path), span(line), message)


class Editor:
    """A client in the server's own event loop, without a transport."""

    def __init__(self, engine_class: Any, capabilities: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        self.messages = Messages()
        self.settings = settings
        self.answers: dict[str, Any] = {"workspace/configuration": self._configuration}
        self.silent: set[str] = set()
        self._capabilities = capabilities
        self._identifiers = itertools.count(1)
        self.server = create_server(ServeOptions())
        self.server.protocol.write_to(self)
        self._frames = LspFrameReader()

    @property
    def engine(self) -> FakeEngine:
        return self.server.engine  # type: ignore[return-value]

    async def start(self, *folders: Path, options: Any = None) -> dict[str, Any]:
        """`initialize` and `initialized`; returns when the server is ready for documents."""
        params = {
            "processId": None,
            "rootUri": None,
            "capabilities": self._capabilities,
            "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name} for folder in folders] or None,
            "initializationOptions": options,
        }
        response = await self.request("initialize", params)
        self.notify("initialized", {})
        await asyncio.wait_for(self.server.ready.wait(), PATIENCE)
        return response["result"]

    def write(self, data: bytes) -> None:
        """The server's writer."""
        for body in self._frames.feed(data):
            assert isinstance(body, bytes)
            message = json.loads(body)
            self.messages.add(message)
            if "method" in message and "id" in message and message["method"] not in self.silent:
                answer = self.answers.get(message["method"])
                answer = answer(message["params"]) if callable(answer) else answer
                reply = answer if isinstance(answer, dict) and "error" in answer else {"result": answer}
                asyncio.get_running_loop().call_soon(self.send, {"id": message["id"], **reply})

    def close(self) -> None:
        """Nothing to close."""

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends a message to the server."""
        self.server.protocol.receive(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def notify(self, method: str, params: Any) -> None:
        """Sends a notification."""
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> int:
        """Sends a request and returns its id."""
        identifier = next(self._identifiers)
        self.messages.asked[identifier] = method
        self.send({"id": identifier, "method": method, "params": params})
        return identifier

    async def answer(self, identifier: int) -> dict[str, Any]:
        """The response to a request."""
        return await self.messages.first(lambda message: "method" not in message and message.get("id") == identifier)

    async def request(self, method: str, params: Any) -> dict[str, Any]:
        """Sends a request and returns the response."""
        return await self.answer(self.ask(method, params))

    def open(self, path: Path, text: str = "x = 1\n", version: int = 1, language: str = "python") -> str:
        """Opens a document; returns its URI."""
        uri = path.as_uri()
        document = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def change(self, uri: str, version: int, *changes: dict[str, Any]) -> None:
        """Edits a document."""
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def published(self, uri: str) -> list[dict[str, Any]]:
        """What was pushed for a document, oldest first."""
        return [params for params in self.messages.of("textDocument/publishDiagnostics") if params["uri"] == uri]

    def _configuration(self, params: Mapping[str, Any]) -> list[Any]:
        return [self.settings.get(item.get("scopeUri") or "") for item in params["items"]]


@contextlib.asynccontextmanager
async def editor(
    monkeypatch: Any, capabilities: Mapping[str, Any], settings: Mapping[str, Any] | None = None
) -> AsyncIterator[Editor]:
    """An editor whose server has a fake engine."""
    monkeypatch.setattr(engine_module, "Engine", FakeEngine)
    made = Editor(FakeEngine, capabilities, settings or {})
    yield made
    await made.server.stop_engine()
    made.messages.verify()


async def turns(count: int = 20) -> None:
    """Lets everything that can happen now happen."""
    for _ in range(count):
        await asyncio.sleep(0)


class Process:
    """A raw client of a `serve` process: any bytes in, checked messages out."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.messages = Messages()
        self.stderr = b""
        self._identifiers = itertools.count(1)
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._listen())]

    @classmethod
    async def start(
        cls, *arguments: str, environment: Mapping[str, str] | None = None, command: Sequence[str] = COMMAND
    ) -> Process:
        process = await asyncio.create_subprocess_exec(
            *command,
            "serve",
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **(environment or {})},
        )
        return cls(process)

    def raw(self, data: bytes) -> None:
        """Sends bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends a message in a frame."""
        self.raw(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    def notify(self, method: str, params: Any = None) -> None:
        """Sends a notification."""
        self.send({"method": method, "params": params})

    async def request(self, method: str, params: Any = None) -> dict[str, Any]:
        """Sends a request and returns the response."""
        identifier = next(self._identifiers)
        self.messages.asked[identifier] = method
        self.send({"id": identifier, "method": method, "params": params})
        return await self.messages.first(lambda message: message.get("id") == identifier and "method" not in message)

    async def initialize(self, **params: Any) -> dict[str, Any]:
        """`initialize` and `initialized`."""
        given = {"processId": os.getpid(), "rootUri": None, "capabilities": {}, **params}
        response = await self.request("initialize", given)
        self.notify("initialized", {})
        return response["result"]

    def end_input(self) -> None:
        """Closes the server's standard input."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    async def ended(self) -> int:
        """The exit code, when it is there."""
        code = await asyncio.wait_for(self.process.wait(), PATIENCE)
        await asyncio.gather(*self._tasks)
        return code

    async def kill(self) -> None:
        """Makes sure that it is gone."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        await asyncio.gather(*self._tasks)

    async def _read(self) -> None:
        assert self.process.stdout is not None
        frames = LspFrameReader()
        while data := await self.process.stdout.read(1 << 16):
            for body in frames.feed(data):
                assert isinstance(body, bytes), f"not a message: {body}"
                message = json.loads(body)
                self.messages.add(message)
                if "method" in message and "id" in message:
                    self.send({"id": message["id"], "result": None})

    async def _listen(self) -> None:
        assert self.process.stderr is not None
        while data := await self.process.stderr.read(1 << 16):
            self.stderr += data


__all__ = [
    "AnalysisState",
    "ConfigurationError",
    "Editor",
    "FakeEngine",
    "Process",
    "editor",
    "finding",
    "related",
    "turns",
]
