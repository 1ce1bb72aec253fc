"""A real `serve` process under a client that knows the specification better than manners."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import pytest
from inductor_debug.server.rpc.framing import frame
from server_harness import PATIENCE, Process

Serve = Callable[..., Awaitable[Process]]
INSTALLED = [sys.executable, "-m", "inductor_debug"]


installed = pytest.mark.parametrize("command", [INSTALLED], ids=["installed"])
"""For what is about the process itself: the server as users start it, not forked from one that has it loaded."""


@installed
async def test_a_session_in_good_order_ends_with_code_0(serve: Serve) -> None:
    client = await serve()
    result = await client.initialize()
    assert result["serverInfo"]["name"] == "inductor-debug"
    assert result["capabilities"]["positionEncoding"] == "utf-16"
    assert result["capabilities"]["textDocumentSync"] == {"openClose": True, "change": 2, "save": {"includeText": True}}
    assert (await client.request("shutdown"))["result"] is None
    client.notify("exit")
    assert await client.ended() == 0
    assert client.stderr == b""


async def test_exit_without_shutdown_ends_with_code_1(serve: Serve) -> None:
    client = await serve()
    await client.initialize()
    client.notify("exit")
    assert await client.ended() == 1


async def test_exit_before_initialize_ends_with_code_1(serve: Serve) -> None:
    client = await serve()
    client.notify("exit")
    assert await client.ended() == 1


@installed
@pytest.mark.parametrize(("shut_down", "code"), [(False, 1), (True, 0)])
async def test_the_end_of_input_ends_the_server(serve: Serve, shut_down: bool, code: int) -> None:
    client = await serve()
    await client.initialize()
    if shut_down:
        await client.request("shutdown")
    client.end_input()
    assert await client.ended() == code


@installed
async def test_a_signal_ends_the_server(serve: Serve) -> None:
    client = await serve()
    await client.initialize()
    client.process.terminate()
    assert await client.ended() == 1


async def test_what_comes_outside_of_the_session_is_refused(serve: Serve) -> None:
    client = await serve()
    hover = {"textDocument": {"uri": "file:///x.py"}, "position": {"line": 0, "character": 0}}
    assert (await client.request("textDocument/hover", hover))["error"]["code"] == -32002
    assert (await client.request("shutdown"))["error"]["code"] == -32002
    client.notify("textDocument/didOpen", {"garbage": True})
    await client.initialize()
    assert (await client.request("initialize", {"capabilities": {}}))["error"]["code"] == -32600
    await client.request("shutdown")
    assert (await client.request("shutdown"))["error"]["code"] == -32600
    assert (await client.request("workspace/executeCommand", {"command": "x"}))["error"]["code"] == -32600
    client.notify("textDocument/didSave", {"textDocument": {"uri": "file:///x.py"}})
    client.notify("exit")
    assert await client.ended() == 0


async def test_unknown_methods_are_refused_and_unknown_notifications_ignored(serve: Serve) -> None:
    client = await serve()
    await client.initialize()
    client.notify("$/unknown", {"x": 1})
    client.notify("unknown/notification", [1, 2])
    client.notify("$/cancelRequest", {"id": 12345})
    client.notify("$/cancelRequest", None)
    client.notify("$/setTrace", {"value": "verbose"})
    assert (await client.request("textDocument/rename", {"whatever": 1}))["error"]["code"] == -32601
    assert (await client.request("$/unknown"))["error"]["code"] == -32601
    assert (await client.request("x" * 100_000))["error"]["code"] == -32601
    assert client.messages.of("window/showMessage") == []


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {},
        {"textDocument": 3},
    ],
    ids=str,
)
async def test_parameters_that_do_not_fit_are_refused_and_nothing_breaks(serve: Serve, params: object) -> None:
    client = await serve()
    await client.initialize()
    for method in ("textDocument/didOpen", "textDocument/didChange", "workspace/didChangeWatchedFiles"):
        client.notify(method, params)
    assert (await client.request("textDocument/diagnostic", params))["error"]["code"] == -32602
    assert (await client.request("shutdown"))["result"] is None


BROKEN = {
    "half a message": b'{"jsonrpc": "2.0", "id": 1, "meth',
    "not UTF-8": b'{"jsonrpc": "2.0", "method": "\xff\xfe"}',
    "empty": b"",
    "deeper than any stack": b"[" * 200_000,
    "a batch": b'[{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}]',
    "no version": b'{"id": 1, "method": "shutdown"}',
    "another version": b'{"jsonrpc": "1.0", "id": 1, "method": "shutdown"}',
    "a method that is a number": b'{"jsonrpc": "2.0", "id": 1, "method": 7}',
    "an id that is a list": b'{"jsonrpc": "2.0", "id": [1], "method": "shutdown"}',
    "an id that is null": b'{"jsonrpc": "2.0", "id": null, "method": "shutdown"}',
    "a number": b"1e999",
}


async def test_malformed_messages_are_answered_and_the_session_goes_on(serve: Serve) -> None:
    client = await serve()
    await client.initialize()
    for name, body in BROKEN.items():
        start = len(client.messages.all)
        client.raw(frame(body))
        answer = await client.messages.first(lambda message: "error" in message, start)
        assert answer["error"]["code"] in (-32700, -32600), name
        assert answer["id"] is None, name
    client.raw(frame(b'{"jsonrpc": "2.0", "id": 99, "result": {"nobody": "asked"}}'))
    client.raw(frame(b'{"jsonrpc": "2.0", "id": {}, "error": 5}'))
    client.raw(frame(b'{"jsonrpc": "2.0"}'))
    assert (await client.request("shutdown"))["result"] is None


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: nonsense\r\n\r\n{}",
        b"Content-Length: 999999999999\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: 4\r\n\r\n" + b"{}" * 9,
        b"\x00\x01\x02\r\n\r\n",
    ],
    ids=repr,
)
async def test_a_broken_header_costs_no_more_than_itself(serve: Serve, header: bytes) -> None:
    client = await serve()
    await client.initialize()
    client.raw(header)
    assert (await client.request("shutdown"))["result"] is None


async def test_input_that_ends_in_the_middle_of_a_message_ends_the_server(serve: Serve) -> None:
    client = await serve()
    client.raw(b"Content-Length: 5000\r\n\r\n{")
    client.end_input()
    assert await client.ended() == 1
    assert b"middle of a message" in client.stderr


async def test_a_huge_document_is_taken(serve: Serve) -> None:
    client = await serve()
    await client.initialize(initializationOptions={"trigger": "manual"})
    text = "# " + "é" * (6 << 20)
    document = {"uri": "untitled:big", "languageId": "python", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": document})
    assert (await client.request("shutdown"))["result"] is None


async def test_messages_may_arrive_byte_by_byte(serve: Serve) -> None:
    client = await serve()
    body = json.dumps({"jsonrpc": "2.0", "id": "text", "method": "nothing"}).encode()
    for byte in frame(body):
        client.raw(bytes([byte]))
        await asyncio.sleep(0)
    answer = await client.messages.first(lambda message: message.get("id") == "text")
    assert answer["error"]["code"] == -32002


async def test_a_client_that_does_not_read_does_not_freeze_the_server() -> None:
    """Its answers fill the pipe; the server must still see that the client is gone."""
    server = subprocess.Popen([*INSTALLED, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    question = frame(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "m" * 1000}).encode())
    for _ in range(600):
        server.stdin.write(question)
    server.stdin.close()
    assert await asyncio.to_thread(server.wait, PATIENCE) == 1
    server.stdout.close()


async def test_a_killed_client_takes_its_server_along(tmp_path: Path) -> None:
    """Somebody else still holds the server's input open, so only the process id can tell."""
    client = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    server = await Process.start(command=INSTALLED)
    try:
        await server.initialize(processId=client.pid)
        client.kill()
        assert await server.ended() == 1
    finally:
        client.wait()
        await server.kill()


async def test_a_client_in_another_container_is_not_taken_for_dead(serve: Serve) -> None:
    nobody = subprocess.Popen([sys.executable, "-c", ""])
    nobody.wait()
    client = await serve()
    await client.initialize(processId=nobody.pid)
    assert (await client.request("shutdown"))["result"] is None


async def test_one_tcp_client_is_served(serve: Serve) -> None:
    server = await serve("--tcp", "0")
    while b"\n" not in server.stderr:
        await asyncio.sleep(0.01)
    host, _, port = server.stderr.decode().split()[-1].rpartition(":")
    assert host == "127.0.0.1"
    reader, writer = await asyncio.open_connection(host, int(port))
    for message in (
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ):
        writer.write(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()))
    answers = await asyncio.wait_for(reader.read(), PATIENCE)
    assert answers.count(b'"result"') == 2
    assert await server.ended() == 0
    writer.close()


@pytest.mark.parametrize(
    "arguments", [["--tcp", "nonsense"], ["--jobs", "0"], ["--log-file", "/nowhere/at/all.log"], ["--log-level", "x"]]
)
async def test_bad_usage_ends_with_code_2_and_a_reason(serve: Serve, arguments: list[str]) -> None:
    server = await serve(*arguments)
    assert await server.ended() == 2
    assert server.stderr.strip()
    assert b"Traceback" not in server.stderr


async def test_a_port_that_is_taken_is_told(serve: Serve) -> None:
    holder = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = holder.sockets[0].getsockname()[1]
    server = await serve("--tcp", str(port))
    assert await server.ended() == 2
    assert b"cannot listen" in server.stderr
    holder.close()


async def test_the_log_file_has_no_source_texts(serve: Serve, tmp_path: Path) -> None:
    log = tmp_path / "serve.log"
    client = await serve("--log-file", str(log), "--log-level", "info")
    await client.initialize(initializationOptions={"trigger": "manual"})
    document = {"uri": "untitled:x", "languageId": "python", "version": 1, "text": "SECRET = 1"}
    client.notify("textDocument/didOpen", {"textDocument": document})
    client.notify("some/notification", {})
    await client.request("shutdown")
    client.notify("exit")
    assert await client.ended() == 0
    assert client.stderr == b""
    written = log.read_text()
    assert "some/notification" in written
    assert "SECRET" not in written


@installed
async def test_the_server_never_imports_torch_and_is_small(serve: Serve, tmp_path: Path) -> None:
    shim = tmp_path / "torch"
    shim.mkdir()
    (shim / "__init__.py").write_text("raise ImportError('the server imported torch')\n")
    client = await serve(environment={"PYTHONPATH": str(tmp_path)})
    await client.initialize()
    response = await client.request("workspace/executeCommand", {"command": "inductorDebug.cancel"})
    assert response["result"] is None
    memory = psutil.Process(client.process.pid).memory_info().rss
    assert memory <= 70 << 20, f"{memory >> 20} MiB"
    assert b"imported torch" not in client.stderr


async def test_nothing_a_child_process_prints_reaches_the_protocol(tmp_path: Path) -> None:
    """Descriptors 0 and 1 of the server itself lead elsewhere, so those that children inherit do, too."""
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("needs /proc")
    server = await Process.start(command=INSTALLED)
    try:
        await server.initialize()
        descriptors = Path(f"/proc/{server.process.pid}/fd")
        assert os.readlink(descriptors / "0") == os.devnull
        assert os.readlink(descriptors / "1") == os.readlink(descriptors / "2")
    finally:
        await server.kill()


def test_initialize_is_answered_before_the_engine_is_imported() -> None:
    code = (
        "import sys, inductor_debug.server.client_session\n"
        "print([name for name in sys.modules if name.endswith(('engine.engine', 'engine.configuration'))])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
