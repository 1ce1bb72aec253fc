"""The manual page `inductor-debug(1)`, from what the overview of the command line says.

It names every command and leaves their arguments to `--help`, which cannot differ from what they take. Imports nothing
but the standard library: the page is made while a package is built.
"""

from __future__ import annotations

from collections.abc import Iterator

from inductor_debug import __version__
from inductor_debug.cli.support.subcommands import COMMANDS, DESCRIPTION, EPILOG

_FILES = {
    "pyproject.toml": "settings, in the table [tool.inductor-debug]",
    "~/.cache/inductor-debug": "graphs, kernels, reports, logs; XDG_CACHE_HOME moves it",
}
_ENVIRONMENT = {
    "MOCK_STRICT, MOCK_ALIGNMENT, MOCK_MAX_MEMORY": "change the accelerator mock for a run",
    "NO_COLOR, FORCE_COLOR": "whether text is coloured",
    "XDG_CACHE_HOME": "where the cache is",
}


def manual_page() -> str:
    """The page in the language of man(7)."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    yield f'.TH INDUCTOR-DEBUG 1 "" "inductor-debug {__version__}" "User Commands"'
    yield ".SH NAME"
    yield "inductor-debug \\- checks PyTorch models for compilers and accelerators"
    yield ".SH SYNOPSIS"
    yield ".B inductor-debug"
    yield ".I COMMAND"
    yield "[\\fIARGUMENT\\fR ...]"
    yield ".SH DESCRIPTION"
    yield _text(DESCRIPTION)
    yield "Every command explains its arguments:"
    yield ".B inductor-debug \\fICOMMAND\\fB \\-\\-help"
    yield ".SH COMMANDS"
    yield from _listed({name: known.summary for name, known in COMMANDS.items()})
    for heading, _, lines in (part.partition(":\n") for part in EPILOG.strip().split("\n\n")):
        yield f".SH {heading.upper()}"
        yield from (".nf", *(_text(line.strip()) for line in lines.splitlines()), ".fi")
    yield ".SH FILES"
    yield from _listed(_FILES)
    yield ".SH ENVIRONMENT"
    yield from _listed(_ENVIRONMENT)


def _listed(meanings: dict[str, str]) -> Iterator[str]:
    for name, meaning in meanings.items():
        yield from (".TP", f".B {_text(name)}", _text(meaning))


def _text(words: str) -> str:
    """Text that man(7) takes for nothing else."""
    escaped = words.replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in escaped)
    return f"\\&{escaped}" if escaped[:1] in (".", "'") else escaped
