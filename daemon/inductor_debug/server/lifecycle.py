"""From `initialize` to `exit`, and what happens when a client forgets to say goodbye.

The answer to `initialize` needs neither the engine nor the configuration; both come after `initialized`. A client that
dies is noticed by the end of its input, and also by its process id, which matters where somebody else holds the pipe.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from inductor_debug_schema.commands.command_table import COMMANDS
from lsprotocol import types

from inductor_debug import __version__
from inductor_debug.server.features import code_actions, executing_commands
from inductor_debug.server.rpc.client import Client
from inductor_debug.server.state.notebook_synchronisation import sync_options
from inductor_debug.system import processes

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

PROTOCOL_VERSION = 1
"""Version of what we add to the protocol; rises when an addition changes its meaning."""
_POLL_SECONDS = 0.5
_SETTINGS_SECONDS = 2.0
"""How long documents wait for the client to say what its settings are."""

logger = logging.getLogger(__name__)


def capabilities(client: Client) -> types.ServerCapabilities:
    """What we offer this client.

    Positions are always UTF-16: every client understands it, whatever it lists (LSP 3.17, `positionEncodings`), and it
    is what findings carry, so nothing has to be converted with texts that may have changed.
    """
    return types.ServerCapabilities(
        position_encoding=types.PositionEncodingKind.Utf16,
        text_document_sync=types.TextDocumentSyncOptions(
            open_close=True,
            change=types.TextDocumentSyncKind.Incremental,
            save=types.SaveOptions(include_text=True),
        ),
        notebook_document_sync=sync_options(),
        diagnostic_provider=types.DiagnosticOptions(
            identifier="inductor-debug", inter_file_dependencies=True, workspace_diagnostics=False
        )
        if client.pulls
        else None,
        code_action_provider=types.CodeActionOptions(code_action_kinds=list(code_actions.KINDS)),
        hover_provider=True,
        inlay_hint_provider=types.InlayHintOptions(resolve_provider=False),
        code_lens_provider=types.CodeLensOptions(resolve_provider=False),
        execute_command_provider=types.ExecuteCommandOptions(commands=[command.name for command in COMMANDS]),
        workspace=types.WorkspaceOptions(
            workspace_folders=types.WorkspaceFoldersServerCapabilities(supported=True, change_notifications=True)
        ),
        experimental={"inductorDebug": {"protocolVersion": PROTOCOL_VERSION}},
    )


def register(server: Server) -> None:
    """Answers the four messages of the life cycle."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> types.InitializeResult:
        server.client = Client.of(params)
        folders = list(params.workspace_folders or [])
        if not folders and params.root_uri:
            folders = [types.WorkspaceFolder(uri=params.root_uri, name="")]
        server.configuration.start(params.initialization_options, folders)
        server.protocol.initialized = True
        _watch_process(server, server.client.process_id)
        return types.InitializeResult(
            capabilities=capabilities(server.client),
            server_info=types.ServerInfo(name="inductor-debug", version=__version__),
        )

    @server.feature(types.INITIALIZED)
    def initialized(params: types.InitializedParams) -> None:
        server.spawn(_begin(server))

    @server.feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.protocol.shut_down = True
        server.protocol.cancel_requests()
        server.stop_engine()

    @server.feature(types.EXIT)
    def leave(params: None) -> None:
        server.end(0 if server.protocol.shut_down else 1)


async def _begin(server: Server) -> None:
    """Learns the settings, warms the workers, and hands over the documents that were opened meanwhile.

    Nothing runs before the settings are known: one of them may say that nothing shall.
    """
    await _register_watchers(server)
    if server.client.configuration:
        asked = server.spawn(server.configuration.ask(server))
        done, _ = await asyncio.wait({asked}, timeout=_SETTINGS_SECONDS)
        if not done:
            logger.warning("the client has not answered workspace/configuration; going on without")
            asked.add_done_callback(lambda task: None if task.cancelled() else server.engine.settings_changed())
    if server.protocol.shut_down:
        return
    server.ready.set()
    for folder in list(server.configuration.folders.values()):
        server.prewarm(folder)
    for document in list(server.documents.values()):
        server.engine.open(document.uri, document.path, document.version, document.text)
    await executing_commands.have_commands()


async def _register_watchers(server: Server) -> None:
    registrations = []
    if server.client.watches_files:
        watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in ("**/*.py", "**/*.toml")]
        registrations.append(
            types.Registration(
                id="inductor-debug-files",
                method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                register_options=types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers),
            )
        )
    if server.client.watches_configuration:
        registrations.append(
            types.Registration(
                id="inductor-debug-settings",
                method=types.WORKSPACE_DID_CHANGE_CONFIGURATION,
                register_options={"section": "inductorDebug"},
            )
        )
    if registrations:
        params = types.RegistrationParams(registrations=registrations)
        server.spawn(server.protocol.ask(types.CLIENT_REGISTER_CAPABILITY, params))


def _watch_process(server: Server, process_id: int | None) -> None:
    """Ends the server when the client's process does.

    A process that cannot be seen from the start (another container's) is not watched; its input will end.
    """
    if process_id is None:
        return
    if processes.is_running(process_id):
        server.spawn(_until_gone(server, process_id))
    else:
        logger.info("process %d of the client cannot be watched", process_id)


async def _until_gone(server: Server, process_id: int) -> None:
    while processes.is_running(process_id):
        await asyncio.sleep(_POLL_SECONDS)
    logger.warning("the client (process %d) is gone", process_id)
    server.end(1)
