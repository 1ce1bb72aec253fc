"""`workspace/executeCommand`: has a command of the schema's table carried out.

What carries commands out is imported for the first one, or ahead of it once nobody waits (`have_commands`): an editor
waits while the server starts, and few of its commands are ever asked for.
"""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from inductor_debug.server.rpc.protocol import INVALID_PARAMS, RequestError

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server


def register(server: Server) -> None:
    """Answers `workspace/executeCommand`."""

    @server.feature(types.WORKSPACE_EXECUTE_COMMAND)
    async def execute(params: types.ExecuteCommandParams) -> Any:
        from inductor_debug.server.commands.commands import COMMANDS

        command = COMMANDS.get(params.command)
        if command is None:
            offered = ", ".join(COMMANDS)
            raise RequestError(
                f"The command {params.command!r} is not available in this version; there are {offered}.", INVALID_PARAMS
            )
        return await command.answer(server, params.arguments or [], params.work_done_token)


async def have_commands() -> None:
    """Imports what carries commands out, beside what else goes on."""
    await asyncio.to_thread(importlib.import_module, "inductor_debug.server.commands.commands")
