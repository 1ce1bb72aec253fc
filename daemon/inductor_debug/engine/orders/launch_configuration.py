"""The launch configuration by which VS Code debugs a script, and its place in the user's `.vscode/launch.json`.

What is there stays as it is, comments included; a file that cannot be read as VS Code reads it is not touched.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inductor_debug.engine.settings.settings import Settings
from inductor_debug.source.json_with_comments import JsonTextError, parsed, with_element

_FOLDER, _FILE = ".vscode", "launch.json"


class LaunchFileError(Exception):
    """The file was not changed; the message says why."""


@dataclass(frozen=True, slots=True)
class LaunchConfiguration:
    """A configuration in the workspace at `root`: the file that has it, or `why` there is none."""

    root: str
    configuration: dict[str, Any]
    path: str | None
    why: str = ""


def launched(name: str, script: str, path: str, settings: Settings) -> LaunchConfiguration:
    """Makes the configuration of a script that was made for the file at `path`, and puts it where VS Code reads it."""
    root = workspace_of(path, settings.project_root)
    configuration = launch_configuration(name, script, settings.interpreter, root)
    try:
        return LaunchConfiguration(root, configuration, add_configuration(root, configuration)[0])
    except LaunchFileError as error:
        return LaunchConfiguration(root, configuration, None, str(error))


def launch_configuration(name: str, script: str, interpreter: str, root: str) -> dict[str, Any]:
    """The configuration that runs `script` in VS Code's Python debugger, in a workspace whose folder is `root`."""
    relative = os.path.relpath(script, root)
    inside = not relative.startswith("..") and not os.path.isabs(relative)
    return {
        "name": name,
        "type": "debugpy",
        "request": "launch",
        "program": "${workspaceFolder}/" + relative.replace(os.sep, "/") if inside else script,
        "python": interpreter,
        "cwd": "${workspaceFolder}",
        "console": "integratedTerminal",
        "justMyCode": True,
        # Inductor asks processes of its own what the processor can do; in a debugger they would hang.
        "subProcess": False,
        # The debugger's own frame evaluation and Dynamo's exclude each other.
        "env": {"PYTHONHASHSEED": "0", "PYDEVD_USE_FRAME_EVAL": "NO"},
    }


def workspace_of(path: str, root: str) -> str:
    """The folder that is most likely open in VS Code for a file: the nearest with `.vscode`, else the project's."""
    folder = os.path.dirname(os.path.abspath(path))
    while True:
        if os.path.isdir(os.path.join(folder, _FOLDER)):
            return folder
        parent = os.path.dirname(folder)
        if folder == os.path.abspath(root) or parent == folder:
            return root
        folder = parent


def add_configuration(root: str, configuration: dict[str, Any]) -> tuple[str, bool]:
    """Puts the configuration into the file of a workspace; one that starts the same program stays as it is.

    Returns:
        The file's path, and whether it was changed.

    Raises:
        LaunchFileError: the file cannot be read or written.
    """
    path = Path(os.path.realpath(os.path.join(root, _FOLDER, _FILE)))
    try:
        text = path.read_bytes().decode("utf-8") if path.exists() else ""
        if _starts_already(text, configuration["program"]):
            return str(path), False
        made = with_element(text, "configurations", configuration, {"version": "0.2.0"})
        _replace(path, made)
    except (JsonTextError, UnicodeDecodeError) as error:
        raise LaunchFileError(f"{path} cannot be read, so it was left as it is: {error}") from error
    except OSError as error:
        raise LaunchFileError(f"cannot write {path}: {error.strerror or error}") from error
    return str(path), True


def _starts_already(text: str, program: str) -> bool:
    known = parsed(text)
    configurations = known.get("configurations") if isinstance(known, dict) else None
    return any(
        isinstance(one, dict) and one.get("program") == program
        for one in (configurations if isinstance(configurations, list) else ())
    )


def _replace(path: Path, text: str) -> None:
    """Writes the file whole or not at all, with the rights that it had."""
    path.parent.mkdir(exist_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        if path.exists():
            os.chmod(draft, path.stat().st_mode)
        else:
            os.chmod(draft, 0o644)
        os.replace(draft, path)
    except OSError:
        os.unlink(draft)
        raise
