from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio
from server_harness import PUSHED, Editor, Process, editor
from zygote import COMMAND


@pytest_asyncio.fixture
async def make_editor(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Callable[..., Awaitable[Editor]]]:
    async with AsyncExitStack() as stack:

        async def make(capabilities: Mapping[str, Any] = PUSHED, settings: Mapping[str, Any] | None = None) -> Editor:
            return await stack.enter_async_context(editor(monkeypatch, capabilities, settings))

        yield make


@pytest.fixture
def start_editor(make_editor: Callable[..., Awaitable[Editor]]) -> Callable[..., Awaitable[Editor]]:
    """An editor whose server is ready for documents."""

    async def start(*arguments: Any) -> Editor:
        made = await make_editor(*arguments)
        await made.start()
        return made

    return start


@pytest.fixture
def command() -> Sequence[str]:
    """What starts `inductor-debug`."""
    return COMMAND


@pytest_asyncio.fixture
async def serve(command: Sequence[str]) -> AsyncIterator[Callable[..., Awaitable[Process]]]:
    started: list[Process] = []

    async def start(*arguments: str, environment: Mapping[str, str] | None = None) -> Process:
        process = await Process.start(*arguments, environment=environment, command=command)
        started.append(process)
        return process

    yield start
    await asyncio.gather(*(process.kill() for process in started))
    for process in started:
        process.messages.verify()
