"""`inductor-debug serve`: the language server.

The protocol's packages are imported in `run` only, so that the other commands never pay for them.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from pathlib import Path

LOOPBACK = "127.0.0.1"
_LEVELS = ("error", "warning", "info", "debug")
DESCRIPTION = """\
Runs the language server that an editor starts and talks to. Without --tcp it speaks over standard input and output,
and everything else, the log included, goes to standard error.
"""
EPILOG = """\
examples:
  inductor-debug serve                          as editors start it
  inductor-debug serve --tcp 2087               for an editor that connects to a port of this machine
  inductor-debug serve --log-file server.log --log-level debug

The server ends with code 0 after `shutdown` and `exit`, and with 1 when the client is gone or says `exit` only.
Settings come from the editor (`inductorDebug.*`), the environment and pyproject.toml, in this order.
"""


FAILURES = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument(
        "--tcp",
        metavar="[HOST:]PORT",
        type=_address,
        help="serve one client on a TCP port instead; the host is 127.0.0.1 unless given, and port 0 means any free "
        "one, which is printed on standard error. Whoever can connect can run code as you",
    )
    parser.add_argument("--stdio", action="store_true", help="speak over standard input and output (the default)")
    parser.add_argument("--log-file", metavar="FILE", type=Path, help="write the log there, not to standard error")
    parser.add_argument("--log-level", choices=_LEVELS, default="warning", help="how much to log (default: warning)")
    parser.add_argument(
        "--cache-folder", metavar="FOLDER", type=Path, help="where logs of user code go (default: the user's cache)"
    )
    parser.add_argument("--jobs", metavar="N", type=_positive, help="files analysed at once (default: one per core)")


def run(arguments: argparse.Namespace) -> int:
    """Serves until the client leaves; returns the exit code."""
    if problem := _start_logging(arguments.log_file, arguments.log_level):
        print(f"inductor-debug serve: {problem}", file=sys.stderr)
        return 2
    from inductor_debug.server.client_session import serve_stdio, serve_tcp
    from inductor_debug.server.state.server import ServeOptions

    options = ServeOptions(cache_folder=arguments.cache_folder, jobs=arguments.jobs)
    if arguments.tcp is None:
        code = asyncio.run(serve_stdio(options))
    else:
        host, port = arguments.tcp
        try:
            code = asyncio.run(serve_tcp(options, host, port, _say_where))
        except OSError as error:
            print(f"inductor-debug serve: cannot listen on {host}:{port}: {error.strerror or error}", file=sys.stderr)
            return 2
    logging.shutdown()
    return code


def _say_where(host: str, port: int) -> None:
    print(f"inductor-debug serve: listening on {host}:{port}", file=sys.stderr, flush=True)


def _start_logging(path: Path | None, level: str) -> str | None:
    """Sets up the log; returns what is wrong with its file, if anything."""
    handler: logging.Handler
    try:
        handler = logging.StreamHandler() if path is None else logging.FileHandler(path, encoding="utf-8", delay=False)
    except OSError as error:
        return f"the log cannot be written to {path}: {error.strerror}"
    number = getattr(logging, level.upper())
    logging.basicConfig(
        level=number, handlers=[handler], format="%(asctime)s %(levelname)-7s %(name)s: %(message)s", force=True
    )
    # pygls logs whole messages at INFO, source texts included.
    logging.getLogger("pygls").setLevel(max(number, logging.WARNING))
    logging.getLogger("asyncio").setLevel(max(number, logging.WARNING))
    return None


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or LOOPBACK
    if not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is neither HOST:PORT nor a port")
    return host, int(port)


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)
