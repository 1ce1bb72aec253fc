"""The first thing that runs in the user's interpreter: makes our packages importable, then starts a role.

It is run by path, as a script, because that interpreter may be another Python without this package, without msgpack,
or without torch. Nothing here shadows a module of the user: only our own two packages are found before theirs, and
msgpack only where they have none. Until a role starts, standard library only, and no syntax newer than Python 3.7, so
that an old interpreter can still say what is wrong with it.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from typing import Any, NoReturn

OLDEST_PYTHON = (3, 10)
START_FAILED_STATUS = 78
FAILURE_PREFIX = "inductor-debug: "


class FolderFinder:
    """Finds the packages of a name → folder map, and nothing else (a meta path finder)."""

    def __init__(self, folders: dict[str, str]) -> None:
        self._folders = folders

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Called by the import system; submodules are found by the package's own `__path__`."""
        folder = self._folders.get(name)
        if folder is None:
            return None
        return importlib.util.spec_from_file_location(
            name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )


def fail(message: str) -> NoReturn:
    """Ends the process; the supervisor shows the message to the user."""
    sys.stderr.write(FAILURE_PREFIX + " ".join(message.split()) + "\n")
    sys.stderr.flush()
    os._exit(START_FAILED_STATUS)


def make_packages_importable(configuration: dict[str, Any]) -> None:
    """Adds the finders, and takes this script's own folder off the path: it holds names like `frames` and `job`."""
    own_folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != own_folder]
    sys.path.extend(configuration["extra_path"])
    sys.meta_path.insert(0, FolderFinder(configuration["packages"]))
    sys.meta_path.append(FolderFinder(configuration["fallback_packages"]))


def main() -> None:
    """Reads the configuration (JSON, the only argument) and runs the role it names; never returns."""
    configuration = json.loads(sys.argv[1])
    sys.argv[:] = [""]
    if sys.version_info < OLDEST_PYTHON:
        version = ".".join(map(str, sys.version_info[:3]))
        fail(f"{sys.executable} is Python {version}; 3.10 or newer is needed. Choose another interpreter.")
    make_packages_importable(configuration)
    control = configuration["control"]
    importlib.import_module("inductor_debug.system.leash").hold(0 if control is None else control)
    try:
        role = importlib.import_module(configuration["role"])
    except ImportError as error:
        fail(f"{sys.executable} cannot load the worker: {error}. Install msgpack there, or choose another interpreter.")
    role.main(configuration)


if __name__ == "__main__":
    main()
