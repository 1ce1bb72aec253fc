"""Nobody reaches the page's server but the page: hosts, origins, tokens, and what a foreign page has a browser send."""

from __future__ import annotations

import asyncio
from typing import Any

import needed
import pytest

needed.library("starlette")

from inductor_debug.web.guard import Guard  # noqa: E402
from starlette.responses import PlainTextResponse  # noqa: E402
from starlette.types import Receive, Scope, Send  # noqa: E402

TOKEN = "s3cret-token"
HOST = "127.0.0.1:8700"
OURS = {"origin": f"http://{HOST}", "x-inductor-debug": "1", "content-type": "application/json"}


async def _inner(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse(f"inside {scope['path']}")(scope, receive, send)


def ask(
    path: str = f"/{TOKEN}/source", method: str = "GET", host: str | None = HOST, **headers: str
) -> tuple[int, str, dict[str, str]]:
    said = {"host" if name == "second" else name.replace("_", "-"): value for name, value in headers.items()}
    given = [*([("host", host)] if host is not None else []), *said.items()]
    scope: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in given],
    }
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    asyncio.run(Guard(_inner, token=TOKEN, hosts=(HOST, "localhost:8700"))(scope, receive, send))
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], sent[1]["body"].decode(), answered


def test_the_page_itself_gets_in_and_the_token_comes_off() -> None:
    assert ask()[:2] == (200, "inside /source")
    assert ask(host="localhost:8700", origin="http://localhost:8700")[0] == 200
    assert ask(method="POST", **OURS)[:2] == (200, "inside /source")


@pytest.mark.parametrize(
    "host",
    [None, "", "evil.example", "evil.example:8700", "127.0.0.1", "127.0.0.1:8701", "127.0.0.1:8700.evil.example"],
)
def test_a_name_that_was_made_to_point_here_is_refused(host: str | None) -> None:
    """DNS rebinding: the browser sends the name that the foreign page has."""
    assert ask(host=host)[:2] == (403, "another host")


def test_two_hosts_are_refused() -> None:
    assert ask(second="evil.example")[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", f"https://{HOST}", "http://127.0.0.1:9000", ""])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_origin_is_refused_whatever_it_knows(origin: str, method: str) -> None:
    assert ask(method=method, **{**OURS, "origin": origin})[:2] == (403, "another origin")


@pytest.mark.parametrize(
    "path", ["/", "/source", "/wrong/source", f"/{TOKEN}x/source", f"/{TOKEN[:-1]}/", f"//{TOKEN}/"]
)
def test_without_the_token_there_is_nothing(path: str) -> None:
    assert ask(path)[0] == 404


def test_another_site_may_lead_here_but_embed_and_fetch_nothing() -> None:
    leads = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    assert ask(f"/{TOKEN}/", **leads)[0] == 200
    for other in ({"sec_fetch_dest": "iframe"}, {"sec_fetch_mode": "no-cors", "sec_fetch_dest": "script"}):
        assert ask(**{**leads, **other})[:2] == (403, "another site")
    assert ask(method="POST", **{**OURS, **leads})[:2] == (403, "another site")


@pytest.mark.parametrize(
    "less",
    [{"x-inductor-debug": ""}, {"content-type": "text/plain"}, {"content-type": "application/x-www-form-urlencoded"}],
)
def test_what_a_form_can_send_changes_nothing(less: dict[str, str]) -> None:
    assert ask(method="POST", **{**OURS, **less})[:2] == (403, "not asked by the page")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused_also_to_a_preflight(method: str) -> None:
    status, _, headers = ask(method=method, **OURS)
    assert status == 403
    assert not [name for name in headers if name.startswith("access-control")]


def test_every_answer_says_that_it_is_for_nobody_else() -> None:
    for status, _, headers in (ask(), ask("/"), ask(host="evil.example")):
        assert status in (200, 403, 404)
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "frame-ancestors 'self'" in headers["content-security-policy"]


def test_no_socket_but_of_http() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    asyncio.run(Guard(_inner, token=TOKEN, hosts=(HOST,))({"type": "websocket", "path": f"/{TOKEN}/"}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
