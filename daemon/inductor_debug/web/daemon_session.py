"""The daemon behind the pages: it is started and spoken with as an editor does, and what it says is told to every page.

Files of the projects are open there as soon as somebody looks at them or writes them; folders are checked as a whole
once. What a page may have carried out is a list of commands, each about a file that is shown. Nothing is analysed here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inductor_debug.engine.file_watching import stamp_of
from inductor_debug.server.rpc.headless_client import HeadlessEditor, ServerError
from inductor_debug.web.event_hub import EventHub, Said
from inductor_debug.web.shown_files import ShownFile, ShownFiles

POLL_SECONDS = 0.3
"""How often files are looked at for new content."""
_PREFIX = "inductorDebug."
_ABOUT_A_FILE = frozenset(
    [
        "check",
        "graph",
        "diff",
        "repro",
        "bisect",
        "transfers",
        "suggest",
        "memory",
        "roofline",
        "compileTime",
        "profile",
        "compareAccelerators",
        "cancel",
    ]
)
"""Commands that a page may have carried out for a file; none of them writes where the page says."""
_ABOUT_NONE = frozenset({"accelerators", "explain"})
_WHOLE = "folder"
"""The token of the check of all folders."""


class PageRequestError(Exception):
    """A page asked for what it may not have, or what the daemon could not do; the message says why."""


class DaemonSession:
    """One daemon for all pages. `options` are settings, as an editor's initialization options have them."""

    def __init__(self, shown: ShownFiles, options: Mapping[str, Any], folders: list[Path], opened: list[Path]) -> None:
        self._shown = shown
        self._settings = dict(options)
        self._folders, self._opened = folders, opened
        self._editor = HeadlessEditor(name="inductor-debug ui")
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._status: dict[str, Any] = {"state": "starting", "why": ""}
        self.hub = EventHub(self._known)

    async def start(self) -> None:
        """Starts the daemon, and goes on with what it is to look at.

        Raises:
            ServerError: it did not start; its own words are on stderr.
        """
        for name, handler in (
            ("textDocument/publishDiagnostics", self._hear_diagnostics),
            ("inductorDebug/analysis", self._hear_analysis),
            ("$/progress", self._hear_progress),
            ("window/showMessage", self._hear_message),
            ("exit", self._hear_exit),
        ):
            self._editor.handlers[name] = handler
        roots = [str(root) for root in self._shown.roots] or [os.getcwd()]
        await self._editor.start(Path(os.path.commonpath(roots)), self._settings)
        self._say("running")
        for path in self._opened:
            self.open(path.as_uri())
        self._tasks.append(asyncio.create_task(self._follow()))
        if self._folders:
            self._tasks.append(asyncio.create_task(self._check_folders()))

    async def stop(self) -> None:
        """Ends everything; no process is left."""
        self.hub.close()
        pending = [*self._tasks, *self._running.values()]
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        await self._editor.stop()

    def open(self, uri: str) -> None:
        """From now on a file is followed. Opening it again does nothing.

        Raises:
            PageRequestError: no such file is shown, or the daemon has ended.
        """
        file = self._file(uri)
        if file.version:
            return
        with contextlib.suppress(OSError):
            text = file.text()
            file.stamp, file.version = stamp_of(file.path), 1
            self._tell_daemon(lambda: self._editor.open(file.path, text, file.version))

    def choose(self, accelerator: str) -> None:
        """Has everything judged for another accelerator.

        Raises:
            PageRequestError: the daemon has ended.
        """
        self._settings["accelerator"] = accelerator
        said = {"settings": {"inductorDebug": self._settings}}
        self._tell_daemon(lambda: self._editor.notify("workspace/didChangeConfiguration", said))
        self.hub.tell("settings", self._settings)

    async def carry_out(self, name: str, request: Mapping[str, Any], token: str) -> Any:
        """What the daemon answers to a command. How far it is goes to all pages, with the token.

        Raises:
            PageRequestError: a page may not have it carried out, it was cancelled, or the daemon says why it cannot be.
        """
        if name in _ABOUT_A_FILE:
            self._file(str(request.get("uri", "")))
            if request.get("trace"):
                raise PageRequestError("pages read no traces")
        elif name not in _ABOUT_NONE:
            raise PageRequestError(f"pages have no command {name!r}")
        if token in self._running:
            raise PageRequestError("this is being carried out already")
        task = asyncio.create_task(self._execute(name, request, token))
        self._running[token] = task
        try:
            return await task
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            raise PageRequestError("cancelled") from None
        except ServerError as error:
            raise PageRequestError(str(error)) from None
        finally:
            self._running.pop(token, None)
            task.cancel()

    def cancel(self, token: str) -> None:
        """Stops a command that is being carried out."""
        if (task := self._running.get(token)) is not None:
            task.cancel()

    async def _execute(self, name: str, request: Mapping[str, Any], token: str) -> Any:
        said = {**request, "partialResultToken": f"{token}/partial"}
        parameters = {"command": _PREFIX + name, "arguments": [said], "workDoneToken": token}
        return await self._editor.request("workspace/executeCommand", parameters)

    def _file(self, uri: str) -> ShownFile:
        file = self._shown.files.get(uri)
        if file is None:
            raise PageRequestError("no such file is shown")
        return file

    def _tell_daemon(self, tell: Any) -> None:
        try:
            tell()
        except ServerError as error:
            raise PageRequestError(str(error)) from None

    async def _check_folders(self) -> None:
        """Checks what is in the folders; each file's findings come as soon as it is through."""
        self.hub.tell("busy", True)
        folders = [folder.resolve().as_uri() for folder in self._folders]
        with contextlib.suppress(ServerError):
            await self._execute("checkWorkspace", {"folders": folders}, _WHOLE)
        self.hub.tell("busy", False)

    async def _follow(self) -> None:
        """Tells the daemon of every file that is written."""
        while self._status["state"] == "running":
            await asyncio.sleep(POLL_SECONDS)
            for uri, file in self._shown.files.items():
                stamp = stamp_of(file.path)
                if stamp is None or stamp == file.stamp:
                    continue
                with contextlib.suppress(OSError, PageRequestError):
                    if not file.version:
                        self.open(uri)
                        continue
                    text = file.text()
                    file.stamp = stamp
                    file.version += 1
                    self._editor.change(file.path, text, file.version)
                    self._editor.save(file.path, text)
                    self.hub.tell("saved", {"uri": uri})

    def _known(self) -> list[Said]:
        """All that a page needs that has just been opened."""
        said: list[Said] = [("state", self._status), ("settings", self._settings)]
        files = [{"uri": uri, "name": file.name, "path": str(file.path)} for uri, file in self._shown.files.items()]
        said.append(("files", {"files": files, "surveys": list(self._shown.surveys)}))
        for uri, file in self._shown.files.items():
            if file.analysis is not None:
                said.append(("analysis", file.told()))
            if file.diagnostics:
                said.append(("diagnostics", {"uri": uri, "diagnostics": file.diagnostics}))
        return said

    def _hear_diagnostics(self, parameters: dict[str, Any]) -> None:
        if (file := self._shown.files.get(parameters["uri"])) is not None:
            file.diagnostics = parameters["diagnostics"]
            self.hub.tell("diagnostics", {"uri": parameters["uri"], "diagnostics": file.diagnostics})

    def _hear_analysis(self, parameters: dict[str, Any]) -> None:
        if (file := self._shown.files.get(parameters["uri"])) is not None:
            file.analysis = parameters
            self.hub.tell("analysis", file.told())

    def _hear_progress(self, parameters: dict[str, Any]) -> None:
        self.hub.tell("progress", parameters)

    def _hear_message(self, parameters: dict[str, Any]) -> None:
        self.hub.tell("message", str(parameters.get("message", "")))

    def _hear_exit(self, parameters: dict[str, Any]) -> None:
        self._say("ended", f"The daemon ended with exit code {parameters['code']}.")

    def _say(self, state: str, why: str = "") -> None:
        self._status = {"state": state, "why": why}
        self.hub.tell("state", self._status)
