"""`inductor-debug ui`: the editor's pages in a browser, for who has no editor, or another one.

The server and what it needs are imported in `run` only: no other command pays for it, nor needs the extra.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from inductor_debug.cli.support import console
from inductor_debug.cli.support.check_arguments import add_allow
from inductor_debug.cli.support.console import CommandError
from inductor_debug.engine.settings.settings_ladder import ConfigurationError

DESCRIPTION = """\
Serves a page on this machine that shows what the editor's extension shows: targets, findings with their source,
graphs, comparisons, memory and roofline, bisections, surveys, and the artifacts that were kept, live while files are
saved. Only this machine can open it, at an address with a token that is new each time. Needs the extra:
pip install "inductor-debug[ui]".
"""
EPILOG = """\
examples:
  inductor-debug ui                            the models in this folder
  inductor-debug ui model.py --accelerator h100
  inductor-debug ui survey/quick.jsonl         a survey's page
  inductor-debug ui src --no-open --port 8700  on a machine that you are logged in to: ssh -L 8700:127.0.0.1:8700 HOST

exit codes: 130 after Ctrl-C, 2 where the page cannot be served
"""
FAILURES = (ConfigurationError,)
_LIBRARIES = frozenset({"starlette", "uvicorn", "sse_starlette"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument(
        "paths", metavar="PATH", nargs="*", type=Path, help="files, folders, results of surveys (default: this folder)"
    )
    parser.add_argument("--accelerator", metavar="NAME|FILE.toml", help="an accelerator, or a profile of yours")
    parser.add_argument("--port", metavar="N", type=int, default=0, help="default: any that is free")
    parser.add_argument("--no-open", action="store_true", help="do not start a browser, only say the address")
    add_allow(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serves until Ctrl-C; returns the exit code.

    Raises:
        CommandError: a path is not there, the extra is not, or the page cannot be served.
        ConfigurationError: the settings for one of the files cannot be used.
    """
    paths = arguments.paths or [Path()]
    for path in paths:
        if not path.exists():
            raise CommandError(f"{path}: no such file")
    try:
        from inductor_debug.web.serving import ServeError, serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _LIBRARIES:
            raise
        raise CommandError('the page is served by Starlette and uvicorn: pip install "inductor-debug[ui]"') from None
    said = {"accelerator": arguments.accelerator, "allow": arguments.allow, "trigger": "onSave"}
    options = {name: value for name, value in said.items() if value}
    try:
        serve(paths, options, port=arguments.port, opens=not arguments.no_open, say=_say)
    except ServeError as error:
        raise CommandError(str(error)) from None
    return 0


def _say(address: str) -> None:
    print(address, flush=True)
    console.say("end with Ctrl-C")
