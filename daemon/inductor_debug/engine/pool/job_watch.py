"""One job from its first message to its end: the conversation, the clock, the memory, and what is said of it.

It watches one worker and says how the job ended; it starts no process, and leaves killing the worker to its caller
except where a limit demands it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from inductor_debug_schema import Event, JobRequest, Loaded, StageFinished, StageStarted, WireError

from inductor_debug.engine.pool.job_outcomes import JobEnd, JobOutcome, describe_status, innermost_line
from inductor_debug.engine.pool.worker_handle import Worker
from inductor_debug.system import processes
from inductor_debug.system.work_clock import WorkClock
from inductor_debug.worker.frames import FrameError, Message
from inductor_debug.worker.protocol import STACK_SIGNAL, MessageKind, job_message, read_event

TICK_SECONDS = 0.1
"""How often memory and output are looked at while a job runs."""

_STACK_SECONDS = 1.0
"""How long a worker that is about to be killed may take to write down where it is; most take a hundredth."""

_MOST_PARTS = 10
"""How many times the seconds of a part a whole job may work."""

_SHARE_WITH_SYMBOLS = 0.5
"""How much of the seconds of a part one may take that can be run once more with numbers."""

_LAST_WORDS = {kind.value for kind in (MessageKind.END, MessageKind.FAILED, MessageKind.EXIT, MessageKind.LACKING)}

_PARTING_SECONDS = 1.0
"""How long the two signs of a worker's end, its exit and the end of its stream, may lie apart."""


class JobWatch:
    """Runs one request on one fresh worker."""

    def __init__(self, worker: Worker, request: JobRequest, on_event: Callable[[Event], None]) -> None:
        self._worker = worker
        self._request = request
        self._on_event = on_event
        self._parts = 0
        self._share = 1.0
        """How much of the seconds of a part the present one may take."""

    async def run(self, timeout: float) -> JobEnd:
        """Sends the request and follows the job until it is over.

        A part of it, which is a stage of a target or what comes before the first, may take `timeout` seconds of work:
        a file of many classes is no reason to leave some of them out. All may take ten times as many. What may be quick
        once its sizes are numbers is given half the time with symbols.
        """
        self._worker.output.entitle(f"job {self._request.job}: {self._request.path}")
        conversation = asyncio.ensure_future(self._converse())
        try:
            breach = await self._guard(conversation, timeout)
            if breach is not None:
                await self._note_stack()
                self._worker.kill()
                said = self._end(breach.outcome, breach.detail)
                return replace(breach, log_tail=said.log_tail, line=said.line)
            return await self._conclude(conversation)
        finally:
            conversation.cancel()

    async def _converse(self) -> Message | None:
        """Hands events on until the worker says its last word; None if its stream ends without one."""
        await self._worker.channel.send(job_message(self._request))
        while (message := await self._worker.channel.receive()) is not None:
            kind = message.get("kind")
            if kind in _LAST_WORDS:
                return message
            if kind != MessageKind.EVENT.value:
                raise WireError(f"unexpected message {kind!r}")
            event = read_event(message)
            self._parts += isinstance(event, (Loaded, StageFinished))
            if isinstance(event, StageStarted):
                self._share = _SHARE_WITH_SYMBOLS if event.symbols_may_slow else 1.0
            self._on_event(event)
        return None

    async def _guard(self, conversation: asyncio.Future[Message | None], timeout: float) -> JobEnd | None:
        """Waits until the conversation or the process ends; or until a limit is passed, which it names."""
        clock, parts, begun = WorkClock(self._worker.pid), 0, 0.0
        while not conversation.done() and not self._worker.exited.done():
            worked = clock.seconds()
            if self._parts != parts:
                parts, begun = self._parts, worked
            allowed = timeout * self._share
            left = min(begun + allowed, _MOST_PARTS * timeout) - worked
            if left <= 0:
                of_all = begun + allowed > _MOST_PARTS * timeout
                seconds = timeout * _MOST_PARTS if of_all else allowed
                return JobEnd(JobOutcome.TIMEOUT, f"stopped after {seconds:g} s", seconds=seconds, of_all=of_all)
            ends: set[asyncio.Future[Any]] = {conversation, self._worker.exited}
            await asyncio.wait(
                ends,
                timeout=min(TICK_SECONDS, left),
                return_when=asyncio.FIRST_COMPLETED,
            )
            self._worker.output.pump()
            used = memory_in_use(self._worker.pid, self._request.memory_limit)
            if used > self._request.memory_limit:
                most = _mebibytes(self._request.memory_limit)
                return JobEnd(
                    JobOutcome.OUT_OF_MEMORY, f"used {_mebibytes(used)} of memory, more than the {most} allowed"
                )
        return None

    async def _conclude(self, conversation: asyncio.Future[Message | None]) -> JobEnd:
        """Puts together how a job ended that was not stopped."""
        await asyncio.wait({conversation}, timeout=_PARTING_SECONDS)
        try:
            last = conversation.result() if conversation.done() else None
        except (FrameError, WireError) as error:
            self._worker.kill()
            return self._end(JobOutcome.CRASHED, f"sent something that is no message: {error}")
        if last is None:
            return await self._conclude_silent()
        if last["kind"] == MessageKind.EXIT.value:
            return self._end(JobOutcome.CRASHED, describe_status(int(last["status"])))
        if last["kind"] == MessageKind.FAILED.value:
            return self._end(JobOutcome.CRASHED, f"inductor-debug itself failed: {last['detail']}")
        if last["kind"] == MessageKind.LACKING.value:
            return self._end(JobOutcome.START_FAILED, str(last["detail"]))
        return self._end(JobOutcome.FINISHED, "")

    async def _conclude_silent(self) -> JobEnd:
        """The stream ended, or the process did, without a last word."""
        exited = self._worker.exited
        await asyncio.wait({exited}, timeout=_PARTING_SECONDS)
        if exited.done():
            return self._end(JobOutcome.CRASHED, describe_status(exited.result()))
        await self._note_stack()
        self._worker.kill()
        return self._end(JobOutcome.CRASHED, "closed the connection that it reports on")

    async def _note_stack(self) -> None:
        """Has the worker write its Python stack to its output, so that the ending can say where it was."""
        if STACK_SIGNAL is None:
            return
        clock = asyncio.get_running_loop().time
        self._worker.output.pump()
        before = self._worker.output.size
        self._worker.signal(STACK_SIGNAL)
        deadline = clock() + _STACK_SECONDS
        while self._worker.output.size == before and clock() < deadline:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)

    def _end(self, outcome: JobOutcome, detail: str) -> JobEnd:
        tail = self._worker.output.tail()
        line = None if outcome is JobOutcome.FINISHED else innermost_line(tail, self._request.path)
        return JobEnd(outcome, detail, tail, line)


def memory_in_use(pid: int | None, limit: int) -> int:
    """Bytes held by a process and all below it.

    A quick sum, which counts pages shared between them several times; only where that is over `limit` a slower exact
    one. Limits on address space (RLIMIT_AS) would not do: torch maps far more than it uses; and RLIMIT_DATA is per
    process, and makes C code that gets no memory abort instead.
    """
    if pid is None:
        return 0
    members = [pid, *processes.descendants(pid)]
    total = sum(map(processes.resident_bytes, members))
    if total <= limit:
        return total
    return sum(map(processes.proportional_bytes, members))


def _mebibytes(count: int) -> str:
    return f"{count / (1 << 20):.0f} MiB"
