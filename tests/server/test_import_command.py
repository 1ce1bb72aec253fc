"""`inductorDebug.importArtifacts`: what a compiler has written, as graphs that an editor shows; nothing is run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from compiler_samples import FUSED, write_debug_folder, write_model
from inductor_debug.artifacts.graph_columns import MEDIA_TYPE, decode
from inductor_debug_schema import from_wire
from inductor_debug_schema.commands.command_answers import ImportAnswer
from server_harness import Editor


async def ask(editor: Editor, folder: Path) -> Any:
    params = {"command": "inductorDebug.importArtifacts", "arguments": [{"uri": folder.as_uri()}]}
    return await editor.request("workspace/executeCommand", params)


async def test_compiles_are_kept_as_graphs_and_what_was_not_understood_is_named(
    start_editor: Callable[..., Awaitable[Editor]], tmp_path: Path
) -> None:
    folder = write_debug_folder(tmp_path, write_model(tmp_path / "project"))
    (folder / "ir_pre_fusion.txt").write_text("?")
    editor = await start_editor()
    answer = from_wire(ImportAnswer, (await ask(editor, tmp_path / "torch_compile_debug"))["result"])
    (compiled,) = answer.compiles
    assert (compiled.name, compiled.notes, answer.reason) == ("model__0", ["artifacts are switched off"], None)
    assert [fault.rpartition("/")[2] for fault in answer.unread] == [
        "ir_pre_fusion.txt: there is no scheduler node in it"
    ]
    (kept,) = editor.engine.given
    document = decode(kept.content)
    assert (kept.media_type, document.target) == (MEDIA_TYPE, "model__0")
    assert any(kernel.name == FUSED and kernel.places for kernel in document.kernels)


async def test_a_folder_of_something_else_is_answered_with_the_reason(
    start_editor: Callable[..., Awaitable[Editor]], tmp_path: Path
) -> None:
    editor = await start_editor()
    answer = from_wire(ImportAnswer, (await ask(editor, tmp_path))["result"])
    assert answer.compiles == []
    assert answer.reason is not None
    assert f"{tmp_path} is empty" in answer.reason
