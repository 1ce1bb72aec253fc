"""The tools and texts as a server of the Model Context Protocol, over standard input and output: no port is opened."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp_types import ToolAnnotations

from inductor_debug import __version__
from inductor_debug.accelerators.profile import ProfileError
from inductor_debug.agents.tools import SCHEME, AgentTools
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.rules.registry import UnknownRuleError
from inductor_debug.scripting.carrying_out import OrderFailedError

_INSTRUCTIONS = """\
Says whether PyTorch models compile and run, and which expression is to blame if not, without weights or an accelerator.
Begin with `check`; what it lists as unchecked is not known to be good. Places are FILE:LINE:COLUMN, counted from 1."""
_EXPECTED = (OrderFailedError, ConfigurationError, ProfileError, UnknownRuleError, ValueError)
"""What an agent is told of in a sentence. Paths outside, and files that are not there, are values that are wrong."""


def server_of(tools: AgentTools) -> MCPServer[Any]:
    """The server."""
    server: MCPServer[Any] = MCPServer(
        "inductor-debug", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING"
    )
    for tool in (tools.check, tools.survey, tools.graph_summary, tools.explain, tools.diff, tools.bisect, tools.repro):
        annotations = ToolAnnotations(read_only_hint=True, open_world_hint=False)
        server.add_tool(_told(tool), description=" ".join((tool.__doc__ or "").split()), annotations=annotations)

    @server.resource(
        f"{SCHEME}://texts/{{number}}/{{name}}", description="A text that an answer named", mime_type="text/plain"
    )
    def text(number: str, name: str) -> str:
        try:
            return tools.text_of(number, name)
        except KeyError:
            raise ResourceNotFoundError(f"there is no text {number}, or no longer") from None

    return server


def serve(tools: AgentTools) -> None:
    """Serves until the client leaves; no worker is left then."""

    async def session() -> None:
        try:
            await server_of(tools).run_stdio_async()
        finally:
            await tools.close()

    asyncio.run(session())


def _told(tool: Callable[..., Any]) -> Callable[..., Any]:
    """The tool, whose expected failures are told in their words."""

    @functools.wraps(tool)
    async def told(*args: Any, **kwargs: Any) -> Any:
        try:
            return await tool(*args, **kwargs)
        except _EXPECTED as error:
            raise ToolError(str(error)) from error

    return told
