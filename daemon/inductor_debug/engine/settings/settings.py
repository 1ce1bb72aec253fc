"""What one file is analysed with: plain data, resolved from the ladder by `engine.settings.settings_ladder`.

Nothing here reads files or the environment.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import PurePath
from typing import Any

from inductor_debug_schema import Entry, Finding, Severity, SizeSetting, Stage, TargetSetting

from inductor_debug.accelerators.profile import NO_ACCELERATOR, chosen_name

DEFAULT_TIMEOUT = 120.0
"""Seconds one file may take. Far above any model we know; an infinite loop is all it has to catch."""
DEFAULT_MEMORY_LIMIT = 8 << 30
"""Bytes one worker may have resident."""
FOREIGN_FOLDERS = frozenset({"site-packages", "dist-packages", ".venv", "node_modules", "__pycache__", ".git", ".tox"})
"""Folders whose files are somebody else's: opening one in an editor must not run it."""


class Trigger(str, Enum):
    """When a document of an editor is analysed."""

    ON_TYPE = "onType"
    """As typed, while the edit stays inside functions of the saved file; otherwise on save."""
    ON_SAVE = "onSave"
    """When opened and when saved."""
    MANUAL = "manual"
    """Only by command."""


class ConfigurationError(Exception):
    """A setting cannot be used, so nothing is analysed with it.

    `path` is the configuration file, or None where the setting came from elsewhere; `source` names the place in words
    ("pyproject.toml", "editor settings", "command line", "environment"); `key` is the dotted key, if one is to blame;
    `line` is zero-based, and None where the file is not known to have one.
    """

    def __init__(
        self, message: str, *, source: str, path: str | None = None, key: str | None = None, line: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.path = path
        self.key = key
        self.line = line

    def __str__(self) -> str:
        place = self.path or self.source
        if self.path and self.line is not None:
            place = f"{self.path}:{self.line + 1}"
        key = f" {self.key}:" if self.key else ""
        return f"{place}:{key} {self.message}"


@dataclass(frozen=True)
class Settings:
    """Everything that decides what an analysis of one file does and how its findings are shown.

    `accelerator` is a built-in name or the absolute path of a profile, and `profile` its document with the environment
    applied, ready for a worker. `severity` maps rule ids
    to a level, or to None for "off". `targets` are those that the configuration declares for this very file.
    `sizes` are those of inputs that the user set for this session; no file declares them.
    `complaints` say what is wrong with the configuration that keeps no file from being analysed.
    `exclude` are files that are never checked, `include` such as are checked though they look like none to check.
    `allow` names what the code that is run may do to the world: "network", "write", "subprocess".
    `infer` lets inputs be inferred for classes that have none; `require_targets` fails a check that leaves one
    unchecked. `timeout` is in seconds, `memory_limit` in bytes.
    `artifacts` says where graphs, kernels and reports are kept: "cache" (the user's cache folder), "project"
    (`debug_artifacts` in the project's root), "off", or the absolute path of a folder.
    `entry` are expressions that build what is to be checked in this very file; `follow_main` runs what stands under
    `if __name__ == "__main__":`, and `argv` is the command line that the file sees.
    `torch_logs` is what torch is to log, as `TORCH_LOGS` says it.
    `configuration_path` is the pyproject.toml that was used, if any.
    """

    project_root: str
    profile: dict[str, Any] = field(default_factory=dict)
    accelerator: str = NO_ACCELERATOR
    stages: tuple[Stage, ...] = (Stage.PREVIEW, Stage.MOCK)
    trigger: Trigger = Trigger.ON_TYPE
    strict: bool = False
    severity: Mapping[str, Severity | None] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    timeout: float = DEFAULT_TIMEOUT
    memory_limit: int = DEFAULT_MEMORY_LIMIT
    interpreter: str = sys.executable
    infer: bool = True
    require_targets: bool = False
    artifacts: str = "cache"
    targets: tuple[TargetSetting, ...] = ()
    entry: tuple[Entry, ...] = ()
    follow_main: bool = False
    argv: tuple[str, ...] = ()
    sizes: tuple[SizeSetting, ...] = ()
    torch_logs: str = ""
    complaints: tuple[Finding, ...] = ()
    configuration_path: str | None = None

    @property
    def chosen_accelerator(self) -> str | None:
        """The name of the accelerator that findings are about; None where nobody chose one."""
        return chosen_name(self.profile)

    @property
    def awaits_accelerator(self) -> bool:
        """Whether it is still being asked what the accelerator can do: nothing can be judged until that is known."""
        return "awaited" in self.profile.get("source", {})

    def run_digest(self) -> str:
        """A short digest of what a worker's answer depends on; severity, trigger and limits of time are not in it."""
        parts = [
            self.project_root,
            self.profile,
            [stage.value for stage in self.stages],
            self.memory_limit,
            self.infer,
            self.allow,
            self.interpreter,
            [[size.target, size.name, size.value] for size in self.sizes],
            [[target.name, target.init, target.inputs, target.at] for target in self.targets],
            [[entry.expression, entry.at] for entry in self.entry],
            [self.follow_main, self.argv],
            self.torch_logs,
        ]
        return hashlib.blake2b(json.dumps(parts, sort_keys=True, default=str).encode(), digest_size=16).hexdigest()

    def excludes(self, path: str) -> bool:
        """Whether `exclude` or common sense (another project's folder) leaves out the file at the absolute `path`."""
        relative = PurePath(os.path.relpath(path, self.project_root))
        if FOREIGN_FOLDERS.intersection(relative.parts):
            return True
        return _is_among(self.exclude, relative)

    def includes(self, path: str) -> bool:
        """Whether `include` names the file at the absolute `path`, which is then checked whatever it looks like."""
        return _is_among(self.include, PurePath(os.path.relpath(path, self.project_root)))


def _is_among(patterns: tuple[str, ...], relative: PurePath) -> bool:
    return any(_matches(relative.as_posix(), relative.parts, pattern) for pattern in patterns)


def _matches(posix: str, parts: tuple[str, ...], pattern: str) -> bool:
    """Gitignore-like: a bare name matches any part of the path, a pattern with a slash the path from the root."""
    pattern = pattern.rstrip("/")
    if "/" not in pattern:
        return any(fnmatch.fnmatchcase(part, pattern) for part in parts)
    pattern = pattern.removeprefix("./").lstrip("/")
    return fnmatch.fnmatchcase(posix, pattern) or fnmatch.fnmatchcase(posix, f"{pattern}/*")
