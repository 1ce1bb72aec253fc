"""Follows a file's main program, `if __name__ == "__main__": main()`, for as long as it shows models that it calls.

The file was loaded before, under its own name; what stands under the condition is run in its namespace afterwards. It
is contained as loading is, loads data in this process, and is left once it only calls again what is known (a training
loop), by an exception that `except Exception` lets pass, whatever thread it is raised in. Optimisers, losses and loops
are not checked: the models that they call are.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType, ModuleType
from typing import Any

from inductor_debug.capture.entry.data_loading import in_this_process
from inductor_debug.capture.entry.model_calls import ModuleCalls
from inductor_debug.capture.entry.plausible_values import PlausibleValues
from inductor_debug.capture.inference.values.guarded_execution import TooLongError, at_most
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.interception import Interceptor, LoadStopped
from inductor_debug.capture.runtime.loading import run_user_code
from inductor_debug.capture.tensors.fake_mode import is_limitation
from inductor_debug.capture.tensors.written_nowhere import WrittenNowhere
from inductor_debug.source.syntax_tree import tree_of
from inductor_debug.system.torch_names import refuse

MOST_SECONDS = 60.0
"""How long a main program is followed; data may take its time, and nobody waits for a training to end."""
_MAIN = "__main__"


@dataclass
class Followed:
    """What came of a main program.

    `line` is the zero-based line where it begins, None where the file has none. `error` is what ended it before its
    time, `ended` says why it was left. `called` and `uncalled` are the classes of the models that it made. `failure` is
    what a model raised that it called.
    """

    line: int | None = None
    error: BaseException | None = None
    failure: BaseException | None = None
    ended: str = ""
    called: list[str] = field(default_factory=list)
    uncalled: list[str] = field(default_factory=list)

    @property
    def obstacle(self) -> BaseException | None:
        """What kept it from calling all of its models; with more real tensors it may come further."""
        if self.uncalled and self.failure is not None and is_limitation(self.failure):
            return self.failure
        return None if self.called else self.error


class MainProgram:
    """The main program of one file, to be followed once on each rung of the ladder.

    Args:
        text: of the file.
        path: of the file.
    """

    def __init__(self, text: str, path: str) -> None:
        self._path = path
        self._blocks = [node for node in tree_of(text).body if isinstance(node, ast.If) and asks_for_main(node.test)]

    @contextlib.contextmanager
    def watching(self, interceptor: Interceptor, *, fake: bool) -> Iterator[ModuleCalls]:
        """Surrounds whatever runs of the file: at its top level models may be called, too."""
        calls = ModuleCalls(interceptor, _file_of)
        with contextlib.ExitStack() as stack:
            stack.enter_context(calls.watching())
            stack.enter_context(in_this_process())
            stack.enter_context(WrittenNowhere())
            stack.enter_context(_stopped_from_any_thread(interceptor))
            if fake:
                stack.enter_context(PlausibleValues(lambda: interceptor.running))
            yield calls

    def run(self, module: ModuleType, interceptor: Interceptor) -> Followed:
        """Runs what stands under the condition; its exceptions are part of the result."""
        if not self._blocks:
            return Followed()
        followed = Followed(self._blocks[0].lineno - 1)
        code = compile(ast.Module(list(self._blocks), []), self._path, "exec", dont_inherit=True)
        names, own, known = vars(module), module.__name__, sys.modules.get(_MAIN)
        names["__name__"] = _MAIN
        sys.modules[_MAIN] = module
        try:
            with at_most(MOST_SECONDS):
                run_user_code(lambda: exec(code, names))
        except LoadStopped as stop:
            followed.ended = str(stop)
        except TooLongError:
            followed.ended = f"it was followed for {MOST_SECONDS:g} s"
        except BaseException as error:
            refuse(error)
            # What a model raises its own stages will meet; a value that a fake tensor lacks is nobody's fault.
            if error is not interceptor.failure and not (interceptor.calls and is_limitation(error)):
                followed.error = error
            followed.ended = "it ended with an exception"
        finally:
            followed.failure = interceptor.failure
            names["__name__"] = own
            if known is not None:
                sys.modules[_MAIN] = known
        return followed


def summary(followed: Followed) -> str:
    """Which models a main program called, where it did not call them all; empty where there is nothing to say."""
    if followed.line is None and not followed.called:
        return 'There is no `if __name__ == "__main__":` in this file to follow.'
    total = len(followed.called) + len(followed.uncalled)
    if followed.error is None and not followed.uncalled and total:
        return ""
    if not total:
        return "The main program makes no model." if followed.error is None else ""
    reached = f"The main program called {len(followed.called)} of {total} models"
    why = f" before {followed.ended}" if followed.ended else ""
    names = ", ".join(dict.fromkeys(followed.uncalled))
    return f"{reached}{why}; not called: {names}." if names else f"{reached}{why}."


def asks_for_main(test: ast.expr) -> bool:
    """Whether it is `__name__ == "__main__"`, alone or with more conditions."""
    if isinstance(test, ast.BoolOp):
        return any(map(asks_for_main, test.values))
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = (test.left, test.comparators[0])
    named = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return named and any(isinstance(side, ast.Constant) and side.value == _MAIN for side in sides)


def _file_of(kind: type) -> str | None:
    try:
        return inspect.getfile(kind)
    except (TypeError, OSError):
        return foreign.file_of(sys.modules.get(foreign.module_name(kind)))


@contextlib.contextmanager
def _stopped_from_any_thread(interceptor: Interceptor) -> Iterator[None]:
    """A stop in another thread ends the main one, too, which may be waiting for it."""
    if not hasattr(signal, "pthread_kill") or threading.current_thread() is not threading.main_thread():
        yield
        return
    main = threading.main_thread().ident
    assert main is not None

    def stop(number: int, frame: FrameType | None) -> None:
        raise LoadStopped("another thread called it again and again")

    def pass_on() -> None:
        if threading.current_thread() is not threading.main_thread():
            signal.pthread_kill(main, signal.SIGUSR1)

    before: Any = signal.signal(signal.SIGUSR1, stop)
    interceptor.on_stop = pass_on
    try:
        yield
    finally:
        interceptor.on_stop = lambda: None
        signal.signal(signal.SIGUSR1, before)
