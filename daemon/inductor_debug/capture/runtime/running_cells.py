"""Runs a notebook's statements as a kernel does: any may await, and one that fails keeps none after it from running.

What is awaited is awaited in one event loop, which stands still in between. Only statements that await run there: code
in a task has a copy of the context variables, and what others set of them, such as settings of torch's, has to last.
Whoever waits for what may never come (a server) is left after a while. Nothing here reads or writes a file.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
from collections.abc import Coroutine, Iterator
from typing import Any

from inductor_debug.source.syntax_tree import tree_of

MOST_SECONDS = 10.0
"""How long one statement may wait."""
_SUFFIX = ".ipynb"


def is_notebook(path: str) -> bool:
    """Whether a file's text is that of cells."""
    return path.endswith(_SUFFIX)


def run_cells(text: str, path: str, names: dict[str, Any]) -> Iterator[Exception]:
    """Runs cells and gives what they raised, as it is raised; also that a statement cannot stand there (`return`).

    Raises:
        SyntaxError: the text is no Python.
    """
    waiting = _Waiting()
    try:
        for statement in tree_of(text).body:
            error = _raised_by(statement, path, names, waiting)
            if error is not None:
                yield error
    finally:
        waiting.end()


def _raised_by(statement: ast.stmt, path: str, names: dict[str, Any], waiting: _Waiting) -> Exception | None:
    module = ast.Module([statement], [])
    try:
        code = compile(module, path, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        if code.co_flags & inspect.CO_COROUTINE:
            waiting.wait(eval(code, names))
        else:
            exec(code, names)
    except Exception as error:
        return error
    return None


class _Waiting:
    """The event loop of one run, which is there from the first statement that awaits."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def wait(self, awaited: Coroutine[Any, Any, None]) -> None:
        """Runs a statement that awaits, to its end or until it has waited too long."""
        self._loop = loop = self._loop or asyncio.new_event_loop()
        task = loop.create_task(awaited)
        limit = loop.call_later(MOST_SECONDS, task.cancel)
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError as error:
            why = f"waited for more than {MOST_SECONDS:g} s" if loop.time() >= limit.when() else "was cancelled"
            raise TimeoutError(f"what is awaited here {why}").with_traceback(error.__traceback__) from None
        finally:
            limit.cancel()

    def end(self) -> None:
        """Ends what still waits."""
        if self._loop is None:
            return
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        with contextlib.suppress(Exception):
            self._loop.run_until_complete(asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 1))
        self._loop.close()
