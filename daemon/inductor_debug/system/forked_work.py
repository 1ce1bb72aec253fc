"""The same work for several items, in forked children beside one another: as many as there are processors.

A child inherits everything by copy-on-write, does one item after the other and says what came of each, so what items
have in common is set up once a child. What takes its process with it (a compiler that aborts, memory that runs out)
costs the item that it was at, and no more. User code may have run in a child: what it sends is data of our own types
and runs nothing here. Children end with whoever asked, and when nobody takes answers any more.
Where there is no `fork`, the items are worked on here, one after the other. Standard library only.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import select
import signal
import struct
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from inductor_debug.system import leash

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")
_MOST = 8
"""More children at a time would rather fill memory than save time."""
_OWN = ("inductor_debug", "inductor_debug_schema")
_CONTAINERS = {("builtins", "set"), ("builtins", "frozenset")}
_NUMBER = struct.Struct("!I")


@dataclass(frozen=True, slots=True)
class Died:
    """What stands in for an answer that is none: `how` says what ended its process, or what it sent instead."""

    how: str


def processors() -> int:
    """How many processes can run at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worked_on(
    items: Sequence[_Item], work: Callable[[_Item], _Answer], *, at_once: int | None = None
) -> Iterator[tuple[_Item, _Answer | Died]]:
    """Each item with what `work` made of it, as soon as that is there, so in any order.

    Args:
        items: what is worked on, in the order in which it is begun.
        work: gives values, or objects of this tool's classes; raises nothing: an exception ends its child.
        at_once: how many children there are at most; by default as many as there are processors.
    """
    count = min(_MOST, at_once or processors())
    if not hasattr(os, "fork"):
        for item in items:
            yield item, work(item)
        return
    waiting = list(range(len(items)))[::-1]
    crew: dict[int, _Child] = {}
    try:
        while waiting or crew:
            while waiting and len(crew) < count:
                child = _Child.started(lambda number: work(items[number]), [each.descriptors for each in crew.values()])
                child.begin(waiting.pop())
                crew[child.answers] = child
            for descriptor in select.select(list(crew), [], [])[0]:
                child = crew[descriptor]
                number, answer = child.item, child.answer()
                if isinstance(answer, Died):
                    crew.pop(descriptor)
                elif waiting:
                    child.begin(waiting.pop())
                else:
                    crew.pop(descriptor).end()
                yield items[number], answer
    finally:
        for child in crew.values():
            child.end()


@dataclass(slots=True)
class _Child:
    """A child, the ends of its pipes that are ours, and the number of the item that it is at."""

    pid: int
    orders: int
    answers: int
    item: int = 0

    @property
    def descriptors(self) -> tuple[int, int]:
        return self.orders, self.answers

    @classmethod
    def started(cls, work: Callable[[int], Any], others: Sequence[tuple[int, int]]) -> _Child:
        """A new child, which lets go of what leads to the `others`: they would not see that their orders end."""
        (order_end, orders), (answers, answer_end) = os.pipe(), os.pipe()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            for descriptor in (orders, answers, *(end for ends in others for end in ends)):
                os.close(descriptor)
            _live(work, order_end, answer_end, parent)
        os.close(order_end)
        os.close(answer_end)
        return cls(pid, orders, answers)

    def begin(self, number: int) -> None:
        """Has it work on an item. One that has died says so by its answer."""
        self.item = number
        with contextlib.suppress(BrokenPipeError):
            os.write(self.orders, _NUMBER.pack(number))

    def answer(self) -> Any:
        """What became of the item, once something is there to be read."""
        size = self._read(_NUMBER.size)
        content = self._read(_NUMBER.unpack(size)[0]) if size is not None else None
        if content is None:
            return Died(how_it_ended(self.end()))
        try:
            return _Data(io.BytesIO(content)).load()
        except pickle.UnpicklingError as error:
            self.end()
            return Died(str(error))

    def end(self) -> int:
        """Sees the child gone; its status."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        return os.waitpid(self.pid, 0)[1]

    def _read(self, size: int) -> bytes | None:
        content = b""
        while len(content) < size:
            part = os.read(self.answers, size - len(content))
            if not part:
                return None
            content += part
        return content


class _Data(pickle.Unpickler):
    """Reads classes of this tool's, and what holds values."""

    def find_class(self, module: str, name: str) -> Any:
        """Raises for whatever could be called to do something."""
        if module.partition(".")[0] in _OWN or (module, name) in _CONTAINERS:
            found = super().find_class(module, name)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not data")


def _live(work: Callable[[int], Any], orders: int, answers: int, parent: int) -> NoReturn:
    """The child's life. It never returns into the parent's code."""
    status = 1
    try:
        leash.end_with(parent, signal.SIGKILL)
        while os.getppid() == parent and (order := os.read(orders, _NUMBER.size)):
            content = pickle.dumps(work(_NUMBER.unpack(order)[0]), pickle.HIGHEST_PROTOCOL)
            content = _NUMBER.pack(len(content)) + content
            while content:
                content = content[os.write(answers, content) :]
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def how_it_ended(status: int) -> str:
    """What became of a process, by what waiting for it gave."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with contextlib.suppress(ValueError):
            return f"killed by {signal.Signals(number).name}"
        return f"killed by signal {number}"
    return f"ended with status {os.waitstatus_to_exitcode(status)}"
