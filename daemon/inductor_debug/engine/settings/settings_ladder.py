"""The ladder that turns what everybody said into one `Settings` for a file.

Nearest first, each rung overriding the ones below, key by key (and `severity` rule by rule):
1. the command line,
2. the editor's settings (`inductorDebug.*`),
3. the environment (`MOCK_STRICT`, `MOCK_ALIGNMENT`, `MOCK_MAX_MEMORY`; where no rung names an accelerator, any of them
   chooses `mock`),
4. `[tool.inductor-debug]` in the nearest pyproject.toml,
5. the defaults of `Settings`.

A setting that cannot be used is an error on whichever rung it stands, overridden or not. Nothing here runs user code.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from inductor_debug_schema import (
    Entry,
    Finding,
    Location,
    Position,
    Range,
    Severity,
    SizeSetting,
    Stage,
    TargetSetting,
)

from inductor_debug.accelerators.description import awaited_document
from inductor_debug.accelerators.profile import NO_ACCELERATOR, ProfileError, read_profile, with_environment
from inductor_debug.accelerators.suggestions import nearest
from inductor_debug.engine.settings.accelerator_registry import Accelerators, StillAskingError, is_path
from inductor_debug.engine.settings.pyproject import Pyprojects, project_root
from inductor_debug.engine.settings.setting_values import COMMAND_LINE_KEYS, SettingsRung
from inductor_debug.engine.settings.settings import ConfigurationError, Settings, Trigger

__all__ = ["ConfigurationError", "Settings", "SettingsResolver", "Trigger"]

_ENVIRONMENT_PROFILE_KEYS = ("MOCK_ALIGNMENT", "MOCK_MAX_MEMORY")
_ENVIRONMENT_KEYS = ("MOCK_STRICT", *_ENVIRONMENT_PROFILE_KEYS)
_RESOLVED = ("accelerator", "artifacts", "interpreter", "severity", "targets", "entry")
"""Settings that are more than what the nearest rung says."""
ARTIFACT_WORDS = ("cache", "project", "off")
PROFILE_SECONDS = 2.0
"""How long a profile is trusted: it may rest on other files or on a package, whose changes nobody tells us of."""


class SettingsResolver:
    """Callable as the engine's `settings_for`: absolute path in, `Settings` out.

    `command_line` and `editor` map the names of settings (`inductor_debug_schema.settings`) to values; `command_line`
    also knows `config`, a file to use in place of the nearest pyproject.toml. Keys in
    camelCase work as well; None means "not said", and what else the editor says is not ours. Relative paths are
    relative to the working folder (command line), the project root (editor) or the file they stand in. `sizes` are
    those of inputs that somebody sets for this run, `torch_logs` what torch is to log in it.
    """

    def __init__(
        self,
        *,
        command_line: Mapping[str, Any] | None = None,
        editor: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        workspace_folders: Sequence[str] = (),
        sizes: Sequence[SizeSetting] = (),
        torch_logs: str = "",
        accelerators: Accelerators | None = None,
    ) -> None:
        self._command_line = dict(command_line or {})
        self._config: str | None = self._command_line.pop("config", None)
        self._editor = dict(editor or {})
        self._environ = os.environ if environ is None else environ
        self._folders = tuple(os.path.abspath(folder) for folder in workspace_folders)
        self._sizes = tuple(sizes)
        self._torch_logs = torch_logs
        self._pyprojects = Pyprojects()
        self._profiles: dict[tuple[str, ...], tuple[float, dict[str, Any]]] = {}
        self.accelerators = Accelerators() if accelerators is None else accelerators

    def update(
        self, *, editor: Mapping[str, Any] | None = None, workspace_folders: Sequence[str] | None = None
    ) -> None:
        """Replaces what the editor said; None leaves it as it was. Call `Engine.settings_changed` afterwards."""
        if editor is not None:
            self._editor = dict(editor)
        if workspace_folders is not None:
            self._folders = tuple(os.path.abspath(folder) for folder in workspace_folders)

    def __call__(self, path: str) -> Settings:
        """Resolves the settings of the file or folder at the absolute `path`; "" stands for a document without a file.

        Raises:
            ConfigurationError: a setting on any rung is unknown, ill-typed or unusable.
        """
        path = path or os.path.join(self._folders[0] if self._folders else os.getcwd(), "untitled.py")
        root = project_root(path, self._folders)
        project = self._project_rung(path)
        rungs = [
            SettingsRung("command line", os.getcwd()).read(self._command_line, COMMAND_LINE_KEYS),
            SettingsRung("editor settings", root).read(self._editor, COMMAND_LINE_KEYS, lenient=True),
            self._environment_rung(),
        ]
        if project is not None:
            rungs.append(project)
        said_interpreter = _first(rungs, "interpreter")
        interpreter = Settings.interpreter if said_interpreter is None else _interpreter(said_interpreter, root)
        accelerator, profile, place = self._accelerator(rungs, interpreter)
        plain = (name for name in COMMAND_LINE_KEYS if name not in _RESOLVED)
        said = {name: value for name in plain if (value := _first(rungs, name)) is not None}
        return Settings(
            project_root=root,
            interpreter=interpreter,
            profile=profile,
            accelerator=accelerator,
            artifacts=_artifacts(rungs),
            severity=_severities(rungs),
            targets=_targets_of(path, project),
            entry=_entries_of(path, rungs),
            sizes=self._sizes,
            torch_logs=self._torch_logs,
            complaints=(*_lost_targets(project), *_broken_adapter(profile, place, path)),
            configuration_path=project.path if project is not None else None,
            **said,
        )

    def for_accelerator(self, path: str, accelerator: str, *, folder: str | None = None) -> Settings:
        """The settings of a file as they were if `accelerator` had been chosen.

        Args:
            path: the file's, absolute.
            accelerator: a name, or the path of a profile.
            folder: what that path is relative to; the project's root without one.

        Raises:
            ConfigurationError: there is no such accelerator, or its profile or the settings cannot be used.
        """
        settings = self(path)
        rung = SettingsRung("accelerators to compare", folder or settings.project_root)
        name = self._named(accelerator, rung, settings.interpreter)
        return dataclasses.replace(settings, accelerator=name, profile=self._profile(name, rung, settings.interpreter))

    def name_of(self, path: str, accelerator: str, *, folder: str | None = None) -> str:
        """What stands for an accelerator in tables: its name where somebody wrote it otherwise; a profile's path stays.

        Raises:
            ConfigurationError: as `for_accelerator`, which has the arguments as well.
        """
        settings = self.for_accelerator(path, accelerator, folder=folder)
        return accelerator if is_path(accelerator) else settings.accelerator

    def _project_rung(self, path: str) -> SettingsRung | None:
        if self._config is not None:
            return self._pyprojects.rung(os.path.abspath(self._config), required=True)
        return self._pyprojects.nearest(path)

    def _environment_rung(self) -> SettingsRung:
        rung = SettingsRung("environment", os.getcwd())
        strict = self._environ.get("MOCK_STRICT", "")
        if strict not in ("", "0", "1"):
            raise rung.error("MOCK_STRICT", f"must be 1 or 0, not {strict!r}")
        if strict:
            rung.values["strict"] = strict == "1"
        return rung

    def _accelerator(self, rungs: list[SettingsRung], interpreter: str) -> tuple[str, dict[str, Any], Location | None]:
        """The accelerator's name (or absolute path), its document, and the line that names it."""
        for rung in rungs:
            if "accelerator" in rung.values:
                name = self._named(rung.values["accelerator"], rung, interpreter)
                return name, self._profile(name, rung, interpreter), rung.at("accelerator")
        if any(self._environ.get(key) for key in _ENVIRONMENT_KEYS):
            return "mock", self._profile("mock", SettingsRung("defaults", os.getcwd()), interpreter), None
        try:
            document = self.accelerators.of_machine(interpreter)
        except StillAskingError:
            document = awaited_document(NO_ACCELERATOR)
        return str(document["name"]), document, None

    def _named(self, said: str, rung: SettingsRung, interpreter: str) -> str:
        """The name that stands everywhere for what a rung says; a profile's path made absolute."""
        try:
            return _located(self.accelerators.meant(said, interpreter), rung.folder)
        except StillAskingError:
            return said
        except ProfileError as error:
            raise _configuration_error(error, rung) from None

    def _profile(self, name: str, rung: SettingsRung, interpreter: str) -> dict[str, Any]:
        variables = {key: self._environ[key] for key in _ENVIRONMENT_PROFILE_KEYS if key in self._environ}
        key = (name, interpreter, *(f"{variable}={value}" for variable, value in variables.items()))
        kept = self._profiles.get(key)
        now = time.monotonic()
        if kept is not None and now - kept[0] < PROFILE_SECONDS:
            return kept[1]
        try:
            document = with_environment(self.accelerators.document(name, interpreter), variables)
            read_profile(document)
        except StillAskingError:
            return awaited_document(name)
        except ProfileError as error:
            raise _configuration_error(error, rung) from None
        self._profiles[key] = (now, document)
        return document


def _configuration_error(error: ProfileError, rung: SettingsRung) -> ConfigurationError:
    """Blames the profile's file, the variable that changed it, or else the setting that named it."""
    if error.key in _ENVIRONMENT_PROFILE_KEYS:
        return ConfigurationError(error.message, source="environment", key=error.key)
    if error.path and os.path.exists(error.path):
        return ConfigurationError(
            error.message, source="accelerator profile", path=error.path, key=error.key or None, line=error.line
        )
    return rung.error("accelerator", f"{error.path}: {error.message}" if error.path else error.message)


def _artifacts(rungs: list[SettingsRung]) -> str:
    """Where artifacts go: a word, or the absolute path of a folder."""
    for rung in rungs:
        if "artifacts" in rung.values:
            said = str(rung.values["artifacts"])
            if said in ARTIFACT_WORDS:
                return said
            return os.path.normpath(os.path.join(rung.folder, os.path.expanduser(said)))
    return Settings.artifacts


def _first(rungs: list[SettingsRung], key: str) -> Any:
    return next((rung.values[key] for rung in rungs if key in rung.values), None)


def _severities(rungs: list[SettingsRung]) -> dict[str, Severity | None]:
    levels: dict[str, Severity | None] = {}
    for rung in reversed(rungs):
        levels.update(rung.values.get("severity", {}))
    return levels


def _located(accelerator: str, folder: str) -> str:
    """A profile's path made absolute; a name stays a name."""
    if is_path(accelerator):
        return os.path.normpath(os.path.join(folder, os.path.expanduser(accelerator)))
    return accelerator


def _interpreter(interpreter: str, root: str) -> str:
    expanded = os.path.expanduser(interpreter)
    if "/" in expanded or os.sep in expanded:
        return os.path.normpath(os.path.join(root, expanded))
    return expanded


def _targets_of(path: str, project: SettingsRung | None) -> tuple[TargetSetting, ...]:
    """The targets that pyproject.toml declares for the file at `path`."""
    if project is None:
        return ()
    found = []
    for key, said in project.values.get("targets", {}).items():
        file, _, name = key.partition("::")
        if os.path.normpath(os.path.join(project.folder, file)) == os.path.normpath(path):
            found.append(TargetSetting(name, said.get("init"), said.get("inputs"), project.at(f"targets.{key}")))
    return tuple(found)


def _entries_of(path: str, rungs: list[SettingsRung]) -> tuple[Entry, ...]:
    """The entries that any rung declares for the file at `path`, the nearest rung's first."""
    found = []
    for rung in rungs:
        for said in rung.values.get("entry", ()):
            file, _, expression = said.partition("::")
            if os.path.normpath(os.path.join(rung.folder, file)) == os.path.normpath(path):
                found.append(Entry(expression.strip(), rung.at("entry")))
    return tuple(found)


def _lost_targets(project: SettingsRung | None) -> tuple[Finding, ...]:
    """What pyproject.toml declares targets for that is no file; each is told where it stands."""
    found = []
    for key in project.values.get("targets", {}) if project is not None else ():
        assert project is not None
        file, _, name = key.partition("::")
        path, place = os.path.join(project.folder, file), project.at(f"targets.{key}")
        if place is None or os.path.exists(path):
            continue
        near = nearest(os.path.basename(path), _python_files(os.path.dirname(path)))
        words = f"; did you mean {near!r}?" if near else "."
        message = f"{name} is not analysed, because there is no file {file!r}{words}"
        found.append(Finding("directive", Severity.WARNING, message, place.path, place.range, Stage.LOAD))
    return tuple(found)


def _broken_adapter(profile: Mapping[str, Any], place: Location | None, path: str) -> tuple[Finding, ...]:
    """What of the chosen adapter cannot be used, told where it was chosen, else at the top of the file at `path`."""
    problem = profile.get("source", {}).get("problem")
    if not problem:
        return ()
    told = place or Location(path, Range(Position(0, 0), Position(0, 0)))
    message = f"{problem} The analysis goes on without it."
    return (Finding("accelerator-adapter", Severity.WARNING, message, told.path, told.range, Stage.LOAD),)


def _python_files(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(".py")]
    except OSError:
        return []
