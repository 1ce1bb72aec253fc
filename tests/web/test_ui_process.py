"""`inductor-debug ui` as a process: what a browser gets of a real daemon, live; and that nothing of it stays."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import needed
import psutil
import pytest
from zygote import COMMAND

needed.library("starlette")
pytestmark = pytest.mark.torch
PATIENCE = 100
MODEL = "import torch\n\n\n# inductor-debug: inputs=(torch.randn(4),)\ndef net(x):\n    return {expression}\n"


class Page:
    """What a page asks, as a browser would."""

    def __init__(self, address: str) -> None:
        self.parts = urlsplit(address)
        self.origin = f"http://{self.parts.netloc}"

    def ask(self, path: str, said: Any = None, **headers: str) -> tuple[int, bytes, dict[str, str]]:
        connection = self.connected()
        body = None if said is None else json.dumps(said)
        asking = {"Content-Type": "application/json", "X-Inductor-Debug": "1", "Origin": self.origin} if body else {}
        connection.request("GET" if body is None else "POST", self.parts.path + path, body, {**asking, **headers})
        response = connection.getresponse()
        return response.status, response.read(), dict(response.getheaders())

    def carry_out(self, command: str, token: str = "token", **request: Any) -> Any:
        status, body, _ = self.ask("command", {"command": command, "request": request, "token": token})
        assert status == 200
        return json.loads(body)

    def events(self) -> Iterator[tuple[str, Any]]:
        connection = self.connected()
        connection.request("GET", f"{self.parts.path}events")
        response, name = connection.getresponse(), ""
        while line := response.readline():
            if line.startswith(b"event: "):
                name = line[7:].strip().decode()
            elif line.startswith(b"data: "):
                yield name, json.loads(line[6:])

    def connected(self) -> http.client.HTTPConnection:
        assert self.parts.hostname is not None
        return http.client.HTTPConnection(self.parts.hostname, self.parts.port, timeout=PATIENCE)


def started(*arguments: str, cwd: Path) -> tuple[subprocess.Popen[str], Page]:
    command = [*COMMAND, "ui", "--no-open", *arguments]
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Page(process.stdout.readline().strip())


def settled(events: Iterator[tuple[str, Any]], findings: int) -> None:
    for name, data in events:
        if name == "analysis" and data["state"] == "done" and data["findings"] == findings:
            return
    raise AssertionError("the daemon has told nothing of that")


def test_a_file_is_shown_with_its_findings_graphs_and_what_was_kept_and_again_after_a_save(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(MODEL.format(expression="x.double()"))
    uri = path.as_uri()
    process, page = started("net.py", "--accelerator", "mock", cwd=tmp_path)
    try:
        events = page.events()
        settled(events, 1)
        status, findings, headers = page.ask(f"findings?uri={quote(uri, safe='')}")
        assert status == 200
        assert "x.double()" in findings.decode()
        assert "default-src 'none'" in headers["content-security-policy"]
        answer = page.carry_out("graph", uri=uri, target="net")["answer"]
        graphs = [one for one in answer["artifacts"] if one["media_type"].endswith("graph+msgpack")]
        assert len(page.ask(f"artifact/{graphs[0]['id']}")[1]) == graphs[0]["bytes"]
        kept = json.loads(page.ask("artifacts")[1])
        assert {one["uri"] for one in kept} == {uri}
        path.write_text(MODEL.format(expression="x + 1"))
        settled(events, 0)
        for name in ("", "page/graph", "page/order", "page/charts", "page/kerneldiff"):
            status, body, headers = page.ask(name)
            assert status == 200
            assert b"@@INDUCTOR_DEBUG_DATA@@" not in body
            assert "script-src 'sha256-" in headers["content-security-policy"]
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in errors


def test_findings_of_a_notebook_are_in_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "net.ipynb"
    cell = {"cell_type": "code", "metadata": {}, "source": MODEL.format(expression="x.double()")}
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}), encoding="utf-8")
    process, page = started("net.ipynb", "--accelerator", "mock", cwd=tmp_path)
    try:
        events = page.events()
        analyses = (data for name, data in events if name == "analysis" and data["state"] == "done")
        assert [(one["number"], one["start"]) for one in next(analyses)["cells"]] == [(1, 1)]
        status, findings, _ = page.ask(f"findings?uri={quote(path.as_uri(), safe='')}")
        assert status == 200
        assert "net.ipynb: cell 1, line 6" in findings.decode()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)


def test_what_a_page_may_not_have_is_refused_and_only_this_machine_is_answered(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MODEL.format(expression="x"))
    (tmp_path / "secret.txt").write_text("secret")
    process, page = started("net.py", cwd=tmp_path)
    try:
        listening = [one for one in psutil.net_connections("inet") if one.laddr.port == page.parts.port]
        listening = [one for one in listening if one.status == psutil.CONN_LISTEN]
        assert [one.laddr.ip for one in listening] == ["127.0.0.1"]
        children = psutil.Process(listening[0].pid).children(recursive=True)
        assert children
        for path in (
            "../etc/passwd",
            "artifact/..%2f..%2fetc%2fpasswd",
            "page/..%2fframe.js",
            "page/browser",
            "nothing",
        ):
            assert page.ask(path)[0] == 404, path
        outside = quote((tmp_path / "secret.txt").as_uri(), safe="")
        assert page.ask(f"source?uri={outside}")[0] == 404
        assert page.ask(f"findings?uri={outside}")[0] == 404
        assert page.ask("", Host="evil.example")[0] == 403
        assert page.ask("command", {}, Origin="http://evil.example")[0] == 403
        assert page.ask("command", [])[0] == 400
        assert page.carry_out("check", uri=(tmp_path / "other.py").as_uri())["refused"] == "no such file is shown"
        for command in ("bugReport", "restart", "checkWorkspace", "__class__"):
            assert page.carry_out(command, uri=(tmp_path / "net.py").as_uri())["refused"].startswith("pages have no")
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    _, alive = psutil.wait_procs(children, timeout=PATIENCE)
    assert alive == []


def test_without_the_extra_a_sentence_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['uvicorn'] = None\n"
        "from inductor_debug.cli.main import main\n"
        "raise SystemExit(main(['ui', '--no-open']))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert 'pip install "inductor-debug[ui]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for words, said in ((["missing.py"], "no such file"), (["--port", port], f"port {port} cannot be used")):
            command = [*COMMAND, "ui", "--no-open", *words]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
            assert done.returncode == 2
            assert said in done.stderr
