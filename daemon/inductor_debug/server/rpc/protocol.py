"""JSON-RPC as the specification has it, over pygls' dispatcher.

pygls 2.1 keeps the table of handlers, the types and the futures. What it leaves open is decided here: which errors a
request before `initialize`, after `shutdown`, with broken JSON or with unfit parameters is answered with (pygls drops
it or shows the user a pop-up, and the client waits for ever); that a cancelled request stays cancelled; that the exit
code is kept (pygls swallows it); and that no message is larger than 64 KiB. No feature lives here.

It overrides methods of pygls that are not public, so `pyproject.toml` asks for the versions that it was tried with:
2.1.0 and 2.1.1.
"""

from __future__ import annotations

import asyncio
import json
import logging
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcRequestCancelled
from pygls.protocol import LanguageServerProtocol

from inductor_debug.server.rpc.framing import Frame, LspFrameError, frame

if TYPE_CHECKING:
    from inductor_debug.server.rpc.transport import Writer

LARGEST_MESSAGE = 64 << 10
"""Bytes of the largest JSON body that is ever sent; whatever is bigger becomes an artifact."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
SERVER_NOT_INITIALIZED = -32002
REQUEST_FAILED = -32803

_OWN_FEATURES = frozenset(
    {
        types.INITIALIZE,
        types.INITIALIZED,
        types.SHUTDOWN,
        types.EXIT,
        types.TEXT_DOCUMENT_DID_OPEN,
        types.TEXT_DOCUMENT_DID_CHANGE,
        types.TEXT_DOCUMENT_DID_CLOSE,
        types.NOTEBOOK_DOCUMENT_DID_OPEN,
        types.NOTEBOOK_DOCUMENT_DID_CHANGE,
        types.NOTEBOOK_DOCUMENT_DID_CLOSE,
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
        types.WORKSPACE_EXECUTE_COMMAND,
        types.WINDOW_WORK_DONE_PROGRESS_CANCEL,
    }
)
"""Methods whose built-in handler in pygls steps aside: it counts lines wrongly, forgets the exit code, cannot cancel
a running command, or offers documents that nobody here reads."""

logger = logging.getLogger(__name__)


class RequestError(JsonRpcException):
    """An error that a handler answers its request with, as it stands."""

    def __init__(self, message: str, code: int = REQUEST_FAILED) -> None:
        super().__init__(message=message, code=code)


class Protocol(LanguageServerProtocol):
    """One connection to one client: messages in, messages out, and the state between `initialize` and `exit`."""

    def __init__(self, server: Any, converter: Any) -> None:
        super().__init__(server, converter)
        for method in _OWN_FEATURES:
            self.fm.builtin_features.pop(method, None)
        self.initialized = False
        self.shut_down = False

    # Incoming.

    def receive(self, incoming: Frame) -> None:
        """Handles one frame from the transport: answers, dispatches, or says why it cannot."""
        if isinstance(incoming, LspFrameError):
            self._refuse(None, PARSE_ERROR, f"Parse error: {incoming.reason}.")
            return
        try:
            message = json.loads(incoming)
        except (ValueError, RecursionError) as error:
            self._refuse(None, PARSE_ERROR, f"Parse error: {error}")
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != self.VERSION:
            self._refuse(None, INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message.")
        elif "method" not in message:
            self._receive_response(message)
        elif not isinstance(message["method"], str):
            self._refuse(None, INVALID_REQUEST, "Invalid request: the method is not a string.")
        elif "id" in message:
            self._receive_request(message)
        else:
            self._receive_notification(message)

    def _receive_request(self, message: dict[str, Any]) -> None:
        identifier, method = message["id"], message["method"]
        if isinstance(identifier, bool) or not isinstance(identifier, (str, int)):
            self._refuse(None, INVALID_REQUEST, "Invalid request: the id is neither a string nor an integer.")
        elif self.shut_down:
            self._refuse(identifier, INVALID_REQUEST, "The server was shut down.")
        elif not self.initialized and method != types.INITIALIZE:
            self._refuse(identifier, SERVER_NOT_INITIALIZED, "The server waits for `initialize`.")
        elif self.initialized and method == types.INITIALIZE:
            self._refuse(identifier, INVALID_REQUEST, "`initialize` was already answered.")
        elif not self._known(method):
            self._refuse(identifier, METHOD_NOT_FOUND, f"There is no method {method[:200]!r} here.")
        else:
            try:
                structured = self.structure_message(message)
            except Exception as error:
                self._refuse(identifier, INVALID_PARAMS, f"The parameters do not fit {method}: {_reason(error)}")
                return
            self.handle_message(structured)

    def _receive_notification(self, message: dict[str, Any]) -> None:
        method = message["method"]
        if method != types.EXIT and (self.shut_down or not self.initialized):
            logger.debug("dropped %s outside the session", method)
        elif method == types.CANCEL_REQUEST:
            parameters = message.get("params")
            self._handle_cancel_notification(parameters.get("id") if isinstance(parameters, dict) else None)
        elif not self._known(method):
            logger.log(logging.DEBUG if method.startswith("$/") else logging.INFO, "ignored unknown %s", method)
        else:
            try:
                structured = self.structure_message(message)
            except Exception as error:
                logger.warning("ignored %s with unfit parameters: %s", method, _reason(error))
                return
            self.handle_message(structured)

    def _receive_response(self, message: dict[str, Any]) -> None:
        identifier = message.get("id")
        known = isinstance(identifier, (str, int)) and identifier in self._request_futures
        if not known:
            logger.info("ignored a response to nothing that was asked")
            return
        try:
            self.handle_message(self.structure_message(message))
        except Exception as error:
            future = self._request_futures.pop(cast("str | int", identifier), None)
            if future is not None and not future.done():
                future.set_exception(RequestError(f"The client's answer is malformed: {_reason(error)}"))

    def _known(self, method: str) -> bool:
        return method in self.fm.builtin_features or method in self.fm.features

    def _handle_response(self, msg_id: Any, result: Any = None, error: types.ResponseError | None = None) -> None:
        """Settles one of our own requests; one that nobody waits for any more is dropped in silence."""
        future = self._request_futures.get(msg_id)
        if future is not None and future.done():
            self._request_futures.pop(msg_id, None)
            return
        super()._handle_response(msg_id, result, error)

    def _handle_cancel_notification(self, msg_id: Any) -> None:
        """Cancels a request of the client's while its handler runs; the handler's callback answers it."""
        future = self._request_futures.get(msg_id) if isinstance(msg_id, (str, int)) else None
        if isinstance(future, asyncio.Future):
            future.cancel()

    # Outgoing.

    def _send_handler_result(self, future: Future[Any], *, msg_id: Any) -> None:
        """Answers a request with what its handler returned or raised; never bothers the user with it."""
        self._request_futures.pop(msg_id, None)
        if future.cancelled():
            error = JsonRpcRequestCancelled("The request was cancelled.").to_response_error()
            self._send_response(msg_id, error=error)
            return
        exception = future.exception()
        if exception is None:
            self._send_response(msg_id, result=future.result())
        elif isinstance(exception, JsonRpcException):
            self._send_response(msg_id, error=exception.to_response_error())
        else:
            logger.error("request %s failed", msg_id, exc_info=exception)
            problem = types.ResponseError(
                code=INTERNAL_ERROR, message=f"{type(exception).__name__}: {exception}"[:2000]
            )
            self._send_response(msg_id, error=problem)

    def _send_data(self, data: Any) -> None:
        """Sends one message, unless it is larger than any message may be."""
        if self.writer is None:
            return
        body = json.dumps(data, default=self._serialize_message, separators=(",", ":")).encode("ascii")
        if len(body) > LARGEST_MESSAGE:
            logger.error("a message of %d bytes was held back: %s", len(body), body[:200])
            identifier = getattr(data, "id", None)
            if not isinstance(data, types.ResponseErrorMessage) and identifier is not None and hasattr(data, "result"):
                self._refuse(identifier, REQUEST_FAILED, f"The answer has {len(body)} bytes, more than a message may.")
            return
        self.writer.write(frame(body))

    def _refuse(self, identifier: Any, code: int, reason: str) -> None:
        if identifier is None:
            logger.warning("%s", reason[:500])
        # Not lsprotocol's type, whose converter leaves out an id of null, which JSON-RPC asks for.
        problem = {"code": code, "message": reason[:2000]}
        self._send_data({"jsonrpc": self.VERSION, "id": identifier, "error": problem})

    def write_to(self, writer: Writer) -> None:
        """Sends every message from now on to `writer`."""
        self.set_writer(writer)

    async def ask(self, method: str, params: Any, timeout: float = 30.0) -> Any:
        """Sends a request to the client and returns its result, or None where the client fails to give one.

        An editor that answers with an error or not at all is a fact of life and never an error of ours.
        """
        return (await self._asked(method, params, timeout))[1]

    async def agreed(self, method: str, params: Any, timeout: float = 30.0) -> bool:
        """Sends a request whose result says nothing, and returns whether the client accepted it."""
        return (await self._asked(method, params, timeout))[0]

    async def _asked(self, method: str, params: Any, timeout: float) -> tuple[bool, Any]:
        future = self.send_request(method, params)
        try:
            return True, await asyncio.wait_for(asyncio.wrap_future(future), timeout)
        except asyncio.TimeoutError:
            logger.warning("the client did not answer %s in %g s", method, timeout)
        except JsonRpcException as error:
            logger.warning("the client answered %s with an error: %s", method, error)
        return False, None

    def cancel_requests(self) -> None:
        """Cancels every request whose handler still runs; each is answered as cancelled."""
        for future in list(self._request_futures.values()):
            if isinstance(future, asyncio.Future) and future is not _current_task():
                future.cancel()


def _current_task() -> Any:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _reason(error: BaseException) -> str:
    """The innermost sentence of what the converter says, which wraps one exception in another."""
    while isinstance(getattr(error, "exceptions", None), tuple) and error.exceptions:  # type: ignore[attr-defined]
        error = error.exceptions[0]  # type: ignore[attr-defined]
    cause = error.__cause__
    return _reason(cause) if cause is not None else f"{type(error).__name__}: {error}"[:500]
