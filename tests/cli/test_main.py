"""The command's own words: overview, versions, commands that do not exist, and `explain`."""

from __future__ import annotations

import inductor_debug
import pytest
from commands import Command
from inductor_debug.cli.main import COMMANDS
from inductor_debug.rules.registry import all_rules


def test_the_overview_lists_every_command_and_the_exit_codes(command: Command) -> None:
    ran = command("--help")
    assert ran.code == 0
    assert all(f"    {name} " in ran.out and known.summary in ran.out for name, known in COMMANDS.items())
    assert "exit codes:" in ran.out


@pytest.mark.parametrize("name", [*COMMANDS])
def test_every_command_has_help_with_examples(command: Command, name: str) -> None:
    ran = command(name, "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"usage: inductor-debug {name}")
    assert f"\nexamples:\n  inductor-debug {name}" in ran.out


def test_no_command_is_bad_usage(command: Command) -> None:
    ran = command()
    assert ran.code == 2
    assert ran.out == ""
    assert "usage:" in ran.err


def test_version(command: Command) -> None:
    assert command("--version").out == f"inductor-debug {inductor_debug.__version__}\n"


@pytest.mark.parametrize(
    ("word", "hint"),
    [("chekc", "did you mean 'check'?"), ("Explain", "did you mean 'explain'?"), ("zzz", "there are ")],
)
def test_a_mistyped_command_is_answered_with_the_nearest(command: Command, word: str, hint: str) -> None:
    ran = command(word)
    assert ran.code == 2
    assert f"unknown command {word!r}; {hint}" in ran.err
    assert ran.err.count("\n") == 1


def test_explain_alone_lists_all_rules(command: Command) -> None:
    ran = command("explain")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == [rule.id for rule in all_rules()]


def test_explain_prints_the_page_as_markdown_into_a_pipe(command: Command) -> None:
    ran = command("explain", "dtype")
    assert ran.code == 0
    assert ran.out.startswith("# dtype\n")


def test_explain_lays_the_page_out_on_a_terminal(command: Command) -> None:
    out = command("explain", "dtype", "--color", "always").out
    assert "\x1b[1;4mdtype\x1b[0m" in out
    assert "```" not in out
    assert "# " not in out.splitlines()[0]


def test_explain_says_which_kind_of_break_is_not_known(command: Command) -> None:
    ran = command("explain", "gb9999")
    assert (ran.code, ran.out) == (2, "")
    assert "no GB9999 is known here among the graph breaks of torch's registry" in ran.err
    assert ran.err.count("\n") == 1


def test_explain_suggests_the_nearest_rule(command: Command) -> None:
    ran = command("explain", "dtpe")
    assert ran.code == 2
    assert ran.out == ""
    assert "did you mean 'dtype'?" in ran.err
