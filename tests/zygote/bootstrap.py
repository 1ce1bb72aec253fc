"""Runs in place of `worker/bootstrap.py`, as a script: has the fork server forked by the zygote, and stands for it.

Its process number is what the supervisor knows. It passes SIGTERM on, ends as the fork server ends, and takes it along
where it is killed. Where the zygote does not serve it, it becomes what users have: `worker/bootstrap.py` itself.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
from typing import NoReturn

SIZE, STATUS = struct.Struct("!I"), struct.Struct("!i")


def ask(configuration: dict[str, object], bootstrap: str) -> socket.socket | None:
    """The connection to the zygote that has forked the fork server; None where it does not."""
    if configuration["control"] is None or "INDUCTOR_DEBUG_ZYGOTE" not in os.environ:
        return None
    zygote = socket.socket(socket.AF_UNIX)
    zygote.connect(os.environ["INDUCTOR_DEBUG_ZYGOTE"])
    request = json.dumps(
        {
            "configuration": configuration,
            "bootstrap": bootstrap,
            "interpreter": sys.executable,
            "environment": dict(os.environ),
            "folder": os.getcwd(),
        }
    ).encode()
    socket.send_fds(zygote, [SIZE.pack(len(request))], [0, 1, 2, configuration["control"]])
    zygote.sendall(request)
    return zygote if zygote.recv(1) == b"y" else None


def stand_for(zygote: socket.socket) -> NoReturn:
    """Waits for the fork server's end and ends alike."""
    signal.signal(signal.SIGTERM, lambda *_: zygote.send(b"t"))
    (status,) = STATUS.unpack(zygote.recv(STATUS.size, socket.MSG_WAITALL))
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    configuration = json.loads(sys.argv[1])
    bootstrap = os.path.join(configuration["packages"]["inductor_debug"], "worker", "bootstrap.py")
    zygote = ask(configuration, bootstrap)
    if zygote is None:
        os.execv(sys.executable, [sys.executable, bootstrap, sys.argv[1]])
    os.close(configuration["control"])
    stand_for(zygote)
