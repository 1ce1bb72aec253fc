"""The server as real editors see it: their capabilities (pytest-lsp keeps them), a real engine and real workers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio
from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client
from server_harness import PATIENCE, Process
from zygote import COMMAND

pytestmark = pytest.mark.torch

MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        '😀'; y = self.linear(x).double()
        return y.float()


def get_inputs():
    return [torch.randn(4, 8)]
"""
HELIX = types.ClientCapabilities(
    general=types.GeneralClientCapabilities(
        position_encodings=[
            types.PositionEncodingKind.Utf8,
            types.PositionEncodingKind.Utf32,
            types.PositionEncodingKind.Utf16,
        ]
    ),
    text_document=types.TextDocumentClientCapabilities(
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
            tag_support=types.ClientDiagnosticsTagOptions(value_set=[types.DiagnosticTag.Unnecessary]),
            version_support=True,
        ),
    ),
    window=types.WindowClientCapabilities(work_done_progress=True),
    workspace=types.WorkspaceClientCapabilities(
        configuration=True,
        workspace_folders=True,
        did_change_configuration=types.DidChangeConfigurationClientCapabilities(dynamic_registration=False),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
    ),
)
"""What Helix 25.01 says of itself, as far as it concerns us."""
PULLING = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        diagnostic=types.DiagnosticClientCapabilities(related_document_support=True),
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(related_information=True, data_support=True),
    ),
    workspace=types.WorkspaceClientCapabilities(
        diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    ),
)
"""What VS Code 1.100 says of pulling diagnostics."""
EDITORS = {
    "neovim": lambda: client_capabilities("neovim"),
    "visual-studio-code": lambda: client_capabilities("visual-studio-code"),
    "emacs": lambda: client_capabilities("emacs"),
    "helix": lambda: HELIX,
}
CAPABILITIES = {**EDITORS, "pulling": lambda: PULLING}


class Session:
    """An editor with one folder and one server."""

    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client = client
        self.path = root / "model.py"
        self.uri = self.path.as_uri()
        self.version = 0
        self.states: list[Any] = []
        self._news = asyncio.Event()

        @client.feature("inductorDebug/analysis")
        def heard(params: Any) -> None:
            self.states.append(params)
            self._news.set()

    async def settled(self) -> Any:
        """The last state of the present version."""

        async def wait() -> Any:
            while True:
                for said in reversed(self.states):
                    if said.version == self.version and said.state not in ("queued", "running"):
                        return said
                self._news.clear()
                await self._news.wait()

        return await asyncio.wait_for(wait(), 6 * PATIENCE)

    def open(self, text: str) -> None:
        self.path.write_text(text, encoding="utf-8")
        self.version += 1
        item = types.TextDocumentItem(uri=self.uri, language_id="python", version=self.version, text=text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))

    def replace(self, line: int, start: int, end: int, text: str) -> None:
        self.version += 1
        change = types.TextDocumentContentChangePartial(
            range=types.Range(start=types.Position(line, start), end=types.Position(line, end)), text=text
        )
        document = types.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(text_document=document, content_changes=[change])
        )

    @property
    def shown(self) -> list[tuple[str | int | None, int, int, int]]:
        return [
            (item.code, item.range.start.line, item.range.start.character, item.range.end.character)
            for item in self.client.diagnostics.get(self.uri, ())
        ]


Start = Callable[..., Awaitable[Session]]


@pytest_asyncio.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    clients: list[LanguageClient] = []

    async def begin(name: str, **options: Any) -> Session:
        client = make_test_lsp_client()
        clients.append(client)
        session = Session(client, tmp_path)
        cache = tmp_path / "cache"
        await client.start_io(*COMMAND, "serve", "--cache-folder", str(cache))
        folder = types.WorkspaceFolder(uri=tmp_path.as_uri(), name="project")
        params = types.InitializeParams(
            capabilities=CAPABILITIES[name](),
            workspace_folders=[folder],
            initialization_options={"accelerator": "mock", **options},
        )
        result = await client.initialize_session(params)
        assert result.capabilities.position_encoding == types.PositionEncodingKind.Utf16
        return session

    yield begin
    for client in clients:
        await client.shutdown_session()
        await client.stop()


@pytest.mark.parametrize("name", EDITORS)
async def test_an_editor_sees_the_finding_come_and_go_while_its_user_types(start: Start, name: str) -> None:
    session = await start(name)
    session.open(MODEL)
    assert (await session.settled()).state == "done"
    assert session.shown == [("dtype", 10, 18, 41)]
    session.replace(10, 32, 41, "")
    assert (await session.settled()).state == "done"
    assert session.shown == []
    session.replace(10, 32, 32, ".double()")
    assert (await session.settled()).findings == 1
    assert session.shown == [("dtype", 10, 18, 41)]
    assert session.client.messages == []


async def test_an_editor_that_pulls_gets_each_finding_once(start: Start) -> None:
    session = await start("pulling")
    params = types.DocumentDiagnosticParams(text_document=types.TextDocumentIdentifier(uri=session.uri))
    session.open(MODEL)
    report = await session.client.text_document_diagnostic_async(params)
    assert [item.code for item in report.items] == ["dtype"]
    session.replace(10, 32, 41, "")
    report = await session.client.text_document_diagnostic_async(params)
    assert list(report.items) == []
    assert session.client.diagnostics == {}, "nothing is pushed as well"


async def test_a_burst_of_typing_ends_with_the_findings_of_the_last_text(start: Start) -> None:
    session = await start("neovim")
    session.open(MODEL)
    await session.settled()
    for number in range(60):
        session.replace(10, 41, 41 if number == 0 else 46, f" * {number:02}")
    assert (await session.settled()).state == "done"
    assert [shown[0] for shown in session.shown] == ["dtype"]
    session.replace(10, 32, 46, "")
    assert (await session.settled()).state == "done"
    assert session.shown == []


async def test_a_command_summarises_a_file_that_is_not_open(start: Start) -> None:
    session = await start("neovim")
    session.path.write_text(MODEL, encoding="utf-8")
    summary = await session.client.workspace_execute_command_async(
        types.ExecuteCommandParams(command="inductorDebug.check", arguments=[session.uri])
    )
    assert summary["status"] == "findings"
    assert summary["warnings"] == 1


async def test_nothing_runs_on_its_own_when_the_trigger_is_manual(start: Start, tmp_path: Path) -> None:
    session = await start("neovim", trigger="manual")
    session.open(f"open({str(tmp_path / 'ran')!r}, 'w')\n" + MODEL)
    assert (await session.settled()).state == "stale"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("how", ["end of input", "kill"])
async def test_no_process_is_left_when_the_client_goes_without_a_word(tmp_path: Path, how: str) -> None:
    path = tmp_path / "model.py"
    path.write_text("import time\nfrom torch import nn\nclass Net(nn.Module): ...\nwhile True: time.sleep(1)\n")
    # As users have it: every process is a descendant of the server.
    command = [sys.executable, "-m", "inductor_debug"]
    server = await Process.start("--cache-folder", str(tmp_path / "cache"), command=command)
    try:
        await server.initialize(rootUri=tmp_path.as_uri())
        document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": path.read_text()}
        server.notify("textDocument/didOpen", {"textDocument": document})
        await server.messages.first(lambda message: message.get("params", {}).get("stage") == "load")
        workers = psutil.Process(server.process.pid).children(recursive=True)
        assert workers
        if how == "kill":
            server.process.kill()
        else:
            server.end_input()
        _, alive = await asyncio.to_thread(psutil.wait_procs, workers, timeout=PATIENCE)
        assert alive == []
        await server.ended()
    finally:
        await server.kill()
