"""docs/threat-model.md: every promise names tests that there are; what the source itself shows is held here."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import needed
import pytest

ROOT = Path(__file__).resolve().parents[2]
DAEMON = ROOT / "daemon" / "inductor_debug"
EXTENSION = ROOT / "vscode-extension"
SPEAKS = re.compile(r"\b(?:socket|ssl|http|urllib\.request|ftplib|smtplib|xmlrpc|requests|httpx|aiohttp|websockets?)\b")
ALLOWED = {
    "engine/bug_report/redaction.py": "asks for the name of this machine, to leave it out",
    "engine/pool/fork_link.py": "a pair of sockets with the process that it starts",
    "report/formats/junit.py": "the name of this machine, which the format wants",
    "server/rpc/told_findings.py": "reads `file:` addresses (`url2pathname`)",
    "web/serving.py": "listens on this machine alone, for the page of `inductor-debug ui`",
    "web/web_app.py": "reads what a page asks (`starlette.requests`)",
    "worker/fork_server.py": "the other end of that pair",
}
"""Modules that import what could speak with a network, and why they do not."""
CONNECTS = re.compile(
    r"\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|[\"'](?:node:)?(?:https?|net|tls|dgram)[\"']"
)
UNPICKLES = re.compile(r"\bpickle\.loads?\(|\bUnpickler\(|\bcloudpickle\b|\bdill\b|\bjoblib\.load\(")
LISTENING = """\
import os, socket, sys

def tell(words):
    with open(os.environ["HEARD"], "a") as file:
        file.write(f"{os.getpid()} {words}\\n")

def hear(event, arguments):
    if event.startswith("socket.get") and event.endswith(("addrinfo", "byname", "byaddr", "nameinfo")):
        tell(f"asks for {arguments}")
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"):
        if arguments[0].family != socket.AF_UNIX:
            tell(f"{event} {arguments}")

tell("is there")
sys.addaudithook(hear)
"""
"""Imported by each Python at its start: writes down what it would say to a network, libraries' words included."""


def test_every_promise_names_tests_that_there_are() -> None:
    page = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
    rows = [row for row in page.split("## Promises")[1].split("## ")[0].splitlines() if row.startswith("| ")][1:]
    assert len(rows) > 12
    for row in rows:
        named = re.findall(r"`((?:tests|vscode-extension)/[^`]+)`", row)
        assert named, row
        for name in named:
            path, _, test = name.partition("::")
            text = (ROOT / path).read_text(encoding="utf-8")
            assert f"def {test}(" in text if test else text, name


def test_nothing_that_users_run_can_speak_with_a_network() -> None:
    found = {path.relative_to(DAEMON).as_posix() for path in DAEMON.rglob("*.py") if SPEAKS.search(_imports(path))}
    assert found == ALLOWED.keys()
    scripts = [path for room in ("src", "webview") for path in (EXTENSION / room).rglob("*.ts")]
    assert len(scripts) > 100
    connecting = [path for path in scripts if CONNECTS.search(path.read_text(encoding="utf-8"))]
    assert [path.relative_to(EXTENSION).as_posix() for path in connecting] == ["webview/browser/daemon.ts"]
    addresses = re.findall(r"(?:fetch|EventSource|got)\(([\"'`][^,)]*)", connecting[0].read_text(encoding="utf-8"))
    assert addresses
    relative = re.compile(r"[\"'`][a-z]+[\"'`/?]")
    assert all(relative.match(address) for address in addresses), "they lead to where the page is from"


@pytest.mark.torch
@pytest.mark.skipif(sys.platform == "win32", reason="pairs of sockets are connections there")
def test_neither_the_daemon_nor_its_workers_nor_their_libraries_say_a_word_to_a_network(tmp_path: Path) -> None:
    needed.library("transformers")
    (tmp_path / "sitecustomize.py").write_text(LISTENING, encoding="utf-8")
    heard = tmp_path / "heard"
    paths = [str(tmp_path), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    environment = {**os.environ, "HEARD": str(heard), "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "inductor_debug", "watch", "--once", str(ROOT / "examples" / "bert.py")]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "1 class checked" in ran.stdout, ran.stderr
    told = heard.read_text(encoding="utf-8").splitlines()
    assert len({line.partition(" ")[0] for line in told}) >= 3, "the command, the daemon and a worker"
    assert [line for line in told if not line.endswith(" is there")] == []


def test_pages_load_nothing_and_run_their_own_scripts_alone() -> None:
    page = (EXTENSION / "src" / "pages" / "pageHtml.ts").read_text(encoding="utf-8")
    assert "\"default-src 'none'\", `script-src 'nonce-${nonce}'`" in page
    assert "unsafe-eval" not in page
    markup = (DAEMON / "report" / "html" / "markup.py").read_text(encoding="utf-8")
    assert "content=\\\"default-src 'none'; style-src 'unsafe-inline'\\\"" in markup


def test_no_pickle_is_unpickled_with_code() -> None:
    for path in DAEMON.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert UNPICKLES.search(text) is None, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.load":
                assert "weights_only=True" in ast.unparse(node), path


def _imports(path: Path) -> str:
    """The names that a module imports."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    names = (ast.unparse(node) for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)))
    return "\n".join(name for name in names if "inductor_debug" not in name)
