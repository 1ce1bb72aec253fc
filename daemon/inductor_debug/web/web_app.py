"""What is answered under which path: the page, the editor's pages in it, events, commands, and what was kept.

Every path starts with the token, which the guard has taken off. A page names files by URIs that it was told, and
artifacts by names that it was told. Only for sources does a request name a path, which `ShownFiles.source` judges.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sse_starlette.sse import EventSourceResponse
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from inductor_debug.engine.settings.settings_ladder import ConfigurationError
from inductor_debug.engine.survey.results_file import ResultsError, read_results
from inductor_debug.report.data_pages import PageError
from inductor_debug.report.survey.survey_page import survey_page
from inductor_debug.server.rpc.told_findings import path_of_uri
from inductor_debug.web.daemon_session import DaemonSession, PageRequestError
from inductor_debug.web.findings_pages import findings_page
from inductor_debug.web.kept_artifacts import KeptArtifacts
from inductor_debug.web.page_frames import framed_page, shell_page
from inductor_debug.web.shown_files import ShownFiles

_LARGEST_REQUEST = 64 << 10
_ALONE = "sandbox allow-scripts allow-popups; frame-ancestors 'self'"
"""For pages that stand alone: they have a policy of their own, and are of no origin."""


class WebApp:
    """The routes, in front of one daemon."""

    def __init__(self, shown: ShownFiles, session: DaemonSession) -> None:
        self._shown, self._session = shown, session
        self._kept = KeptArtifacts()

    def application(self) -> Starlette:
        """The ASGI application: the daemon runs as long as it does."""
        routes = [
            Route("/", self._shell),
            Route("/page/{name}", self._page),
            Route("/events", self._events),
            Route("/findings", self._findings),
            Route("/source", self._source),
            Route("/survey", self._survey),
            Route("/artifacts", self._artifacts),
            Route("/artifact/{name}", self._artifact),
            Route("/command", self._command, methods=["POST"]),
        ]
        return Starlette(routes=routes, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        await self._session.start()
        try:
            yield
        finally:
            await self._session.stop()

    async def _shell(self, _request: Request) -> Response:
        return _html(*_packaged(shell_page))

    async def _page(self, request: Request) -> Response:
        return _html(*_packaged(lambda: framed_page(request.path_params["name"])))

    async def _events(self, _request: Request) -> Response:
        return EventSourceResponse(self._session.hub.stream())

    async def _findings(self, request: Request) -> Response:
        file = self._shown.files.get(request.query_params.get("uri", ""))
        if file is None:
            raise HTTPException(404)
        return HTMLResponse(await asyncio.to_thread(findings_page, file))

    async def _source(self, request: Request) -> Response:
        path = path_of_uri(request.query_params.get("uri", ""))
        text = await asyncio.to_thread(self._shown.source, path)
        if text is None:
            raise HTTPException(404)
        return JSONResponse({"text": text})

    async def _survey(self, request: Request) -> Response:
        path = self._shown.surveys.get(request.query_params.get("name", ""))
        if path is None:
            raise HTTPException(404)
        try:
            page = await asyncio.to_thread(lambda: survey_page(read_results(path)))
        except ResultsError as error:
            raise HTTPException(410, str(error)) from None
        return _html(page, _ALONE)

    async def _artifacts(self, _request: Request) -> Response:
        paths = [file.path for file in self._shown.files.values()]
        try:
            return JSONResponse(await asyncio.to_thread(self._kept.listed, paths))
        except ConfigurationError as error:
            raise HTTPException(409, str(error)) from None

    async def _artifact(self, request: Request) -> Response:
        content = await asyncio.to_thread(self._kept.read, request.path_params["name"])
        if content is None:
            raise HTTPException(404)
        headers = {"Content-Disposition": "attachment", "Content-Security-Policy": _ALONE}
        return Response(content, media_type="application/octet-stream", headers=headers)

    async def _command(self, request: Request) -> Response:
        """`{"command", "request", "token"}`; what comes of it is `{"answer"}` or `{"refused": why}`."""
        said = await _object(request)
        name, token, asked = said.get("command"), said.get("token", ""), said.get("request") or {}
        if not isinstance(name, str) or not isinstance(token, str) or not isinstance(asked, dict):
            raise HTTPException(400)
        try:
            return JSONResponse({"answer": self._kept.named(await self._done(name, asked, token))})
        except PageRequestError as error:
            return JSONResponse({"refused": str(error)})

    async def _done(self, name: str, asked: dict[str, Any], token: str) -> Any:
        if name == "open":
            return self._session.open(str(asked.get("uri", "")))
        if name == "choose":
            return self._session.choose(str(asked.get("accelerator", "")))
        if name == "stop":
            return self._session.cancel(token)
        return await self._session.carry_out(name, asked, token)


async def _object(request: Request) -> dict[str, Any]:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST_REQUEST:
            raise HTTPException(413)
    try:
        said = json.loads(body)
    except ValueError:
        raise HTTPException(400) from None
    if not isinstance(said, dict):
        raise HTTPException(400)
    return said


def _packaged(made: Any) -> tuple[str, str]:
    try:
        page, policy = made()
    except PageError as error:
        raise HTTPException(404, str(error)) from None
    return page, policy


def _html(page: str, policy: str) -> Response:
    return HTMLResponse(page, headers={"Content-Security-Policy": policy})
