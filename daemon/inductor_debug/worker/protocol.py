"""What the messages between supervisor, fork server and workers are called, and how they are built and read.

Two conversations use these names. On the *control* channel the supervisor orders workers from the fork server; on a
*job* channel it sends one job to one worker and gets events back. This module is shared by both ends, so it imports
neither torch nor asyncio.
"""

from __future__ import annotations

import signal
from enum import Enum

from inductor_debug_schema import EVENT_TYPES, Event, JobRequest, WireError, from_wire, to_wire

from inductor_debug.worker.frames import Message

FAILURE_PREFIX = "inductor-debug: "
"""A process that cannot start writes one line with this prefix to its stderr and exits with `START_FAILED_STATUS`."""

START_FAILED_STATUS = 78
"""EX_CONFIG of sysexits.h: something in the environment is missing or broken."""


STACK_SIGNAL: int | None = getattr(signal, "SIGUSR2", None)
"""Makes a worker write its Python stack to its output, even while it runs C code; None where there is no such thing."""


class MessageKind(str, Enum):
    """The `kind` of a message."""

    READY = "ready"
    """Fork server or spare → supervisor: warm; carries `python`, `torch` and `seconds`."""
    FORK = "fork"
    """Supervisor → fork server: fork worker number `worker`, which gets itself warm if `rehearse`; two descriptors
    ride along, its channel and its log."""
    FORKED = "forked"
    """Fork server → supervisor: worker number `worker` runs as process `pid`."""
    EXITED = "exited"
    """Fork server → supervisor: worker `worker` and all it left behind are gone; `status` is its exit code, or minus
    the signal that killed it."""
    KILL = "kill"
    """Supervisor → fork server: kill the process group of `worker`."""
    LEARN = "learn"
    """Supervisor → fork server: import these third-party `modules` when nothing else is to be done."""
    LEARNED = "learned"
    """Fork server → supervisor: `modules` are now imported; `refused` maps the others to the reason."""
    JOB = "job"
    """Supervisor → worker: the one job of this process, a `JobRequest` in `request`."""
    EVENT = "event"
    """Worker → supervisor: one event, its class in `type` and its fields in `event`."""
    END = "end"
    """Worker → supervisor: the job ran to its end; nothing follows."""
    FAILED = "failed"
    """Worker → supervisor: our own code raised; `detail` is the exception in one line."""
    LACKING = "lacking"
    """Worker → supervisor: this torch lacks what the job takes; `detail` says what, in plain words."""
    EXIT = "exit"
    """Worker → supervisor: user code raised SystemExit with status `status`, which the job did not catch."""


def job_message(request: JobRequest) -> Message:
    """The message that starts a job."""
    return {"kind": MessageKind.JOB.value, "request": to_wire(request)}


def read_job(message: Message) -> JobRequest:
    """Reads `job_message`.

    Raises:
        WireError: it is not one.
    """
    if message.get("kind") != MessageKind.JOB.value:
        raise WireError(f"expected a job, got {message.get('kind')!r}")
    return from_wire(JobRequest, message.get("request"))


def event_message(event: Event) -> Message:
    """The message that carries one event."""
    return {"kind": MessageKind.EVENT.value, "type": type(event).__name__, "event": to_wire(event)}


def read_event(message: Message) -> Event:
    """Reads `event_message`.

    Raises:
        WireError: unknown type or ill-typed fields.
    """
    name = message.get("type")
    event_type = EVENT_TYPES.get(name) if isinstance(name, str) else None
    if event_type is None:
        raise WireError(f"unknown event {name!r}")
    event: Event = from_wire(event_type, message.get("event"))
    return event
