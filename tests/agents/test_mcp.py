"""What a coding agent gets of `inductor-debug mcp`, asked by the protocol's own client."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import needed
import psutil
import pytest
from inductor_debug.agents.allowed_folders import AllowedFolders, OutsideError
from inductor_debug.agents.short_answers import MOST_CHARACTERS, ModelRow, ShortCheck, ShortSurvey, fitted
from inductor_debug.agents.tools import AgentTools
from inductor_debug.report.formats.brief import BriefFinding

MODEL = """import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(4, 8),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x):
        x = torch.relu(self.layer(x))
        print(x)
        return x.double()


# inductor-debug: inputs=(torch.randn(4),)
def reaches_out(x):
    import socket

    socket.create_connection(("127.0.0.1", 9))
    return x
"""
TOOLS = {"check", "survey", "graph_summary", "explain", "diff", "bisect", "repro"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that allows its code everything, as an agent might have written it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    settings = '[tool.inductor-debug]\nallow = ["network", "write", "subprocess"]\naccelerator = "none"\n'
    (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
    (tmp_path / "outside.py").write_text("x = 1\n", encoding="utf-8")
    return folder


@contextlib.asynccontextmanager
async def client_of(folder: Path) -> AsyncIterator[Any]:
    """The SDK's client, connected to a server within this process."""
    needed.library("mcp")
    from inductor_debug.agents.mcp_server import server_of
    from mcp import Client

    tools = AgentTools(AllowedFolders([str(folder)]), sys.executable)
    try:
        async with Client(server_of(tools)) as client:
            yield client
    finally:
        await tools.close()


async def asked(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert len(json.dumps(answer.structured_content)) <= MOST_CHARACTERS + 200
    found: dict[str, Any] = answer.structured_content
    return found


async def refused(client: Any, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return str(answer.content[0].text)


@pytest.mark.torch
async def test_an_agent_checks_looks_closer_and_gets_a_script(project: Path) -> None:
    async with client_of(project) as client:
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == TOOLS
        assert all(tool.description and tool.annotations.read_only_hint for tool in listed.tools)
        found = await asked(client, "check", path="model.py::Net", accelerator="mock")
        assert [(finding["rule"], finding["place"]) for finding in found["findings"]] == [
            ("graph-break", "model.py:13:9"),
            ("dtype", "model.py:14:16"),
        ]
        assert found["findings"][1]["code"] == "x.double()"
        assert (found["accelerator"], found["unchecked"]) == ("mock", [])
        graph = await asked(client, "graph_summary", target="model.py::Net")
        assert graph["graph_breaks"][0].startswith("model.py:13:9 ")
        assert {row["operator"] for row in graph["operators"]} >= {"aten.relu.default"}
        text = (await client.read_resource(graph["text"])).contents[0].text
        assert "torch.relu" in text
        rule = await asked(client, "explain", rule="graph-break")
        assert rule["page"].startswith("# graph-break")
        repro = await asked(client, "repro", target="model.py::Net", rule="graph-break")
        assert repro["verified"], repro
        assert (await client.read_resource(repro["text"])).contents[0].text == repro["script"]
        with pytest.raises(Exception, match="there is no text 99"):
            await client.read_resource("inductor-debug://texts/99/repro.py")


@pytest.mark.torch
async def test_an_agent_surveys_a_folder_and_nothing_that_links_lead_to(project: Path) -> None:
    models = project / "models"
    models.mkdir()
    clean = MODEL[: MODEL.index("        print(x)")] + "        return x\n"
    (models / "clean.py").write_text(clean, encoding="utf-8")
    (models / "broken.py").write_text(clean.replace("nn.Linear(8, 4)", "nn.Linear(9, 4)"), encoding="utf-8")
    (models / "away.py").write_text(MODEL, encoding="utf-8")
    (project.parent / "secret.py").write_text(MODEL, encoding="utf-8")
    (models / "linked.py").symlink_to(project.parent / "secret.py")
    async with client_of(project) as client:
        found = await asked(client, "survey", paths=["models", "models/away.py"], accelerators=["Mock"])
        by_name = {row["name"]: row for row in found["rows"]}
        assert set(by_name) == {
            "models/clean.py",
            "models/broken.py",
            "models/away.py::Net",
            "models/away.py::reaches_out",
        }
        assert by_name["models/clean.py"]["findings"] == {}
        assert (by_name["models/clean.py"]["checked"], by_name["models/clean.py"]["parameters"]) == ("yes", 36)
        assert by_name["models/broken.py"]["findings"] == {"capture-error": 1}
        assert by_name["models/away.py::Net"]["findings"] == {"graph-break": 1, "dtype": 1}
        assert by_name["models/away.py::Net"]["graph_breaks"] == 1
        assert found["rows"][-1]["name"] == "models/clean.py", "what is to be mended comes first"
        assert {rule["rule"] for rule in found["rules"]} >= {"graph-break", "dtype", "capture-error"}
        assert found["summary"].startswith("3 models")
        table = (await client.read_resource(found["text"])).contents[0].text
        assert "models/broken.py" in table
        assert "secret" not in json.dumps(found) + table

        few = await asked(client, "survey", paths=["models"], limit=1)
        assert (len({row["name"].partition("::")[0] for row in few["rows"]}), few["not_run"]) == (1, 2)
        assert "is not below" in await refused(client, "survey", paths=["../secret.py"])
        assert "is not below" in await refused(client, "survey", paths=["models"], accelerators=["../x.toml"])
        assert "does not exist" in await refused(client, "survey", paths=["nowhere"])
        assert "limit is from 1 to 200" in await refused(client, "survey", paths=["models"], limit=0)
        assert not (project / "survey").exists()


@pytest.mark.torch
async def test_an_agent_compares_and_bisects(project: Path) -> None:
    async with client_of(project) as client:
        compared = await asked(client, "diff", target="model.py::Net", backend="aot_eager")
        assert (compared["verdict"], compared["backend"]) == ("pass", "aot_eager")
        climbed = await asked(
            client, "bisect", target="model.py::Net", backends=["aot_eager", "relu_accuracy_error_TESTING_ONLY"]
        )
        assert climbed["verdict"] != "none"
        assert climbed["ladder"][-1].startswith("relu_accuracy_error_TESTING_ONLY wrong")
        assert climbed["guilty"].startswith("model.py:12:13")


@pytest.mark.torch
async def test_what_is_checked_reaches_no_network_whatever_the_project_allows(project: Path) -> None:
    async with client_of(project) as client:
        found = await asked(client, "check", path="model.py::reaches_out")
        assert "This opens a network connection, which a check does not do" in found["findings"][0]["message"]


async def test_a_file_elsewhere_and_what_is_wrong_is_refused_in_a_sentence(project: Path) -> None:
    (project / "link.py").symlink_to(project.parent / "outside.py")
    async with client_of(project) as client:
        for path in ("../outside.py", str(project.parent / "outside.py"), "link.py", "~/outside.py"):
            assert "is not below" in await refused(client, "check", path=path)
        assert "is not below" in await refused(client, "check", path="model.py", accelerator="../x.toml")
        assert "is not below" in await refused(client, "diff", target="model.py::Net", backend="/x.toml")
        assert "does not exist" in await refused(client, "check", path="nowhere.py")
        assert "did you mean" in await refused(client, "explain", rule="graph-brake")
        assert "stages" in await refused(client, "check", path="model.py", stages="x")


def test_a_root_that_begins_like_another_is_another(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "ab").mkdir()
    folders = AllowedFolders([str(tmp_path / "a")])
    assert folders.path("x/../y.py") == str(tmp_path / "a" / "y.py")
    with pytest.raises(OutsideError):
        folders.path(str(tmp_path / "ab" / "x.py"))


def test_an_answer_has_a_limit_and_says_what_it_left_out() -> None:
    finding = BriefFinding("dtype", "warning", "model.py:1:1", "x" * 100, "y" * 500, "Net", "aten.mm", 1, [], "f")
    answer = fitted(ShortCheck("500 findings", [finding] * 500, ["z" * 300] * 3, ""))
    assert len(json.dumps(answer, default=vars)) <= MOST_CHARACTERS + 200
    assert answer.left_out == {"findings": 500 - len(answer.findings)}
    assert len(answer.unchecked) == 3
    row = ModelRow("models/m.py", "findings", "yes", {"dtype": 3}, 1, 0, 12, 34, "w" * 90)
    many = fitted(ShortSurvey("900 models", [row] * 900, [], [], 0, "inductor-debug://texts/1/survey.txt"))
    assert len(json.dumps(many, default=vars)) <= MOST_CHARACTERS + 200
    assert many.left_out == {"rows": 900 - len(many.rows)}
    long = fitted(ShortCheck("s" * 50_000, [], [], ""))
    assert long.left_out["summary"] == 46_000


@pytest.mark.torch
def connections_of(process: psutil.Process) -> list[object]:
    """Its connections; none where it has ended since it was listed, as a worker does when its job is done."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return list(process.net_connections(kind="inet"))
    return []


async def test_over_standard_input_and_output_nothing_is_left_at_the_end(project: Path) -> None:
    needed.library("mcp")
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    environment = {name: os.environ[name] for name in ("XDG_CACHE_HOME", "PATH", "HOME") if name in os.environ}
    words = ["-m", "inductor_debug", "mcp", "--root", str(project)]
    started = StdioServerParameters(command=sys.executable, args=words, env=environment, cwd=str(project.parent))
    async with Client(started) as client:
        found = await asked(client, "check", path="model.py::Net")
        assert found["findings"][0]["rule"] == "graph-break"
        [server] = [child for child in psutil.Process().children() if "mcp" in child.cmdline()]
        below = server.children(recursive=True)
        assert below
        assert [link for process in (server, *below) for link in connections_of(process)] == []
    _, alive = psutil.wait_procs([server, *below], timeout=20)
    assert alive == []
