"""`inductor-debug mcp`: the tools that coding agents call, over standard input and output.

The SDK is imported in `run` only, so that the other commands never pay for it.
"""

from __future__ import annotations

import argparse
import os
import sys

from inductor_debug.cli.support.console import CommandError
from inductor_debug.cli.support.running.run_arguments import located

DESCRIPTION = """\
Serves coding agents by the Model Context Protocol, over standard input and output: check, graph_summary, explain, diff,
bisect and repro as tools with short answers. Files below the folders that --root names can be asked about, and no
others; what runs there may neither connect, nor write, nor start processes. Needs the SDK:
pip install "inductor-debug[mcp]".
"""
EPILOG = """\
examples:
  inductor-debug mcp                                     for the folder it is started in
  inductor-debug mcp --root ~/models --python ~/models/.venv/bin/python

in the settings of an agent:
  {"mcpServers": {"inductor-debug": {"command": "inductor-debug", "args": ["mcp", "--root", "/path/to/project"]}}}
"""
FAILURES = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument(
        "--root",
        metavar="DIR",
        action="append",
        help="a folder whose files may be asked about; may be repeated (default: the folder it is started in)",
    )
    parser.add_argument("--python", metavar="INTERPRETER", help="the Python that has torch (default: this one)")


def run(arguments: argparse.Namespace) -> int:
    """Serves until the client leaves; returns the exit code.

    Raises:
        CommandError: a folder is not there, or the SDK is not.
    """
    roots = arguments.root or [os.getcwd()]
    missing = [root for root in roots if not os.path.isdir(root)]
    if missing:
        raise CommandError(f"{missing[0]} is no folder")
    from inductor_debug.agents.allowed_folders import AllowedFolders
    from inductor_debug.agents.tools import AgentTools

    try:
        from inductor_debug.agents.mcp_server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise CommandError('the protocol is spoken by its SDK: pip install "inductor-debug[mcp]"') from None
    serve(AgentTools(AllowedFolders(roots), located(arguments.python) or sys.executable))
    return 0
