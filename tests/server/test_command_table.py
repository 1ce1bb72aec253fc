"""What every command has in common: it is declared once, and refuses what it does not know, by name."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import typing
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from inductor_debug import __version__
from inductor_debug.server.commands.commands import COMMANDS as SERVED
from inductor_debug_schema.commands.command_table import COMMANDS, Command
from server_harness import Process


def kinds_of(command: Command[Any, Any]) -> tuple[type[Any], ...]:
    return typing.get_args(command.request) or (command.request,)


def test_every_command_that_is_declared_is_served() -> None:
    assert [command.name for command in COMMANDS] == list(SERVED)


def test_requests_are_dataclasses_that_leave_no_field_untyped() -> None:
    for command in COMMANDS:
        for kind in kinds_of(command):
            assert dataclasses.is_dataclass(kind)
            assert Any not in typing.get_type_hints(kind).values()


async def test_an_unknown_option_is_refused_by_name_whatever_the_command(
    serve: Callable[..., Awaitable[Process]],
) -> None:
    client = await serve()
    await client.initialize(processId=os.getpid())
    for command in COMMANDS:
        for kind in kinds_of(command):
            known = {field.name: "x" for field in dataclasses.fields(kind)}
            params = {"command": command.name, "arguments": [{**known, "colour": "red"}]}
            error = (await client.request("workspace/executeCommand", params))["error"]
            assert error["code"] == -32602, command.name
            assert error["message"].startswith(f"{command.name}: unknown option 'colour'; "), command.name


async def test_a_newer_editor_may_say_more_than_is_known_and_an_equal_one_may_not(
    serve: Callable[..., Awaitable[Process]], tmp_path: Path
) -> None:
    path = tmp_path / "empty.py"
    path.write_text("", encoding="utf-8")
    major, minor = (int(part) for part in __version__.split(".")[:2])
    asked = {"command": "inductorDebug.check", "arguments": [{"uri": path.as_uri(), "colour": "red"}]}
    for version, understood in ((f"{major}.{minor + 1}.0", True), (__version__, False), (f"{major}.{minor}.7", False)):
        client = await serve()
        options = {"version": version, "protocolVersion": 1, "trigger": "onType", "brandNewSetting": {"deep": True}}
        await client.initialize(processId=os.getpid(), initializationOptions=options, novelty=[1])
        answer = await client.request("workspace/executeCommand", asked)
        assert ("result" in answer) is understood, (version, answer)


async def test_a_newer_editor_is_told_which_of_its_commands_is_not_there(
    serve: Callable[..., Awaitable[Process]],
) -> None:
    client = await serve()
    result = await client.initialize(processId=os.getpid(), initializationOptions={"version": "99.0"})
    assert "inductorDebug.divine" not in result["capabilities"]["executeCommandProvider"]["commands"]
    error = (await client.request("workspace/executeCommand", {"command": "inductorDebug.divine"}))["error"]
    assert "'inductorDebug.divine' is not available in this version" in error["message"]


def test_an_editor_does_not_wait_for_what_carries_commands_out() -> None:
    script = (
        "import sys; from inductor_debug.server.client_session import serve_stdio\n"
        "print([name for name in sys.modules if name.startswith('inductor_debug.server.commands')])\n"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert told.stdout.strip() == "[]", told.stderr
