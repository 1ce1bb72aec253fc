"""`--cluster`: whether many files are run on other machines, and how the command line says so.

Dask is an extra: it is imported where a cluster was asked for, and where it is missing a sentence says what to install.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from inductor_debug.cli.support import console
from inductor_debug.cli.support.console import CommandError
from inductor_debug.cli.support.running.run_arguments import located
from inductor_debug.engine.settings.settings import Settings
from inductor_debug.engine.survey.model_survey import SurveyOptions

if TYPE_CHECKING:
    from inductor_debug.cluster.cluster_place import ClusterPlace

_MISSING = 'a cluster needs Dask: pip install "inductor-debug[cluster]"'


def add_cluster(group: argparse._ActionsContainer) -> None:
    """Adds `--cluster` and what goes with it."""
    group.add_argument(
        "--cluster",
        metavar="WHERE",
        help="run on a Dask cluster: local[:N] (N workers here), tcp://HOST:8786, a scheduler's file, or FILE.py that "
        "makes a `cluster`",
    )
    group.add_argument(
        "--shared",
        metavar="FOLDER",
        help="a folder that all of the cluster's machines see under this path: files are read there instead of sent",
    )
    group.add_argument(
        "--cluster-resources",
        metavar="NAME=N,...",
        type=_resources,
        default={},
        help="Dask resources that a job takes which measures or compares, such as GPU=1",
    )


def cluster_of(
    arguments: argparse.Namespace,
    settings_for: Callable[[str], Settings],
    named: Sequence[str],
    study: SurveyOptions | None = None,
    settings_like: Callable[[str, str], Settings] | None = None,
) -> ClusterPlace | None:
    """The cluster that the command line asks for; None where it asks for none.

    Args:
        arguments: the command line.
        settings_for: the settings of a file.
        named: files that go to the cluster in any case.
        study: what is asked of models, where some are surveyed.
        settings_like: the settings of a file with an accelerator.

    Raises:
        CommandError: Dask is not installed, or the arguments contradict each other.
    """
    if arguments.cluster is None:
        if arguments.shared or arguments.cluster_resources:
            raise CommandError("--shared and --cluster-resources are about a cluster: say which with --cluster")
        return None
    if arguments.shared and not os.path.isdir(arguments.shared):
        raise CommandError(f"--shared {arguments.shared}: there is no such folder")
    try:
        from inductor_debug.cluster.cluster_errors import ClusterError
        from inductor_debug.cluster.cluster_place import ClusterOptions, ClusterPlace, interpreter_there
        from inductor_debug.cluster.connecting import require_known
    except ModuleNotFoundError as error:
        raise CommandError(f"{_MISSING} ({error})") from None
    try:
        require_known(arguments.cluster)
    except ClusterError as error:
        raise CommandError(str(error)) from None
    options = ClusterOptions(
        said=arguments.cluster,
        shared=os.path.abspath(arguments.shared) if arguments.shared else "",
        resources=arguments.cluster_resources,
        interpreter=interpreter_there(located(arguments.python) or ""),
        jobs=arguments.jobs or 0,
        named=named,
        results=os.path.abspath(arguments.folder) if study is not None else "",
        say=_silent if arguments.quiet else console.say,
    )
    return ClusterPlace(options, settings_for, study, settings_like)


def _silent(said: str) -> None:
    """Nothing is said with --quiet."""


def _resources(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, amount = part.partition("=")
        try:
            found[name.strip()] = float(amount)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{part!r} is not a name and a number, such as GPU=1") from None
        if not name.strip() or not found[name.strip()] > 0:
            raise argparse.ArgumentTypeError(f"{part!r} is not a name and a number, such as GPU=1")
    return found
