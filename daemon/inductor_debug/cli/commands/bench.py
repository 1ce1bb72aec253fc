"""`inductor-debug bench`: runs the benchmarks of a checkout, which are no part of what is installed."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
from typing import Protocol, cast

from inductor_debug.cli.support.console import CommandError
from inductor_debug.cluster.cluster_errors import ClusterError

_BENCHMARKS = "inductor_debug_benchmarks"

DESCRIPTION = "Measures, and prints what was measured beside what we promise. Needs a checkout of the source."
EPILOG = ""
FAILURES = (ClusterError,)


class _Benchmarks(Protocol):
    DESCRIPTION: str
    EPILOG: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...
    def run(self, arguments: argparse.Namespace) -> int: ...


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the benchmarks that are there."""
    if (benchmarks := _benchmarks()) is None:
        parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
        return
    parser.description, parser.epilog = benchmarks.DESCRIPTION, benchmarks.EPILOG
    benchmarks.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs a benchmark; returns the exit code.

    Raises:
        CommandError: there are no benchmarks here, or one could not be measured.
    """
    if (benchmarks := _benchmarks()) is None:
        raise CommandError("benchmarks are in a checkout of the source (`benchmarks/`), not in an installed package")
    return benchmarks.run(arguments)


def _benchmarks() -> _Benchmarks | None:
    if importlib.util.find_spec(_BENCHMARKS) is None:
        return None
    return cast("_Benchmarks", importlib.import_module(f"{_BENCHMARKS}.command"))
