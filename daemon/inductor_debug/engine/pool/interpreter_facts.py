"""Asks an interpreter what it is and which packages it has, in a short process of its own that imports none of them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

_SECONDS = 60.0
# Pythons that are far too old have to understand it, so that their version can be told.
_PROGRAM = """
import json, sys
sys.path.pop(0)
found = {}
try:
    from importlib import metadata
    for name in sys.argv[1:]:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
except ImportError:
    pass
print(json.dumps({"executable": sys.executable, "python": "%d.%d.%d" % sys.version_info[:3], "packages": found}))
"""


class InterpreterError(Exception):
    """The interpreter does not answer; the message says why, without a full stop."""


@dataclass(frozen=True, slots=True)
class InterpreterFacts:
    """An interpreter: its path, its version, and the versions of those asked-for `packages` that it has."""

    executable: str
    python: str
    packages: dict[str, str]


def facts_of(interpreter: str, packages: Sequence[str]) -> InterpreterFacts:
    """What an interpreter says of itself.

    Raises:
        InterpreterError: it is not there, or says nothing.
    """
    try:
        done = subprocess.run(
            [interpreter, "-c", _PROGRAM, *packages],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
        said = json.loads(done.stdout)
        return InterpreterFacts(said["executable"], said["python"], said["packages"])
    except FileNotFoundError:
        raise InterpreterError(f"there is no {interpreter}") from None
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        raise InterpreterError(f"{interpreter} does not run as a Python: {error}") from None
