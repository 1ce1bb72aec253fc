"""Serves the page on this machine until Ctrl-C, and opens it.

The address has a token in it that is new each time. A browser is started with the name of a file that only the user can
read and that leads there: names of processes are for everybody on a machine to see.
"""

from __future__ import annotations

import contextlib
import html
import os
import secrets
import socket
import tempfile
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import uvicorn

from inductor_debug.web.daemon_session import DaemonSession
from inductor_debug.web.guard import Guard
from inductor_debug.web.shown_files import shown_files
from inductor_debug.web.web_app import WebApp

ADDRESS = "127.0.0.1"
_PATIENCE_SECONDS = 3


class ServeError(Exception):
    """The page cannot be served; the message says why."""


def serve(paths: list[Path], options: Mapping[str, Any], *, port: int, opens: bool, say: Callable[[str], None]) -> None:
    """Serves until Ctrl-C.

    Args:
        paths: files, folders, and results of surveys.
        options: settings, as an editor's initialization options have them.
        port: where; 0 for any that is free.
        opens: whether a browser is started.
        say: told the address, once it answers.

    Raises:
        ServeError: the port is taken, or the daemon did not start.
        ConfigurationError: the settings for one of the files cannot be used.
    """
    shown = shown_files(paths)
    folders = [path for path in paths if path.is_dir()]
    opened = [path.resolve() for path in paths if path.resolve().as_uri() in shown.files]
    with contextlib.closing(_listening(port)) as listening:
        host = f"{ADDRESS}:{listening.getsockname()[1]}"
        token = secrets.token_urlsafe(24)
        web = WebApp(shown, DaemonSession(shown, options, folders, opened))
        app = Guard(web.application(), token=token, hosts=(host, host.replace(ADDRESS, "localhost")))
        configuration = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            lifespan="on",
            server_header=False,
            timeout_graceful_shutdown=_PATIENCE_SECONDS,
        )
        address = f"http://{host}/{token}/"
        with _leading_to(address) as leading:
            server = _Server(configuration, lambda: _started(address, leading if opens else None, say))
            server.run([listening])
        if not server.started:
            raise ServeError("the daemon did not start; the lines above say why")


class _Server(uvicorn.Server):
    """Tells when it answers."""

    def __init__(self, config: uvicorn.Config, answers: Callable[[], None]) -> None:
        super().__init__(config)
        self._answers = answers

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._answers()


def _started(address: str, leading: Path | None, say: Callable[[str], None]) -> None:
    say(address)
    if leading is not None:
        webbrowser.open(leading.as_uri())


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((ADDRESS, port))
    except OSError as error:
        listening.close()
        raise ServeError(f"port {port} cannot be used: {error.strerror}") from None
    return listening


@contextlib.contextmanager
def _leading_to(address: str) -> Any:
    """A file for the user alone that leads to an address."""
    descriptor, name = tempfile.mkstemp(suffix=".html", prefix="inductor-debug-")
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        target = html.escape(address, quote=True)
        stream.write(f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={target}">')
    try:
        yield Path(name)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)
