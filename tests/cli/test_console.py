"""Terminals: colour, odd encodings, the progress line."""

from __future__ import annotations

import io

import pytest
from inductor_debug.cli.support.console import Progress, wants_colour


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("mode", "environ", "terminal", "coloured"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_when_to_colour(mode: str, environ: dict[str, str], terminal: bool, coloured: bool) -> None:
    assert wants_colour(mode, Terminal() if terminal else io.StringIO(), environ) is coloured


def test_progress_is_one_line_that_is_gone_afterwards() -> None:
    terminal = Terminal()
    progress = Progress(3, enabled=True, stream=terminal)
    progress.show("model.py: mock")
    progress.step()
    progress.show("x" * 1000)
    assert "[0/3] model.py: mock" in terminal.getvalue()
    assert "\n" not in terminal.getvalue()
    assert max(len(line) for line in terminal.getvalue().split("\r")) < 200
    progress.clear()
    assert terminal.getvalue().endswith("\r\x1b[2K")


@pytest.mark.parametrize(("stream", "enabled"), [(io.StringIO(), True), (Terminal(), False)])
def test_progress_shows_only_on_a_terminal_and_when_wanted(stream: io.StringIO, enabled: bool) -> None:
    progress = Progress(3, enabled=enabled, stream=stream)
    progress.show("model.py")
    progress.clear()
    assert stream.getvalue() == ""
