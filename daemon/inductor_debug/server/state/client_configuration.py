"""What the editor says about settings, folder by folder, and how it becomes the engine's `Settings`.

Three sources, later ones overriding earlier ones key by key: `initializationOptions`, the settings pushed with
`workspace/didChangeConfiguration`, and, where the client can be asked, `workspace/configuration` for each folder. The
ladder below that (environment, pyproject.toml, defaults) is the engine's. A bad value in the editor is told once and
the rung below decides in its place; only the accelerator has no stand-in: findings about another device mislead.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from inductor_debug_schema.settings import SETTINGS
from lsprotocol import types
from pygls.uris import to_fs_path

from inductor_debug.engine.settings.settings import ConfigurationError, Settings
from inductor_debug.server.state.background_asking import BackgroundAsking
from inductor_debug.server.state.notices import Notices

if TYPE_CHECKING:
    from inductor_debug.engine.settings.accelerator_registry import Accelerators
    from inductor_debug.engine.settings.settings_ladder import SettingsResolver
    from inductor_debug.server.state.server import Server

SECTION = "inductorDebug"
KNOWN = tuple(setting for setting in SETTINGS if setting.scope and setting.daemon)
"""What the editor may say to the daemon: the engine's settings, and switches of what is shown in the text (`true`,
`false`, or an object with `enabled`). Others belong to the editor's own side."""
_NO_STAND_IN = "accelerator"

logger = logging.getLogger(__name__)
T = TypeVar("T")


def section_of(value: object) -> dict[str, Any]:
    """The settings we know in what an editor sent, whether or not it wrapped them in their section.

    A value of null means "not said", as editors send it for a setting without a default.
    """
    if not isinstance(value, Mapping):
        return {}
    inner = value.get(SECTION)
    if isinstance(inner, Mapping):
        value = inner
    settings = {}
    for setting in KNOWN:
        said = value.get(setting.editor_name, value.get(setting.name))
        if said is not None:
            settings[setting.editor_name] = said
    return settings


class Configuration:
    """Settings by file, over any number of workspace folders.

    Args:
        notices: Where a bad setting is told.
        command_line: The nearest rung: what `serve` was started with.
        environ: The environment that the ladder reads.
    """

    def __init__(
        self,
        notices: Notices,
        *,
        command_line: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._notices = notices
        self._command_line = dict(command_line or {})
        self._environ = environ
        self._initial: dict[str, Any] = {}
        self._pushed: dict[str, Any] = {}
        self._asked: dict[str, dict[str, Any]] = {}
        self._resolvers: dict[str, SettingsResolver] = {}
        self._editor: dict[str, dict[str, Any]] = {}
        self._asking: BackgroundAsking | None = None
        self._accelerators: Accelerators | None = None
        self.accelerator_listeners: list[Callable[[], None]] = []
        self.folders: dict[str, str] = {}

    def start(self, options: object, folders: Sequence[types.WorkspaceFolder]) -> None:
        """Takes what `initialize` brought."""
        self._initial = section_of(options)
        self.change_folders(folders, ())

    def change_folders(self, added: Sequence[types.WorkspaceFolder], removed: Sequence[types.WorkspaceFolder]) -> None:
        """Adds and removes workspace folders."""
        for folder in removed:
            self.folders.pop(folder.uri, None)
            self._asked.pop(folder.uri, None)
        for folder in added:
            path = to_fs_path(folder.uri)
            if path:
                self.folders[folder.uri] = os.path.normpath(path)
        self._forget()

    def push(self, settings: object) -> bool:
        """Takes the settings of `didChangeConfiguration`; returns whether anything is new."""
        pushed = section_of(settings)
        changed = pushed != self._pushed
        self._pushed = pushed
        self._forget()
        return changed

    async def ask(self, server: Server) -> bool:
        """Asks the client for the settings of every folder; returns whether anything is new."""
        scopes: list[str] = ["", *self.folders]
        items = [types.ConfigurationItem(scope_uri=scope or None, section=SECTION) for scope in scopes]
        answer = await server.protocol.ask(types.WORKSPACE_CONFIGURATION, types.ConfigurationParams(items=items))
        if not isinstance(answer, Sequence) or isinstance(answer, str):
            return False
        asked = {scope: section_of(value) for scope, value in zip(scopes, answer, strict=False)}
        changed = asked != self._asked
        self._asked = asked
        self._forget()
        return changed

    def shows(self, switch: str, path: str) -> bool:
        """Whether what a switch shows is wanted in the file at the absolute `path`: yes, unless somebody says no."""
        said = self._said(self._folder_of(path)).get(switch)
        return (said.get("enabled") if isinstance(said, Mapping) else said) is not False

    def settings_for(self, path: str) -> Settings:
        """The settings of the file at the absolute `path`, for the engine.

        Raises:
            ConfigurationError: the configuration cannot be used, even without the editor's bad values. It was told.
        """
        folder = self._folder_of(path)
        told = False
        while True:
            try:
                settings = self._resolver(folder)(path)
            except ConfigurationError as error:
                self._notices.tell(f"settings {folder}", str(error))
                told = True
                if not self._stand_in(folder, error):
                    raise
                continue
            if not told and not self._repaired(folder):
                self._notices.mended(f"settings {folder}")
            return settings

    def accelerators_for(self, path: str) -> tuple[Accelerators, str]:
        """The registry of accelerators, and the interpreter that runs the file at the absolute `path`.

        What that does not know yet it raises `StillAskingError` for: see `known`.

        Raises:
            ConfigurationError: the configuration cannot be used.
        """
        return self._resolver(self._folder_of(path)).accelerators, self.settings_for(path).interpreter

    async def known(self, ask: Callable[[], T]) -> T:
        """What `ask` returns once nothing that it rests on is still to be said by an accelerator.

        Args:
            ask: asks this configuration, or its registry; called anew after each answer.
        """
        from inductor_debug.engine.settings.accelerator_registry import StillAskingError

        while True:
            try:
                found = ask()
            except StillAskingError:
                found = None
            if self._asking is None or not await self._asking.answer():
                return cast("T", found)

    def for_accelerator(self, path: str, accelerator: str) -> Settings:
        """The settings of a file as they were if `accelerator` had been chosen.

        Raises:
            ConfigurationError: there is no such accelerator, or the configuration cannot be used.
        """
        return self._resolver(self._folder_of(path)).for_accelerator(path, accelerator)

    def _stand_in(self, folder: str, error: ConfigurationError) -> bool:
        """Leaves out the editor's bad value, if there is one to leave out."""
        key = (error.key or "").split(".")[0].replace("_", "").lower()
        editor = self._editor[folder]
        for name in editor:
            if error.path is None and name.lower() == key and name != _NO_STAND_IN and "editor" in error.source:
                self._editor[folder] = {other: value for other, value in editor.items() if other != name}
                del self._resolvers[folder]
                return True
        return False

    def _repaired(self, folder: str) -> bool:
        return self._editor[folder] != self._said(folder)

    def _said(self, folder: str) -> dict[str, Any]:
        return {**self._initial, **self._pushed, **self._asked.get("", {}), **self._asked.get(folder, {})}

    def _resolver(self, folder: str) -> SettingsResolver:
        # Imported when first needed, like the engine itself: `initialize` is answered without it.
        from inductor_debug.engine.settings.settings_ladder import SettingsResolver

        resolver = self._resolvers.get(folder)
        if resolver is None:
            if self._accelerators is None:
                self._accelerators = self._registry()
            editor = self._editor.setdefault(folder, self._said(folder))
            resolver = self._resolvers[folder] = SettingsResolver(
                command_line=self._command_line,
                editor=editor,
                environ=self._environ,
                workspace_folders=list(self.folders.values()),
                accelerators=self._accelerators,
            )
        return resolver

    def _registry(self) -> Accelerators:
        """One for as long as the server runs: what adapters said outlives a change of settings."""
        from inductor_debug.engine.pool.asking_interpreters import ask_interpreter
        from inductor_debug.engine.settings.accelerator_registry import Accelerators

        self._asking = BackgroundAsking(ask_interpreter, self._told)
        return Accelerators(self._asking)

    def _told(self) -> None:
        self._resolvers.clear()  # they keep documents for a while
        for listener in self.accelerator_listeners:
            listener()

    def _forget(self) -> None:
        self._resolvers.clear()
        self._editor.clear()

    def _folder_of(self, path: str) -> str:
        """The URI of the innermost workspace folder around the file (or at it), or "" where there is none."""
        path = os.path.join(path, "")
        around = [(len(root), uri) for uri, root in self.folders.items() if path.startswith(os.path.join(root, ""))]
        return max(around)[1] if around else ""


def register(server: Server) -> None:
    """Listens for changed settings and folders, and for what accelerators say."""

    def tell() -> None:
        server.engine.settings_changed()
        for listener in server.settings_listeners:
            listener()

    async def reload(pushed: bool) -> None:
        asked = server.client.configuration and await server.configuration.ask(server)
        if pushed or asked:
            tell()

    server.configuration.accelerator_listeners.append(tell)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def changed(params: types.DidChangeConfigurationParams) -> None:
        pushed = server.configuration.push(params.settings)
        server.spawn(reload(pushed))

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(params: types.DidChangeWorkspaceFoldersParams) -> None:
        server.configuration.change_folders(params.event.added, params.event.removed)
        for folder in params.event.added:
            server.prewarm(server.configuration.folders.get(folder.uri, ""))
        server.spawn(reload(True))
