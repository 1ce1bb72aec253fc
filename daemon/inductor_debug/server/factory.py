"""`create_server`: every feature, registered on one server."""

from __future__ import annotations

from inductor_debug.server import (
    code_actions,
    code_lenses,
    commands,
    configuration,
    hover,
    inlay_hints,
    lifecycle,
    notices,
    numerics,
    progress,
    publishing,
    synchronisation,
)
from inductor_debug.server.server import ServeOptions, Server
from inductor_debug.server.workspace import results as workspace_results

FEATURES = (
    lifecycle,
    configuration,
    publishing,
    workspace_results,
    progress,
    notices,
    numerics,
    synchronisation,
    commands,
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
