"""Asks interpreters about accelerators without keeping the server's loop waiting.

An adapter may import torch before it says anything, which takes seconds. Whoever needs an answer that is not there yet
is told so (`StillAskingError`), does without it, and hears when it has come.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inductor_debug_schema import AdaptersFound

    from inductor_debug.engine.settings.accelerator_registry import Ask


class BackgroundAsking:
    """An `Ask` whose answers come later, each kept until it has been fetched. To be called in the server's loop.

    Args:
        ask: asks, and waits for the answer.
        answered: called in the loop after each answer.
    """

    def __init__(self, ask: Ask, answered: Callable[[], None]) -> None:
        self._ask, self._answered = ask, answered
        self._asked: dict[tuple[str, str | None], asyncio.Task[AdaptersFound]] = {}

    def __call__(self, interpreter: str, adapter: str | None) -> AdaptersFound:
        """The answer, if it has come.

        Raises:
            StillAskingError: it has not; it is being asked for.
            DescribingError: there is none.
        """
        # Imported when first needed, like the engine itself: `initialize` is answered without it.
        from inductor_debug.engine.settings.accelerator_registry import StillAskingError

        key = interpreter, adapter
        task = self._asked.get(key)
        if task is None:
            task = self._asked[key] = asyncio.ensure_future(asyncio.to_thread(self._ask, interpreter, adapter))
            task.add_done_callback(lambda done: None if done.cancelled() else self._answered())
        if not task.done():
            raise StillAskingError
        return self._asked.pop(key).result()

    async def answer(self) -> bool:
        """Waits until all that is being asked for has been answered; whether there was anything."""
        pending = [task for task in self._asked.values() if not task.done()]
        if pending:
            await asyncio.wait(pending)
        return bool(pending)
