"""How a process asks a zygote for another one, and stands for it: its number is what whoever started it knows.

It passes SIGTERM and SIGINT on, ends as the other ends, and takes it along where it is killed.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
import zlib
from typing import Any, NoReturn

SIZE, STATUS = struct.Struct("!I"), struct.Struct("!i")


def address(folder: str, zygote: str, interpreter: str) -> str:
    """Where the zygote of an interpreter listens; short, for the names of sockets are."""
    return os.path.join(folder, f"{zygote}-{zlib.crc32(interpreter.encode()):x}")


def ask(zygote: str, kind: str, descriptors: tuple[int, ...] = (), **more: Any) -> socket.socket | None:
    """The connection to the zygote that has forked what was asked for; None where it does not.

    Args:
        zygote: its name, `torch` or `command`.
        kind: what the new process becomes, a key of the zygote's `WORK`.
        descriptors: those that it gets besides standard input and output.
        more: what that kind needs to know.
    """
    if "INDUCTOR_DEBUG_ZYGOTES" not in os.environ:
        return None
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(address(os.environ["INDUCTOR_DEBUG_ZYGOTES"], zygote, sys.executable))
    except OSError:  # its run has ended, or there is none for this interpreter
        return None
    whole = {
        "kind": kind,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        **more,
    }
    request = json.dumps(whole).encode()
    socket.send_fds(connection, [SIZE.pack(len(request))], [0, 1, 2, *descriptors])
    connection.sendall(request)
    return connection if connection.recv(1) == b"y" else None


def stand_for(connection: socket.socket) -> NoReturn:
    """Waits for the end of what was forked and ends alike."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: connection.send(bytes([number])))
    (status,) = STATUS.unpack(connection.recv(STATUS.size, socket.MSG_WAITALL))
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)
