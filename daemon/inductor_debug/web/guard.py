"""Who may ask: the one gate in front of everything that the page's server answers.

The server listens on 127.0.0.1, which keeps other machines out, but not what other web pages have this machine's
browser do. So a request needs the token in its path, a `Host` that is ours (a foreign name that resolves to 127.0.0.1
is no host of ours), and, where a browser says who asks, our own origin. What changes anything also needs a header that
no form can send. What is refused is told no more than that.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ASKING_HEADER = "x-inductor-debug"
"""What a request that is no GET has to carry: a page of another origin would first have to ask whether it may."""
_COMMON = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
}
_NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'self'"


class Guard:
    """Lets through what comes from our own page, with the token taken off its path.

    Args:
        app: what answers.
        token: the first part of every path.
        hosts: the names, with the port, under which the page is opened.
    """

    def __init__(self, app: ASGIApp, *, token: str, hosts: Iterable[str]) -> None:
        self._app, self._token, self._hosts = app, token, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, or refuses."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_COMMON)
                headers.setdefault("Content-Security-Policy", _NO_CONTENT_POLICY)
            await send(message)

        headers = Headers(scope=scope)
        if why := self._refusal(scope, headers):
            await PlainTextResponse(why, status_code=403)(scope, receive, send_guarded)
            return
        given, _, rest = scope["path"].removeprefix("/").partition("/")
        if not secrets.compare_digest(given.encode("utf-8", "replace"), self._token.encode()):
            await PlainTextResponse("not found", status_code=404)(scope, receive, send_guarded)
            return
        inner = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode(), "root_path": ""}
        await self._app(inner, receive, send_guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> str:
        """Why a request is refused, "" where it is not."""
        said = headers.getlist("host")
        if len(said) != 1 or said[0].lower() not in self._hosts:
            return "another host"
        origins = headers.getlist("origin")
        if origins and origins != [f"http://{said[0].lower()}"]:
            return "another origin"
        asks_from = headers.get("sec-fetch-site", "none")
        navigates = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        if asks_from not in ("same-origin", "none") and not (navigates and scope["method"] == "GET"):
            return "another site"
        if scope["method"] in ("GET", "HEAD"):
            return ""
        if scope["method"] != "POST":
            return "no such method"
        if headers.get(ASKING_HEADER) != "1" or headers.get("content-type", "").partition(";")[0] != "application/json":
            return "not asked by the page"
        return ""
