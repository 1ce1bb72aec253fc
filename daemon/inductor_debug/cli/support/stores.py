"""Which artifact store a command means, and which artifacts in it: the arguments that `list` and `clean` share."""

from __future__ import annotations

import argparse
import os
import re
import time

from inductor_debug_schema import ArtifactKind, Stage

from inductor_debug.artifacts.entries import Selection
from inductor_debug.artifacts.store import ArtifactStore
from inductor_debug.cli.support.console import CommandError
from inductor_debug.cli.support.target_arguments import ARTIFACTS_HELP
from inductor_debug.engine.settings.folders import artifact_folder
from inductor_debug.engine.settings.settings_ladder import SettingsResolver

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")


class NoStoreError(CommandError):
    """No artifacts are kept for where the command was run; the message says why."""


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that `selection_of` reads."""
    group = parser.add_argument_group("which artifacts")
    kinds = [kind.value for kind in ArtifactKind]
    group.add_argument("--kind", choices=kinds, action="append", help="only those of this kind; may be repeated")
    group.add_argument("--target", metavar="NAME", default="", help="only those of this target")
    group.add_argument(
        "--path", metavar="FILE", default="", help="only those of this Python file, or below this folder"
    )
    group.add_argument("--stage", choices=[stage.value for stage in Stage], help="only those of this stage")
    group.add_argument("--older-than", metavar="AGE", type=age, help="only those older than 90m, 12h, 7d, 2w …")


def add_place(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that `store_of` reads."""
    group = parser.add_argument_group("where they are")
    group.add_argument("--artifacts", metavar="WHERE", help=ARTIFACTS_HELP)
    group.add_argument("--config", metavar="FILE", help="a TOML file in place of the nearest pyproject.toml")


def selection_of(arguments: argparse.Namespace) -> Selection:
    """The artifacts that the command line means."""
    return Selection(
        kinds=tuple(ArtifactKind(kind) for kind in arguments.kind or ()),
        target=arguments.target,
        source=os.path.abspath(arguments.path) if arguments.path else "",
        stage=Stage(arguments.stage) if arguments.stage else None,
        before=time.time() - arguments.older_than if arguments.older_than is not None else None,
    )


def store_of(arguments: argparse.Namespace) -> ArtifactStore:
    """The store of the project that the command is run in.

    Raises:
        ConfigurationError: the settings there cannot be used.
        NoStoreError: the settings keep no artifacts, or name a folder of something else.
    """
    said = {"artifacts": arguments.artifacts, "config": arguments.config}
    folder = artifact_folder(SettingsResolver(command_line=said, environ=os.environ)(os.getcwd()))
    if folder is None:
        raise NoStoreError("artifacts are switched off here; --artifacts names a folder to look into")
    store = ArtifactStore(folder)
    if foreign := store.foreign():
        raise NoStoreError(foreign)
    return store


def age(text: str) -> float:
    """`90m`, `12h`, `7d`, `2w` or a number of seconds, for argparse."""
    found = _AGE.fullmatch(text.strip().lower())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no age; write it as 90m, 12h, 7d or 2w")
    return float(found[1]) * _UNITS[found[2] or "s"]
