"""Which function carries out each command of the schema's table.

Only commands that work are offered. A command runs as a task of its own request, so `$/cancelRequest` stops it and the
analysis it asked for. Imported once `initialize` is answered (`features.executing_commands`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from inductor_debug_schema import to_wire
from inductor_debug_schema.commands import command_table as table
from inductor_debug_schema.commands.command_table import Command

from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.server.commands.accelerator_commands import accelerators, compare_accelerators
from inductor_debug.server.commands.bisect_commands import bisect, transfers
from inductor_debug.server.commands.bug_report_commands import bug_report
from inductor_debug.server.commands.calls import Call, Token, call_of
from inductor_debug.server.commands.check_commands import cancel, check, infer_anew, restart
from inductor_debug.server.commands.cost_commands import (
    compile_time,
    memory,
    profile,
    recording,
    roofline,
    suggest,
)
from inductor_debug.server.commands.debug_command import debug
from inductor_debug.server.commands.diff_commands import diff
from inductor_debug.server.commands.explain_command import explain
from inductor_debug.server.commands.graph_commands import graph, import_artifacts
from inductor_debug.server.commands.outline_commands import directive, outline
from inductor_debug.server.commands.report_commands import report
from inductor_debug.server.commands.repro_commands import repro
from inductor_debug.server.commands.size_commands import set_sizes, sizes
from inductor_debug.server.commands.tensor_commands import tensors
from inductor_debug.server.commands.workspace_command import check_workspace
from inductor_debug.server.state.synchronisation import path_of

if TYPE_CHECKING:
    from inductor_debug.server.state.server import Server

Request = TypeVar("Request")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class ServerCommand(Generic[Request, Answer]):
    """A command with what carries it out: takes in a call, returns the answer or raises `RequestError`."""

    declared: Command[Request, Answer]
    run: Callable[[Call[Request]], Awaitable[Answer]]
    waits: bool = True
    """Whether it needs to know what the accelerator of its file can do, which may be being asked for."""

    async def answer(self, server: Server, arguments: Sequence[Any], work_done: Token | None) -> Any:
        """The answer as it goes over the wire.

        Raises:
            RequestError: the arguments do not fit, or the command cannot do what it is asked for.
        """
        call = call_of(self.declared, server, arguments, work_done)
        await server.ready.wait()
        if self.waits:
            with contextlib.suppress(ConfigurationError):  # the command tells of that
                path = path_of(getattr(call.request, "uri", None) or "")
                await server.configuration.known(lambda: server.configuration.settings_for(path))
        return to_wire(await self.run(call))


_SERVED = (
    ServerCommand(table.CHECK, check),
    ServerCommand(table.CHECK_WORKSPACE, check_workspace),
    ServerCommand(table.GRAPH, graph),
    ServerCommand(table.IMPORT_ARTIFACTS, import_artifacts),
    ServerCommand(table.DIFF, diff),
    ServerCommand(table.REPRO, repro),
    ServerCommand(table.BISECT, bisect),
    ServerCommand(table.TRANSFERS, transfers),
    ServerCommand(table.SUGGEST, suggest),
    ServerCommand(table.MEMORY, memory),
    ServerCommand(table.ROOFLINE, roofline),
    ServerCommand(table.COMPILE_TIME, compile_time),
    ServerCommand(table.DEBUG, debug),
    ServerCommand(table.PROFILE, profile),
    ServerCommand(table.RECORDING, recording, waits=False),
    ServerCommand(table.ACCELERATORS, accelerators),
    ServerCommand(table.COMPARE_ACCELERATORS, compare_accelerators),
    ServerCommand(table.SIZES, sizes),
    ServerCommand(table.SET_SIZES, set_sizes),
    ServerCommand(table.OUTLINE, outline, waits=False),
    ServerCommand(table.DIRECTIVE, directive, waits=False),
    ServerCommand(table.TENSORS, tensors),
    ServerCommand(table.BUG_REPORT, bug_report),
    ServerCommand(table.REPORT, report),
    ServerCommand(table.CANCEL, cancel, waits=False),
    ServerCommand(table.RESTART, restart, waits=False),
    ServerCommand(table.INFER_ANEW, infer_anew),
    ServerCommand(table.EXPLAIN, explain),
)
COMMANDS: dict[str, ServerCommand[Any, Any]] = {command.declared.name: command for command in _SERVED}
"""Every command that is offered, by its name."""
