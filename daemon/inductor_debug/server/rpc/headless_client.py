"""An editor without a window: drives `inductor-debug serve` over stdio as an editor would.

It exists for headless use (`inductor-debug watch`, `npm start`) and for the benchmark, so that both go the whole road
that an editor's users go. It speaks raw JSON-RPC, which keeps its start quick, and knows nothing of how a report looks.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from inductor_debug.server.rpc.framing import LspFrameError, LspFrameReader, frame

Handler = Callable[[dict[str, Any]], None]
"""Takes the parameters of a notification."""

CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "codeDescriptionSupport": True, "dataSupport": True},
        "synchronization": {"didSave": True},
    },
    "workspace": {"workspaceFolders": True},
}
"""What this editor can do, as `initialize` states it. Diagnostics are pushed, not pulled."""


class ServerError(Exception):
    """The server ended, could not be started, or answered a request with an error; the message says which."""


class HeadlessEditor:
    """One session with one server process.

    Set `handlers` before `start`: notification methods to callables, which run in the event loop. The name `exit` is
    called when the server has ended.
    """

    def __init__(
        self,
        command: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        capabilities: Mapping[str, Any] = CAPABILITIES,
        name: str = "inductor-debug watch",
    ) -> None:
        self.handlers: dict[str, Handler] = {}
        self._capabilities = dict(capabilities)
        self._command = list(command) or [sys.executable, "-m", "inductor_debug", "serve"]
        self._environment = environment
        self._name = name
        self._process: asyncio.subprocess.Process | None = None
        self._identifiers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._reader: asyncio.Task[None] | None = None

    async def __aenter__(self) -> HeadlessEditor:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def process_id(self) -> int:
        """The server's process id; only after `start`."""
        if self._process is None:
            raise ServerError("the server was not started")
        return self._process.pid

    async def start(self, root: Path, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Starts the server, initialises it for the folder `root` and returns the result of `initialize`.

        Raises:
            ServerError: the server did not start or ended at once; its own words are on stderr.
        """
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=None if self._environment is None else {**os.environ, **self._environment},
            )
        except OSError as error:
            raise ServerError(f"the server could not be started: {error}") from error
        self._reader = asyncio.create_task(self._read(self._process))
        parameters = {
            "processId": os.getpid(),
            "clientInfo": {"name": self._name},
            "rootUri": root.as_uri(),
            "workspaceFolders": [{"uri": root.as_uri(), "name": root.name}],
            "capabilities": self._capabilities,
            "initializationOptions": dict(options or {}),
        }
        result = await self.request("initialize", parameters)
        self.notify("initialized", {})
        return dict(result)

    async def stop(self) -> None:
        """Ends the session in good order, and by force if the server does not follow within five seconds."""
        if self._process is None:
            return
        with contextlib.suppress(ServerError, asyncio.TimeoutError):
            await asyncio.wait_for(self.request("shutdown", None), 5)
            self.notify("exit", None)
        try:
            await asyncio.wait_for(self._process.wait(), 5)
        except asyncio.TimeoutError:
            self._process.kill()
            await self._process.wait()
        if self._reader is not None:
            await self._reader
        self._process = None

    def open(self, path: Path, text: str, version: int = 1) -> None:
        """`textDocument/didOpen`."""
        document = {"uri": path.as_uri(), "languageId": "python", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, path: Path, text: str, version: int) -> None:
        """`textDocument/didChange` with the whole new text."""
        document = {"uri": path.as_uri(), "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def save(self, path: Path, text: str) -> None:
        """`textDocument/didSave`."""
        self.notify("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}, "text": text})

    def notify(self, method: str, parameters: Any) -> None:
        """Sends a notification."""
        self._send({"jsonrpc": "2.0", "method": method, "params": parameters})

    async def request(self, method: str, parameters: Any) -> Any:
        """Sends a request and returns its result. Who is cancelled while it waits has the server told.

        Raises:
            ServerError: the server answered with an error, or ended before it answered.
        """
        identifier = next(self._identifiers)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[identifier] = future
        self._send({"jsonrpc": "2.0", "id": identifier, "method": method, "params": parameters})
        try:
            return await future
        except asyncio.CancelledError:
            with contextlib.suppress(ServerError):
                self.notify("$/cancelRequest", {"id": identifier})
            raise

    def _send(self, message: dict[str, Any]) -> None:
        process = self._process
        if process is None or process.stdin is None or process.stdin.is_closing() or process.returncode is not None:
            raise ServerError("the server has ended")
        if message.get("params", ...) is None:
            del message["params"]
        process.stdin.write(frame(json.dumps(message).encode()))

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        frames = LspFrameReader()
        while data := await process.stdout.read(1 << 16):
            for body in frames.feed(data):
                if not isinstance(body, LspFrameError):
                    self._receive(json.loads(body))
        code = await process.wait()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ServerError(f"the server ended with exit code {code}"))
        self._waiting.clear()
        if handler := self.handlers.get("exit"):
            handler({"code": code})

    def _receive(self, message: dict[str, Any]) -> None:
        if "method" in message:
            if "id" in message:  # Nothing that a server asks of an editor concerns one without a window.
                self._send({"jsonrpc": "2.0", "id": message["id"], "result": None})
            elif handler := self.handlers.get(message["method"]):
                handler(message.get("params") or {})
            return
        future = self._waiting.pop(message.get("id", 0), None)
        if future is None or future.done():
            return
        if error := message.get("error"):
            future.set_exception(ServerError(str(error.get("message", error))))
        else:
            future.set_result(message.get("result"))
