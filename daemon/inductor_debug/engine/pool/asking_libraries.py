"""Asks an interpreter which architectures an installed library has, in a short process of its own."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import asdict, dataclass

from inductor_debug.engine.pool.launch import Launch, StartFailedError, WorkerEntry
from inductor_debug.engine.pool.short_process import run_to_end

LISTING_SECONDS = 600.0
"""How long a library may take to be imported and listed, from a cold disk."""
_ROLE = "inductor_debug.worker.library_architectures"


class LibraryError(Exception):
    """There is no list; the message says why."""


@dataclass(frozen=True, slots=True)
class LibraryQuestion:
    """Which architectures are meant, and how they are built (`worker.library_architectures`)."""

    library: str
    wanted: str
    layers: int = 0
    config: str = ""
    directive: str = ""


@dataclass(frozen=True, slots=True)
class LibraryArchitecture:
    """An architecture, with the texts of files that build it: one is enough, and they are tried in this order."""

    name: str
    texts: tuple[str, ...]


def ask_library(interpreter: str, question: LibraryQuestion) -> list[LibraryArchitecture]:
    """The architectures that are meant.

    Raises:
        LibraryError: the library is not installed in that interpreter, or the process ended without an answer.
    """
    launch = Launch(interpreter, os.getcwd(), {}, WorkerEntry())
    try:
        done = run_to_end(launch, _ROLE, asdict(question), LISTING_SECONDS)
        answer = json.loads(done.answer)
    except subprocess.TimeoutExpired:
        raise LibraryError(f"{question.library} was not listed within {LISTING_SECONDS:g} seconds") from None
    except StartFailedError as error:
        raise LibraryError(str(error)) from None
    except ValueError:
        raise LibraryError(str(launch.died(done.status, done.printed))) from None
    if answer["problem"]:
        raise LibraryError(answer["problem"])
    return [LibraryArchitecture(row["name"], tuple(row["texts"])) for row in answer["architectures"]]
