"""`graph`, `analyze`, `list` and `clean`: what was captured is shown, kept, found again and removed."""

from __future__ import annotations

import asyncio
import base64
import csv
import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from commands import Command
from fake_pool import FakePool
from inductor_debug.artifacts.graph_columns import decode
from inductor_debug.report import data_pages
from inductor_debug_schema import CompileTimeTask, Stage

ROOT = Path(__file__).parents[2]
Write = Callable[[str, str], Path]


def listed(command: Command, *words: str) -> list[dict[str, Any]]:
    ran = command("list", "--format", "json", *words)
    assert ran.code == 0, ran.err
    return list(json.loads(ran.out)["artifacts"])


def test_nothing_is_done_ahead_where_one_order_is_all_that_comes(command: Command, write: Write) -> None:
    write("model.py", "y = relu(x)\n")
    command("analyze", "model.py", "--type", "summary")
    assert FakePool.for_one_job == [True]


def test_graph_shows_nodes_under_the_lines_they_come_from(command: Command, write: Write) -> None:
    write("model.py", "y = relu(x)\n")
    ran = command("graph", "model.py::Model", "--stage", "aot")
    assert (ran.code, ran.err) == (0, "")
    assert "model.py::Model, stage forward and backward" in ran.out
    lines = ran.out.splitlines()
    assert lines[lines.index("  model.py:1  y = relu(x)") + 1] == "    %<y>: float32[4] = aten.relu.default(%x)  # 16 B"
    (request,) = FakePool.requests
    assert (request.only, request.stages, request.keep_graphs) == (["Model"], [Stage.AOT], True)


def test_an_interrupt_while_workers_are_ended_is_not_lost(
    command: Command, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def close(pool: FakePool) -> None:
        signal.raise_signal(signal.SIGINT)
        for _ in range(9):  # the event loop hears of it in one of its next rounds
            await asyncio.sleep(0)

    monkeypatch.setattr(FakePool, "close", close)
    write("model.py", "y = relu(x)\n")
    assert command("graph", "model.py").code == 130


def test_graph_json_is_the_document_of_the_contract(command: Command, write: Write) -> None:
    write("model.py", "")
    document = json.loads(command("graph", "model.py", "--format", "json").out)
    assert (document["schema"], document["target"], document["stage"]) == (1, "Model", "mock")
    (graph,) = document["graphs"]
    assert (graph["name"], graph["kind"]) == ("0", "fx")
    keys = (
        "name",
        "op",
        "inputs",
        "shape",
        "dtype",
        "bytes",
        "path",
        "module",
        "seq_nr",
        "kernels",
        "flops",
        "kind",
        "written",
        "seconds",
    )
    node = graph["nodes"][1]
    values = ["<y>", "aten.relu.default", ["x"], [4], "float32", 16, "model.py", "", None, [], None, None, None, None]
    assert [node[key] for key in keys] == values
    assert node["range"]["end"] == {"line": 0, "character": 1}
    assert graph["nodes"][0]["path"] is None
    assert document["statistics"]["peak"]["bytes"] == 0


def test_graph_dot_and_svg_hold_names_as_text_only(command: Command, write: Write) -> None:
    write("model.py", "")
    dot = command("graph", "model.py", "--format", "dot").out
    assert dot.startswith('digraph "Model" {')
    assert '"0/<y>" -> "0/output";' in dot
    svg = ElementTree.fromstring(command("graph", "model.py", "--format", "svg").out)
    texts = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {"<y>", "aten.relu.default", "float32[4]", "← x float32[4]"} <= set(texts)


def test_graph_html_is_the_page_with_everything_in_it(
    command: Command, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "graph.html"
    page.write_text(f"<p>{data_pages.PLACEHOLDER}</p>", encoding="utf-8")
    monkeypatch.setattr(data_pages, "PAGES", tmp_path)
    write("model.py", "x.double()\n")
    assert command("graph", "model.py", "--format", "html", "-o", "out.html").code == 0
    text = Path("out.html").read_text(encoding="utf-8")
    data = json.loads(base64.b64decode(text.removeprefix("<p>").removesuffix("</p>")))
    assert (data["schema"], data["title"]) == (1, "model.py::Model")
    assert [decode(base64.b64decode(one)).target for one in data["documents"]] == ["Model"]
    assert [finding["rule"] for finding in data["findings"]] == ["dtype"]
    assert data["statistics"][0]["target"] == "Model"
    assert {path: text.splitlines()[-1] for path, text in data["sources"].items()} == {"model.py": "x.double()"}


def test_a_page_never_says_where_the_folder_is(command: Command, write: Write, tmp_path: Path) -> None:
    write("model.py", "x.double()\n")
    text = command("graph", "model.py", "--format", "html").out
    (data,) = (one for one in re.findall(r"[\w+/]{200,}=*", text) if one.startswith("eyJzY2hlbWEi"))
    said = json.loads(base64.b64decode(data))
    contents = [base64.b64decode(one) for one in said.pop("documents")]
    assert {decode(one).path for one in contents} == {"model.py"}
    assert {
        node.place.path for one in contents for graph in decode(one).graphs for node in graph.nodes if node.place
    } == {"model.py"}
    assert {finding["path"] for finding in said["findings"]} == {"model.py"}
    assert str(tmp_path).encode() not in b"".join([*contents, json.dumps(said).encode()])


def test_a_stage_that_was_cut_short_is_told(command: Command, write: Write) -> None:
    write("model.py", "x.double()  # cut short\n")
    ran = command("graph", "model.py", "--format", "dot")
    assert (ran.code, ran.out.startswith("digraph")) == (0, True)
    assert "Stopped after" in ran.err
    assert "Stopped after" not in command("graph", "model.py", "--format", "dot", "-q").err


@pytest.mark.parametrize(
    ("words", "stages"),
    [
        (["--format", "html"], [Stage.MOCK, Stage.AOT, Stage.INDUCTOR]),
        (["--format", "html", "--stage", "aot"], [Stage.MOCK, Stage.AOT]),
        (["--format", "dot"], [Stage.MOCK]),
        (["--format", "json", "--stage", "inductor"], [Stage.INDUCTOR]),
    ],
)
def test_a_page_has_all_stages_down_to_the_one_named(
    command: Command, write: Write, words: list[str], stages: list[Stage]
) -> None:
    write("model.py", "")
    assert command("graph", "model.py", *words).code == 0
    (request,) = FakePool.requests
    assert request.stages == stages


def test_a_kept_graph_can_be_shown_again(command: Command, write: Write) -> None:
    write("model.py", "")
    fresh = command("graph", "model.py", "--format", "dot", "--artifacts", "kept")
    (kept,) = Path("kept/fx_graphs").glob("*.graph")
    assert command("graph", str(kept), "--format", "dot").out == fresh.out
    assert command("graph", str(kept)).code == 0
    kept.write_bytes(b"not one of ours")
    ran = command("graph", str(kept))
    assert (ran.code, "no graph of ours" in ran.err, str(kept) in ran.err) == (2, True, True)


@pytest.mark.parametrize(
    ("words", "text", "word"),
    [
        (["model.py::Modle"], "", "did you mean 'Model'?"),
        (["model.py::"], "", "no target named"),
        (["nowhere.py"], "", "does not exist"),
        (["."], "", "name one file"),
        (["model.py"], "# no target", "nothing in it to compile"),
        (["model.py"], "raise", "model.py: line 1: ValueError: no"),
        (["model.py"], "crash", "SIGSEGV"),
        (["model.py"], "timeout", "model.py"),
        (["model.py"], "# nothing captured", "no graph was captured"),
        (["model.py"], "# no graph", "no tensor operation"),
        (["model.py", "--accelerator", "mok"], "", "did you mean 'mock'"),
        (["model.py", "-o", "nowhere/out.txt"], "", "nowhere"),
    ],
)
def test_a_graph_that_cannot_be_shown_is_an_error_in_words(
    command: Command, write: Write, words: list[str], text: str, word: str
) -> None:
    write("model.py", text)
    ran = command("graph", *words)
    assert (ran.code, ran.out) == (2, "")
    assert word in ran.err
    assert FakePool.closed == len(set(FakePool.interpreters))


def test_graph_and_check_keep_what_they_capture_only_where_it_is_wanted(command: Command, write: Write) -> None:
    write("model.py", "")
    command("check", "model.py")
    assert listed(command) == [], "a plain check leaves nothing behind"
    command("graph", "model.py", "--artifacts", "off")
    assert listed(command) == []
    command("graph", "model.py")
    assert sorted(entry["kind"] for entry in listed(command)) == ["fx_graphs", "statistics"]
    assert not Path("debug_artifacts").exists(), "the project stays clean by default"
    command("check", "model.py", "--artifacts", "project")
    assert sorted(path.name for path in Path("debug_artifacts").iterdir() if path.is_dir()) == [
        "fx_graphs",
        "statistics",
    ]


def test_the_project_says_where_artifacts_go(command: Command, write: Write) -> None:
    write("model.py", "")
    write("pyproject.toml", '[tool.inductor-debug]\nartifacts = "out/graphs"\n')
    command("graph", "model.py")
    assert len(listed(command)) == len(listed(command, "--artifacts", "out/graphs")) == 2
    write("pyproject.toml", '[tool.inductor-debug]\nartifacts = "off"\n')
    assert "switched off" in command("list").err
    write("pyproject.toml", "[tool.inductor-debug]\nartifacts = 3\n")
    assert command("list").code == 2


def test_a_folder_that_cannot_be_written_costs_artifacts_and_no_result(command: Command, write: Write) -> None:
    write("model.py", "x.double()\n")
    write("file", "")
    ran = command("graph", "model.py", "--artifacts", "file/below")
    assert ran.code == 0
    assert "aten.relu" in ran.out
    assert "artifacts were not kept" in ran.err
    assert command("check", "model.py", "--artifacts", "file/below").code == 1


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ('{"format": "another program"}', "a folder of something else"),
        ('{"format": "inductor-debug artifacts", "schema": 99}', "another version of inductor-debug"),
    ],
)
def test_a_folder_of_something_else_is_neither_listed_nor_cleaned(
    command: Command, write: Write, mark: str, words: str
) -> None:
    write("theirs/store.json", mark)
    write("theirs/reports/model-0123456789abcdef0123.html", "")
    for arguments in (("list",), ("clean", "--all")):
        ran = command(*arguments, "--artifacts", "theirs")
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err
    assert len(list(Path("theirs/reports").iterdir())) == 1


def test_list_filters_and_shows(command: Command, write: Write) -> None:
    write("model.py", "")
    write("other/net.py", "x = 1\n")
    command("graph", "model.py")
    command("graph", "other/net.py", "--stage", "aot")
    assert len(listed(command)) == 4
    assert {Path(entry["source"]).name for entry in listed(command, "--path", "other")} == {"net.py"}
    assert {entry["stage"] for entry in listed(command, "--stage", "aot", "--kind", "statistics")} == {"aot"}
    assert listed(command, "--target", "Nobody") == listed(command, "--older-than", "1h") == []
    (entry, *_) = listed(command, "--kind", "statistics", "--path", "model.py")
    assert (entry["target"], entry["media_type"]) == ("Model", "application/json")
    assert entry["bytes"] == os.path.getsize(entry["path"])
    text = command("list", "--kind", "fx_graphs", "--path", "other")
    assert "other/net.py::Model" in text.out
    assert "1 artifact," in text.err


def test_clean_removes_what_it_is_told_to(command: Command, write: Write) -> None:
    write("model.py", "")
    command("graph", "model.py")
    assert command("clean").code == 2, "it never guesses"
    assert command("clean", "--older-than", "1d").code == 0
    planned = command("clean", "--all", "--kind", "statistics", "--dry-run")
    assert (len(planned.out.splitlines()), len(listed(command))) == (1, 2)
    assert "would remove 1 artifact" in planned.err
    command("clean", "--all", "--kind", "statistics")
    assert [entry["kind"] for entry in listed(command)] == ["fx_graphs"]
    assert "removed 1 artifact," in command("clean", "--all").err
    assert listed(command) == []


@pytest.mark.parametrize("age", ["soon", "-1d", "7 days", ""])
def test_an_age_that_is_none_is_refused(command: Command, age: str) -> None:
    assert command("clean", f"--older-than={age}").code == 2


def test_analyze_sums_statistics_up(command: Command, write: Write) -> None:
    write("model.py", "")
    ran = command("analyze", "model.py")
    assert ran.code == 0
    assert "model.py::Model, stage forward and backward" in ran.out
    document = json.loads(command("analyze", "model.py", "--stage", "mock", "--format", "json").out)
    assert (document["type"], document["analyses"][0]["stage"]) == ("summary", "mock")
    (kept,) = listed(command, "--kind", "statistics", "--stage", "mock")
    again = json.loads(command("analyze", kept["path"], "--format", "json").out)
    assert again == document
    write("foreign.json", "{}")
    assert "no statistics of ours" in command("analyze", "foreign.json").err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "no statistics of ours"),
        ("[1]", "no statistics of ours"),
        (
            '{"schema": 1, "by_op": 1, "memory": [], "peak": 3, "flops": "x"}',
            "not ours: StatisticsDocument.target is",
        ),
        ('{"schema": 2, "by_op": {}, "memory": {}, "peak": {}, "flops": 0}', "of schema 2, which this version"),
    ],
)
def test_statistics_that_cannot_be_read_are_an_error_in_words(
    command: Command, write: Write, text: str, words: str
) -> None:
    write("net.json", text)
    ran = command("analyze", "net.json")
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_analyze_says_which_stages_have_statistics(command: Command, write: Write) -> None:
    write("model.py", "")
    ran = command("analyze", "model.py", "--stage", "preview")
    assert (ran.code, "mock, aot, inductor" in ran.err) == (2, True)


def test_analyze_says_what_expressions_cost_at_least(command: Command, write: Write) -> None:
    write("model.py", "x @ w\nsin(y)\n")
    ran = command("analyze", "model.py", "--type", "cost", "--accelerator", "h100")
    assert (ran.code, ran.err) == (0, "")
    heading, bound, unfused, flops, moved, peak, *rows = filter(None, ran.out.splitlines())
    assert heading.endswith("model.py::Model, stage forward and backward, on NVIDIA H100 SXM, 80 GB")
    assert bound.split(maxsplit=1)[1] == "3.25 µs (compute 2%, launch 98%): a lower bound, no prediction"
    assert (unfused.split()[:2], flops.split()) == (["unfused", "6.5"], ["FLOPs", "4.194", "M"])
    assert (moved.split()[:3], peak.split()[:3]) == (["bytes", "192", "KiB"], ["peak", "256", "KiB"])
    first, second = (row for row in rows if "x @ w" in row)
    assert first.split()[:3] == ["62.7", "ns", "76%"]
    assert "model.py:1:1  x @ w  [aten.mm]" in first
    assert "model.py:2:1  x @ w  [aten.sin]" in second
    (request,) = FakePool.requests
    assert (request.stages, request.keep_costs) == ([Stage.AOT], True)


def test_costs_can_be_sorted_and_written_as_a_table(command: Command, write: Write) -> None:
    write("model.py", "")
    words = ("analyze", "model.py", "--type", "cost", "--accelerator", "h100", "--format")
    rows = list(csv.DictReader(command(*words, "csv").out.splitlines()))
    assert [row["of"] for row in rows] == [
        "target",
        *["expression"] * 2,
        *["line"] * 2,
        *["module"] * 4,
        *["operator"] * 2,
    ]
    product = next(row for row in rows if row["of"] == "expression")
    assert (product["line"], product["column"], product["name"]) == ("1", "1", "x @ w")
    assert product["limited_by"] == "compute"
    assert float(product["seconds"]) == pytest.approx(2 * 128**3 / 66.9e12)
    (analysis,) = json.loads(command(*words, "json", "--sort", "intensity").out)["analyses"]
    assert [row["op"] for row in analysis["operators"]] == ["aten.mm.default", "aten.sin.default"]
    assert analysis["run"]["total"]["operations"] == 2 * 128**3


@pytest.mark.parametrize(
    ("words", "offering"),
    [
        (("--format", "csv"), "kernels or cost or shapes or time"),
        (("--sort", "bytes"), "cost"),
        (("--format", "svg"), "cost or memory"),
        (("--format", "html"), "cost or memory or time"),
    ],
)
def test_what_a_type_has_no_form_for_is_refused(
    command: Command, write: Write, words: tuple[str, str], offering: str
) -> None:
    write("model.py", "")
    ran = command("analyze", "model.py", *words)
    assert (ran.code, f"is for --type {offering}, not summary" in ran.err) == (2, True)


def test_analyze_says_why_there_is_nothing(command: Command, write: Write) -> None:
    write("model.py", "y = x.double()  # graph break, nothing captured")
    ran = command("analyze", "model.py")
    assert (ran.code, ran.out) == (2, "")
    assert "model.py: graph break is not supported\n" in ran.err


def test_analyze_says_where_compiling_goes(command: Command, write: Write) -> None:
    write("model.py", "x @ w\n")
    ran = command("analyze", "model.py", "--type", "time")
    assert (ran.code, ran.err) == (0, "")
    heading, whole, placed, before, without, *tables = (line.strip() for line in ran.out.splitlines() if line)
    assert heading == "model.py::Model, compile time"
    assert whole.split(maxsplit=1)[1] == "3 s for 1 graph (Dynamo 33%, Inductor 67%)"
    assert placed.endswith("67% is work on your expressions, the rest on whole graphs")
    assert before.endswith("4 s once in every process, whatever it compiles first")
    assert "building kernels" in without
    assert tables == [
        "time  share  phase",
        "2 s    67%  Inductor: lowering",
        "1 s    33%  Dynamo: tracing the code",
        "time  share  expression",
        "2 s    67%  model.py:1:1  x @ w  [2 instructions, 4 nodes, in 2 modules]",
        "time  share  module, with all in it",
        "2 s    67%  layers.*  Layer, 2 layers",
    ]
    (request,) = FakePool.requests
    assert isinstance(request.task, CompileTimeTask)


def test_other_ways_to_compile_are_told_with_what_they_take_and_what_to_write(command: Command, write: Write) -> None:
    write("model.py", "x @ w\n")
    told = command("analyze", "model.py", "--type", "time", "--try")
    assert (told.code, told.err) == (0, "")
    assert told.out.partition("  tried, ")[2].splitlines() == [
        "each in a process of its own, for 2 layers layers.* (Layer)",
        "    time  of it  graphs  operations  compiled",
        "     3 s   100%       1          20  as it is",
        "       ·      ·       0           0  equal layers as nested regions, whose class is compiled once: "
        "ended early: no region",
        "  750 ms    25%       1           8  each equal layer by itself, the model around them eagerly: "
        "computes the same",
        "",
        "  to compile each equal layer by itself, the model around them eagerly:",
        "    for layer in model.modules():",
        "        layer.compile()",
    ]
    (request,) = FakePool.requests
    assert isinstance(request.task, CompileTimeTask)
    assert request.task.ways
    rows = list(
        csv.DictReader(command("analyze", "model.py", "--type", "time", "--try", "--format", "csv").out.splitlines())
    )
    assert [(row["name"], row["seconds"]) for row in rows if row["of"] == "way"] == [
        ("as-it-is", "3.0"),
        ("nested-regions", "0.1"),
        ("each-layer", "0.75"),
    ]
    refused = command("analyze", "model.py", "--type", "cost", "--try")
    assert (refused.code, "--try is for --type time, not cost" in refused.err) == (2, True)


def test_compile_times_are_a_table_and_a_document(command: Command, write: Write) -> None:
    write("model.py", "x @ w\n")
    words = ("analyze", "model.py", "--type", "time", "--format")
    rows = list(csv.DictReader(command(*words, "csv").out.splitlines()))
    assert [row["of"] for row in rows] == ["target", *["phase"] * 2, *["expression"] * 2, *["module"] * 2]
    assert [row["seconds"] for row in rows[:3]] == ["3.0", "1.0", "2.0"]
    expression = rows[3]
    assert (expression["line"], expression["column"], expression["name"]) == ("1", "1", "x @ w")
    assert (expression["traced"], expression["nodes"], expression["modules"]) == ("2", "4", "2")
    assert (rows[4]["path"], rows[4]["line"]) == ("", "")
    assert [(row["name"], row["kind"]) for row in rows[5:]] == [("layers.0", "Layer"), ("layers.1", "Layer")]
    document = json.loads(command(*words, "json").out)
    (analysis,) = document["analyses"]
    assert (document["type"], analysis["schema"], analysis["seconds"]) == ("time", 1, 3.0)
    schema = json.loads((ROOT / "shared_schema/generated/wire.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator({**schema, "$ref": "#/$defs/CompileTimeDocument"}).validate(analysis)


def test_compile_times_are_a_page_to_pass_on(command: Command, write: Write, tmp_path: Path) -> None:
    write("model.py", "x @ w\n")
    page = command("analyze", "model.py", "--type", "time", "--format", "html")
    assert (page.code, page.err) == (0, "")
    (put_in,) = re.findall(r'id="data">([^<]*)<', page.out)
    data = json.loads(base64.b64decode(put_in))
    (document,) = data["documents"]
    assert (data["kind"], document["target"], document["path"]) == ("compile-time", "Model", "model.py")
    assert [row["path"] for row in document["expressions"]] == ["model.py", None]
    assert str(tmp_path) not in base64.b64decode(put_in).decode()


def test_costs_are_drawn_below_the_roofs_of_the_accelerator(command: Command, write: Write) -> None:
    write("model.py", "x @ w\nsin(y)\n")
    words = ("analyze", "model.py", "--type", "cost", "--accelerator", "h100", "--format", "svg")
    drawn = command(*words)
    assert (drawn.code, drawn.err) == (0, "")
    texts = [element.text for element in ElementTree.fromstring(drawn.out).iter() if element.text]
    assert "Model on NVIDIA H100 SXM, 80 GB: what nothing can be faster than" in texts
    assert "model.py:1" in texts
    assert any("tf32" in text for text in texts)
    assert command(*words).out == drawn.out


def test_costs_are_a_page_to_pass_on(command: Command, write: Write, tmp_path: Path) -> None:
    write("model.py", "x @ w\nsin(y)\n")
    words = ("analyze", "model.py", "--type", "cost", "--accelerator", "h100", "--format", "html")
    page = command(*words)
    assert (page.code, page.err) == (0, "")
    (put_in,) = re.findall(r'id="data">([^<]*)<', page.out)
    data = json.loads(base64.b64decode(put_in))
    (document,) = data["documents"]
    assert (data["kind"], document["cost"]["target"], document["cost"]["path"]) == ("roofline", "Model", "model.py")
    assert document["bytes_per_second"] == pytest.approx(3.35e12, rel=0.01)
    assert "989" in f"{document['ceilings'][1]['operations_per_second'] / 1e12}"
    assert {row["path"] for row in document["cost"]["expressions"]} == {"model.py"}
    assert str(tmp_path) not in base64.b64decode(put_in).decode()


def test_without_an_accelerator_costs_are_bytes_and_operations(command: Command, write: Write) -> None:
    write("model.py", "")
    out = command("analyze", "model.py", "--type", "cost").out
    assert "none without an accelerator whose speed is known" in out
    assert "4.194 M" in out
    assert "roof" not in out


def test_analyze_counts_constraints_by_rule(command: Command, write: Write) -> None:
    write("model.py", "x.double()\ny.double()\n# int64\n")
    document = json.loads(command("analyze", "model.py", "--type", "constraints", "--format", "json").out)
    (analysis,) = document["analyses"]
    (rule,) = analysis["rules"]
    assert (rule["rule"], rule["severity"], rule["findings"]) == ("dtype", "warning", 3)
    text = command("analyze", "model.py", "--type", "constraints").out
    assert "dtype (warning): 3 places, 3 ops" in text
    assert "model.py:2:1: .double() is not supported" in text


def test_analyze_of_several_files_says_which_could_not_be(command: Command, write: Write) -> None:
    write("good.py", "")
    write("bad.py", "raise")
    ran = command("analyze", "good.py", "bad.py", "--format", "json")
    assert (ran.code, len(json.loads(ran.out)["analyses"])) == (2, 1)
    assert "bad.py" in ran.err
