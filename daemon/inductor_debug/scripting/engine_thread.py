"""An engine in a thread of its own, for programs that wait: one order after the other, with the same warm workers.

It prints nothing, and no worker is left once it is closed.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from types import TracebackType
from typing import Any, TypeVar

from inductor_debug.engine.engine import Engine
from inductor_debug.engine.settings.settings import Settings

T = TypeVar("T")


class EngineThread:
    """Runs coroutines with an engine, whatever loop the caller is in. It is a context manager, or `close` ends it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="inductor-debug", daemon=True)
        self._turn = threading.Lock()
        self._settings_for: Callable[[str], Settings] | None = None
        self._engine: Engine | None = None

    def __enter__(self) -> EngineThread:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, settings_for: Callable[[str], Settings], work: Callable[[Engine], Coroutine[Any, Any, T]]) -> T:
        """Waits for what `work` gives; files have the settings of `settings_for` meanwhile.

        Whatever ends the waiting, Ctrl-C among it, `work` has ended when this returns.
        """
        with self._turn:
            if not self._thread.is_alive():
                self._thread.start()
            self._settings_for = settings_for
            outcome: Future[T] = Future()
            begun: list[asyncio.Task[T]] = []

            def begin() -> None:
                begun.append(asyncio.ensure_future(work(self._opened())))
                begun[0].add_done_callback(lambda task: _hand_over(task, outcome))

            self._loop.call_soon_threadsafe(begin)
            try:
                return outcome.result()
            finally:
                self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in begun])
                wait([outcome])

    def close(self) -> None:
        """Ends the workers and the thread; a second time does nothing."""
        if not self._thread.is_alive():
            return
        if self._engine is not None:
            asyncio.run_coroutine_threadsafe(self._engine.shutdown(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _opened(self) -> Engine:
        """The engine, which is made in its loop."""
        if self._engine is None:
            self._engine = Engine(settings_for=self._settings, listener=lambda update: None, jobs=1)
        return self._engine

    def _settings(self, path: str) -> Settings:
        assert self._settings_for is not None
        return self._settings_for(path)


def _hand_over(task: asyncio.Task[T], outcome: Future[T]) -> None:
    """What a task of the loop ended with, for the thread that waits."""
    if task.cancelled():
        outcome.set_exception(asyncio.CancelledError())
    elif (error := task.exception()) is not None:
        outcome.set_exception(error)
    else:
        outcome.set_result(task.result())
