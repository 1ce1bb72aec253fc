"""Cells of a notebook are analysed as they are run, and asked about where they stand."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from server_harness import Process

pytestmark = pytest.mark.torch

CAN = {
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}},
        "hover": {"contentFormat": ["markdown"]},
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
    "notebookDocument": {"synchronization": {"executionSummarySupport": True}},
}
IMPORTS = "%matplotlib inline\nimport torch\nfrom torch import nn\n"
MODEL = """\
# inductor-debug: inputs=(torch.randn(8, 64),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 10)
        self.last = nn.Linear(12, 2)

    def forward(self, x):
        y = self.first(x)
        return self.last(y)
"""
MENDED = MODEL.replace("12, 2", "10, 2")


class Notebook:
    """A notebook in an editor, and a kernel that runs its cells: what VS Code sends of both."""

    def __init__(
        self, client: Process, path: Path, cells: Mapping[str, str], ran: Mapping[str, int] | None = None
    ) -> None:
        self.client, self.uri = client, path.as_uri()
        self._version, self._count = 1, 0
        self.texts = dict(cells)
        summaries = {name: {"executionOrder": order, "success": True} for name, order in (ran or {}).items()}
        client.notify(
            "notebookDocument/didOpen",
            {
                "notebookDocument": {
                    "uri": self.uri,
                    "notebookType": "jupyter-notebook",
                    "version": 1,
                    "cells": [self._cell(name, summaries.get(name)) for name in cells],
                },
                "cellTextDocuments": [
                    {"uri": self.cell(name), "languageId": _language(name), "version": 1, "text": text}
                    for name, text in cells.items()
                ],
            },
        )

    def cell(self, name: str) -> str:
        return self.uri.replace("file:", "vscode-notebook-cell:") + f"#{name}"

    def run(self, *names: str, anew: bool = False) -> None:
        """Runs cells, in a kernel that was started anew or in the one that is there."""
        self._count = 0 if anew else self._count
        for name in names:
            self._count += 1
            self._change({"data": [self._cell(name)]})
            self._change({"data": [self._cell(name, {"executionOrder": self._count, "success": True})]})

    def write(self, name: str, text: str) -> None:
        self.texts[name] = text
        document = {"uri": self.cell(name), "version": self._version + 1}
        self._change({"textContent": [{"document": document, "changes": [{"text": text}]}]})

    async def done(self) -> dict[str, Any]:
        """The end of the analysis of all that was run until now."""
        await self.client.request(
            "workspace/executeCommand", {"command": "inductorDebug.cancel", "arguments": [{"uri": "file:///no"}]}
        )
        said = [each for each in self.client.messages.of("inductorDebug/analysis") if each["uri"] == self.uri]
        wanted = max(each["generation"] for each in said)

        def ended(message: dict[str, Any]) -> bool:
            params = message.get("params") or {}
            return (
                message.get("method") == "inductorDebug/analysis"
                and params["uri"] == self.uri
                and params["generation"] >= wanted
                and params["state"] in ("done", "failed")
            )

        return (await self.client.messages.first(ended))["params"]

    def found(self, name: str) -> list[dict[str, Any]]:
        """The newest findings of a cell."""
        said = self.client.messages.of("textDocument/publishDiagnostics")
        return next((each["diagnostics"] for each in reversed(said) if each["uri"] == self.cell(name)), [])

    async def ask(self, method: str, name: str, **more: Any) -> Any:
        """What the server answers about a cell."""
        answer = await self.client.request(f"textDocument/{method}", {"textDocument": {"uri": self.cell(name)}, **more})
        return answer["result"]

    async def lenses(self, name: str) -> list[tuple[int, str]]:
        found = await self.ask("codeLens", name)
        return [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in found]

    def text_at(self, name: str, place: Mapping[str, Any]) -> str:
        lines = self.texts[name].split("\n")
        assert place["start"]["line"] == place["end"]["line"]
        return lines[place["start"]["line"]][place["start"]["character"] : place["end"]["character"]]

    def _cell(self, name: str, summary: Mapping[str, Any] | None = None) -> dict[str, Any]:
        kind = 2 if _language(name) == "python" else 1
        return {"kind": kind, "document": self.cell(name), **({"executionSummary": summary} if summary else {})}

    def _change(self, cells: Mapping[str, Any]) -> None:
        self._version += 1
        document = {"uri": self.uri, "version": self._version}
        self.client.notify("notebookDocument/didChange", {"notebookDocument": document, "change": {"cells": cells}})


def _language(name: str) -> str:
    return "markdown" if name.startswith("heading") else "python"


Opener = Callable[..., Awaitable[Notebook]]


@pytest.fixture
def open_notebook(serve: Callable[..., Awaitable[Process]], tmp_path: Path) -> Opener:
    async def open_it(ran: Mapping[str, int] | None = None, **cells: str) -> Notebook:
        client = await serve()
        await client.initialize(capabilities=CAN, rootUri=tmp_path.as_uri())
        path = tmp_path / "model.ipynb"
        path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}))
        return Notebook(client, path, cells, ran)

    return open_it


async def test_what_was_run_is_told_where_it_stands(open_notebook: Opener) -> None:
    notebook = await open_notebook(model=MODEL, imports=IMPORTS)
    assert await notebook.lenses("model") == [(1, "run this cell to have it checked")]
    assert await notebook.ask("hover", "model", position={"line": 8, "character": 14}) is None
    notebook.run("imports", "model")  # not the order in which they stand
    done = await notebook.done()
    assert (done["findings"], done["targets"][0]["name"]) == (1, "Net")
    [finding] = notebook.found("model")
    assert notebook.text_at("model", finding["range"]) == "self.last(y)"
    places = [place["location"] for place in finding["relatedInformation"]]
    assert notebook.cell("model") in {place["uri"] for place in places}
    assert {notebook.text_at("model", place["range"]) for place in places if "#model" in place["uri"]} & {
        "nn.Linear(12, 2)",
        "self.last = nn.Linear(12, 2)",
    }
    assert notebook.found("imports") == []
    lenses = await notebook.lenses("model")
    assert lenses[0][0] == 1
    assert "failed" in lenses[0][1]
    assert await notebook.lenses("imports") == []


async def test_hovers_hints_and_fixes_are_those_of_the_cell(open_notebook: Opener) -> None:
    notebook = await open_notebook(imports=IMPORTS, model=MODEL)
    notebook.run("imports", "model")
    await notebook.done()
    hover = await notebook.ask("hover", "model", position={"line": 8, "character": 14})
    assert "8, 10" in hover["contents"]["value"]
    assert notebook.text_at("model", hover["range"]) == "self.first(x)"
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 10, "character": 0}}
    [hint] = await notebook.ask("inlayHint", "model", range=whole)
    assert hint["position"] == {"line": 8, "character": 9}
    [finding] = notebook.found("model")
    action = None
    while action is None:  # until its proof is through
        context = {"diagnostics": [finding], "triggerKind": 1}
        actions = await notebook.ask("codeAction", "model", range=finding["range"], context=context)
        action = next((each for each in actions if "verified" in each["title"]), None)
    assert action["diagnostics"] == [finding]
    [change] = action["edit"]["documentChanges"]
    assert change["textDocument"]["uri"] == notebook.cell("model")
    assert all("12" in notebook.texts["model"].split("\n")[edit["range"]["start"]["line"]] for edit in change["edits"])


async def test_what_nobody_ran_does_not_run(open_notebook: Opener) -> None:
    """Neither cells that were not run, nor what was typed since."""
    notebook = await open_notebook(imports=IMPORTS, other=MODEL.replace("Net", "Other"), model=MENDED)
    notebook.run("imports", "model")
    assert (await notebook.done())["findings"] == 0
    notebook.write("model", MODEL)
    notebook.run("imports")
    assert (await notebook.done())["findings"] == 0
    lens = (await notebook.lenses("model"))[0]
    assert lens[1].startswith("edited since it ran: run the cell")
    assert await notebook.ask("codeAction", "model", range=_LINE, context={"diagnostics": []}) == []
    notebook.run("model")
    assert (await notebook.done())["findings"] == 1


async def test_a_cell_that_is_run_again_counts_with_its_new_text(open_notebook: Opener) -> None:
    """The cell that compiles the model is not run again, and does not keep the old one alive."""
    breaks = MENDED.replace(
        "        return", "        if y.sum() > 0:\n            y = y.reshape(4, 20) + 1\n        return"
    )
    use = "net = torch.compile(Net())\nout = net(torch.randn(8, 64))\n"
    notebook = await open_notebook(imports=IMPORTS, model=breaks, use=use)
    notebook.run("imports", "model", "use")
    await notebook.done()
    assert "y.sum() > 0" in [notebook.text_at("model", each["range"]) for each in notebook.found("model")]
    notebook.write("model", breaks.replace("y.sum()", "y.max()"))
    notebook.run("model")
    await notebook.done()
    assert "y.max() > 0" in [notebook.text_at("model", each["range"]) for each in notebook.found("model")]


async def test_cells_that_ran_before_the_server_did_are_analysed_in_their_order(open_notebook: Opener) -> None:
    notebook = await open_notebook(ran={"model": 7, "imports": 3}, model=MODEL, imports=IMPORTS, use="net = Net()\n")
    assert (await notebook.done())["findings"] == 1
    notebook.run("use", anew=True)
    assert [each["code"] for each in notebook.found("use")] == []


async def test_findings_move_with_edits_and_go_with_their_cell(open_notebook: Opener) -> None:
    notebook = await open_notebook(imports=IMPORTS, model=MODEL)
    notebook.run("imports", "model")
    await notebook.done()
    notebook.write("model", f"# one more line\n{MODEL}")
    hover = await notebook.ask("hover", "model", position={"line": 9, "character": 14})
    assert notebook.text_at("model", hover["range"]) == "self.first(x)"
    notebook.client.notify(
        "notebookDocument/didClose",
        {"notebookDocument": {"uri": notebook.uri}, "cellTextDocuments": [{"uri": notebook.cell("model")}]},
    )
    await notebook.ask("hover", "model", position={"line": 9, "character": 14})
    assert notebook.found("model") == []


async def test_the_user_may_ask_for_all_cells(open_notebook: Opener) -> None:
    notebook = await open_notebook(imports=IMPORTS, model=MODEL)
    asked = {"command": "inductorDebug.check", "arguments": [{"uri": notebook.uri, "all_cells": True}]}
    answer = await notebook.client.request("workspace/executeCommand", asked)
    assert answer["result"]["findings"] == 1
    [finding] = notebook.found("model")
    assert notebook.text_at("model", finding["range"]) == "self.last(y)"


async def test_lines_are_told_as_those_of_cells(open_notebook: Opener) -> None:
    """Whoever says them, the worker or the server, and counted as editors do: words are in cells, too."""
    branch = MENDED.replace(
        "        return", "        if self.training is None:\n            y = y + 1\n        return"
    )
    doubled = MENDED.replace("Net", "Wide").replace("        return", "        y = y.double()\n        return")
    reshaped = MODEL.replace("Net", "Deep").replace(
        "        return", "        y = y.reshape(4, 20) + 1\n        return"
    )
    notebook = await open_notebook(
        heading="# A model", imports=IMPORTS, branch=branch, heading_too="## Others", doubled=doubled, reshaped=reshaped
    )
    notebook.run("imports", "branch", "doubled", "reshaped")
    await notebook.done()
    assert any(title.endswith("1 branch not taken: cell 3, line 11") for _, title in await notebook.lenses("branch"))
    hover = await notebook.ask("hover", "doubled", position={"line": 10, "character": 20})
    assert "`y` became float64 at cell 5, line 10" in hover["contents"]["value"]
    hover = await notebook.ask("hover", "reshaped", position={"line": 10, "character": 20})
    assert "reshape 8·10 (cell 6, line 10) ← first (cell 6, line 9)" in hover["contents"]["value"]


_LINE = {"start": {"line": 9, "character": 15}, "end": {"line": 9, "character": 15}}
