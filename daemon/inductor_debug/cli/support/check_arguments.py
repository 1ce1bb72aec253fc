"""The arguments of `inductor-debug check`: their names are fixed by CONTRACT, their meanings told in `--help`."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from typing import Any

from inductor_debug_schema import SizeSetting, Stage

from inductor_debug.cli.support.file_arguments import PathError
from inductor_debug.cli.support.fixing import add_fixing
from inductor_debug.cli.support.formats import FORMATS
from inductor_debug.cli.support.output import add_output
from inductor_debug.cli.support.running.cluster_arguments import add_cluster
from inductor_debug.cli.support.running.run_arguments import add_jobs, add_python, seconds
from inductor_debug.engine.settings.setting_values import ALLOWABLE

DESCRIPTION = """\
Analyses Python files that define PyTorch models, without weights and without the accelerator, and prints what would
not compile or run there, each finding at the expression to blame.
"""
EPILOG = """\
examples:
  inductor-debug check model.py
  inductor-debug check src tests/models --accelerator spyre --strict
  inductor-debug check src --format sarif --output findings.sarif
  inductor-debug check src --diff                           what --fix would change
  inductor-debug check src --write-baseline known.json      accept what is there today
  inductor-debug check src --baseline known.json            and fail on new findings only
  inductor-debug check src --baseline known.json --max-growth 5 --accelerator h100    and where a run gets slower
  inductor-debug check model.py --entry "build_model(Cfg())"
  inductor-debug check train.py --follow-main --argv "--layers 2"

A folder stands for the Python files below it that define or compile a model, without hidden folders, virtual
environments, installed packages and what `exclude` names. A check runs a file, so set-up files, tests, migrations,
scripts that write, connect or train when they are loaded, and files without a model are not opened: they are counted,
listed with --verbose, and opened with --include. A file that is named is always checked; if it offers nothing to
compile, that is mentioned and does not fail the command. The last line says how many classes were checked, and names
those that were not, with the reason: "no findings" is said of what ran alone.

What a check of an unchanged file told is kept in the user's cache folder and told again, as long as every file that its
run looked at, the libraries and this tool are what they were; --no-cache runs it all the same.

A fix is applied when the check of the fixed file no longer has the finding and has no new one, and when the model
computes the same on real tensors, forward and backward; --unsafe-fixes drops the last condition.

exit codes:
  0    no finding at or above the failing severity (warning; error with --warn)
  1    findings
  2    bad usage or configuration, an unreadable path, a named file that cannot be loaded, or a declared target that
       could not be analysed; with --require-targets any class that was not checked
  130  interrupted
"""
STAGES = tuple(stage.value for stage in (Stage.PREVIEW, Stage.MOCK, Stage.AOT, Stage.GRADIENTS, Stage.EXPORT))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds all arguments."""
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a file or a folder")
    _add_analysis(parser.add_argument_group("what to analyse"))
    add_cluster(parser.add_argument_group("where"))
    _add_verdict(parser.add_argument_group("what counts"))
    add_fixing(parser.add_argument_group("fixes"))
    _add_output(parser.add_argument_group("output"))


def _add_analysis(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--accelerator",
        metavar="NAME|FILE.toml",
        help="an accelerator, built in or installed, or a profile of yours",
    )
    group.add_argument(
        "--stages",
        metavar="STAGE,...",
        type=_stages,
        help=f"how deep to look: {', '.join(STAGES)} (default: preview,mock)",
    )
    add_sizes(group)
    group.add_argument(
        "--exclude",
        metavar="PATTERN",
        action="append",
        help="leave out files below folders; in place of configured ones",
    )
    group.add_argument(
        "--include",
        metavar="PATTERN",
        action="append",
        help="check these files below folders, too, whatever they look like; in place of configured ones",
    )
    group.add_argument(
        "--models-only",
        action="store_true",
        help="open of the files that are named, too, only those that define or compile a model, as of folders",
    )
    add_python(group)
    add_jobs(group, "files")
    group.add_argument(
        "--timeout", metavar="S", type=seconds, help="seconds for a stage of a class; a file has tenfold"
    )
    group.add_argument(
        "--no-cache", action="store_true", help="run every file, also where nothing changed since an earlier check"
    )
    add_allow(group)
    add_entries(group)
    group.add_argument("--config", metavar="FILE", help="a TOML file in place of the nearest pyproject.toml")
    group.add_argument(
        "--artifacts", metavar="WHERE", help="keep the graphs that are captured: cache, project, or a folder"
    )
    group.add_argument(
        "--compare",
        metavar="BACKEND,...",
        type=_names,
        default=[],
        help="with --format html: compare each target's numbers with eager's, too (KernelDiff)",
    )


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("no backend is named")
    return list(dict.fromkeys(names))


def _add_verdict(group: argparse._ArgumentGroup) -> None:
    severity = group.add_mutually_exclusive_group()
    severity.add_argument(
        "--strict", dest="strict", action="store_true", help="what the accelerator cannot do is an error"
    )
    severity.add_argument(
        "--warn", dest="strict", action="store_false", help="it is a warning, and only errors fail the command"
    )
    group.set_defaults(strict=None)
    group.add_argument(
        "--require-targets",
        action="store_true",
        default=None,
        help="fail where a class was not checked, for want of inputs or any other reason",
    )
    group.add_argument("--baseline", metavar="FILE", help="hide the findings listed there")
    group.add_argument(
        "--write-baseline",
        metavar="FILE",
        help="list all findings there, to be hidden from now on, and what each target needs at least",
    )
    group.add_argument(
        "--max-growth",
        metavar="PERCENT",
        type=_percent,
        help="fail where the time or memory that a target needs at least is so much more than in the baseline",
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    add_output(group, FORMATS)
    amount = group.add_mutually_exclusive_group()
    amount.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="show every stage, every related place, and shared findings with each file",
    )
    amount.add_argument("-q", "--quiet", action="store_true", help="findings only: no progress, remarks and summary")


def add_sizes(group: argparse._ActionsContainer) -> None:
    """Adds `--size`."""
    group.add_argument(
        "--size",
        metavar="NAME=N",
        dest="sizes",
        action="append",
        type=_size,
        default=[],
        help="set a free size of the inputs, such as batch=8, in each target that has one of that name; repeatable",
    )


def _percent(text: str) -> float:
    try:
        amount = float(text.removesuffix("%"))
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a percentage such as 5, got {text!r}")
    return amount


def _size(text: str) -> SizeSetting:
    name, _, value = text.partition("=")
    if not name.strip() or not value.strip().isdecimal() or int(value) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a name and a number of at least 1, such as batch=8")
    return SizeSetting("", name.strip(), int(value))


def _stages(text: str) -> list[str]:
    stages = [word.strip() for word in text.split(",") if word.strip()]
    for stage in stages:
        if stage not in STAGES:
            raise argparse.ArgumentTypeError(f"unknown stage {stage!r}; there are {', '.join(STAGES)}")
    if not stages:
        raise argparse.ArgumentTypeError(f"no stage named; there are {', '.join(STAGES)}")
    return stages


def add_allow(group: argparse._ActionsContainer) -> None:
    """Adds `--allow`."""
    group.add_argument(
        "--allow",
        metavar="DEED",
        action="append",
        choices=ALLOWABLE,
        help=f"let the code that is run do what is refused otherwise: {', '.join(ALLOWABLE)}",
    )


def add_entries(group: argparse._ArgumentGroup) -> None:
    """Adds what builds more than a file offers by itself; `said_of_entries` reads it."""
    group.add_argument(
        "--entry",
        metavar="EXPRESSION",
        action="append",
        help="also check what this Python expression gives in the one FILE that is named: a module, a function, or a "
        "pair of it and its inputs; may be repeated",
    )
    group.add_argument(
        "--follow-main",
        action="store_true",
        default=None,
        help='also run what stands under `if __name__ == "__main__":`, up to where it repeats itself, and check the '
        "models that it calls",
    )
    group.add_argument(
        "--argv", metavar="WORDS", type=shlex.split, help="the command line that the file sees, in one string"
    )


def said_of_entries(arguments: argparse.Namespace, files: Sequence[str]) -> dict[str, Any]:
    """What the command line says of entries, for `SettingsResolver`; None where it is silent.

    Args:
        arguments: the command line.
        files: what it names.

    Raises:
        PathError: entries are given, and not for one file.
    """
    if arguments.entry and (len(files) != 1 or os.path.isdir(files[0])):
        raise PathError("--entry is evaluated in one file: name that file alone")
    entries = [f"{os.path.abspath(files[0])}::{entry}" for entry in arguments.entry or ()]
    return {"entry": entries or None, "follow_main": arguments.follow_main, "argv": arguments.argv}
