"""`create_server`: every feature, registered on one server."""

from __future__ import annotations

from inductor_debug.server import lifecycle
from inductor_debug.server.features import code_actions, code_lenses, executing_commands, hover, inlay_hints, publishing
from inductor_debug.server.state import (
    client_configuration,
    known_comparisons,
    notebook_synchronisation,
    notices,
    progress,
    synchronisation,
    workspace_results,
)
from inductor_debug.server.state.server import ServeOptions, Server

FEATURES = (
    lifecycle,
    client_configuration,
    publishing,
    workspace_results,
    progress,
    notices,
    known_comparisons,
    synchronisation,
    notebook_synchronisation,
    executing_commands,
    code_actions,
    hover,
    inlay_hints,
    code_lenses,
)
"""Modules with a `register(server)`; updates reach those that listen in this order."""


def create_server(options: ServeOptions | None = None) -> Server:
    """Makes a language server that waits for a transport; call it where an event loop runs."""
    server = Server(options or ServeOptions())
    for feature in FEATURES:
        feature.register(server)
    return server
