"""A warm process for one job, where there is no `fork`.

The supervisor keeps one such process ready and starts the next when it takes one. The channel comes in as the
process's own stdin and stdout, which are moved out of user code's reach before torch is imported. Unlike the fork
server it runs user code itself, so it is never used twice.
"""

from __future__ import annotations

import os
import signal
import time
from typing import Any, NoReturn

from inductor_debug.system import leash
from inductor_debug.worker import descriptors, job
from inductor_debug.worker.frames import write_frame
from inductor_debug.worker.protocol import MessageKind


def main(configuration: dict[str, Any]) -> NoReturn:
    """Warms up, says READY, does one job."""
    started = time.monotonic()
    if configuration["die_with_parent"]:
        leash.die_with_parent(signal.SIGKILL)
    read_end, write_end = _take_channel()
    job.isolate()
    greeting = job.resolve(configuration["warm_up"])()
    function = job.resolve(configuration["job"])
    leash.release()
    write_frame(write_end, {"kind": MessageKind.READY.value, **greeting, "seconds": time.monotonic() - started})
    job.work(read_end, write_end, function, sweep=True)


def _take_channel() -> tuple[int, int]:
    """Moves the pipes on 0 and 1 away and leaves an empty stdin and the log (which is 2) in their place."""
    if os.name == "nt":
        read_end, write_end = os.dup(0), os.dup(1)
    else:
        read_end, write_end = (descriptors.move_high(os.dup(descriptor)) for descriptor in (0, 1))
    descriptors.redirect_standard_streams(os.dup(2))
    return read_end, write_end
