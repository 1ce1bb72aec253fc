"""The `inductor-debug` command: finds the subcommand and hands over.

A subcommand's module is imported only when it is asked for, because an editor waits while `serve` starts. Such a module
is a `CommandModule`; to add one, add a line to `COMMANDS` (`support/subcommands.py`).
Nothing here imports torch, pygls or asyncio.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from inductor_debug.accelerators.suggestions import unknown
from inductor_debug.cli.support import console
from inductor_debug.cli.support.subcommands import COMMANDS, carry_out, parser_of


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit code.

    Raises:
        SystemExit: from argparse, after `--help`, `--version` (code 0) and for bad usage (code 2).
    """
    console.prepare_streams()
    try:
        return _main(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return console.INTERRUPTED
    except console.InterruptedRunError as interruption:
        return interruption.exit_code
    except BrokenPipeError:
        console.silence_output()
        return console.BROKEN_PIPE


def _main(words: list[str]) -> int:
    if words[:2] == ["survey", "compare"]:
        words = ["survey-compare", *words[2:]]
    name = next((word for word in words if not word.startswith("-")), None)
    if name is not None and words[0] == name and name not in COMMANDS:
        return console.fail(unknown(name, COMMANDS, "command"))
    words = _with_whole_words(words)
    if name in COMMANDS:
        return carry_out(name, words)
    parser = parser_of({})
    parser.parse_args(words)
    parser.print_help(sys.stderr)
    return 2


def _with_whole_words(words: Sequence[str]) -> list[str]:
    """The words of a command line with `--argv WORDS` as one: argparse takes `--layers=2` for an option of ours."""
    joined: list[str] = []
    given = iter(words)
    for word in given:
        following = next(given, None) if word == "--argv" else None
        joined.append(word if following is None else f"{word}={following}")
    return joined


if __name__ == "__main__":
    raise SystemExit(main())
