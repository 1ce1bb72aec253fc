"""What VS Code says to debugpy in the Debug Adapter Protocol: breakpoints, stops, and values in a frame."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

SECONDS = 300


class Debugged:
    """A script that runs under debugpy with breakpoints, as a launch configuration says."""

    def __init__(self, script: Path, breakpoints: dict[Path, list[int]], configuration: dict[str, Any]) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "debugpy", "--listen", f"127.0.0.1:{port}", "--wait-for-client"]
        command += ["--configure-subProcess", str(configuration["subProcess"]), str(script)]
        environment = {**os.environ, **configuration["env"], "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        self.process = subprocess.Popen(
            command, cwd=script.parent, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._printed: list[str] = []
        threading.Thread(target=self._read_output, daemon=True).start()
        self._stream = self._connected(port)
        self._number, self._thread = 0, 0
        self._ask("initialize", adapterID="test", linesStartAt1=True, columnsStartAt1=True)
        attach = self._send("attach", **{name: configuration[name] for name in ("justMyCode", "subProcess")})
        self._until(lambda message: message.get("event") == "initialized")
        for path, lines in breakpoints.items():
            answer = self._ask(
                "setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": line} for line in lines]
            )
            assert all(one["verified"] for one in answer["breakpoints"]), answer
        self._ask("configurationDone")
        self._until(lambda message: message.get("request_seq") == attach)

    def next_stop(self) -> tuple[Path, int] | None:
        """Where it stops next, as a file and a line from one; None where it ends before."""
        if self._thread:
            self._send("continue", threadId=self._thread)
        message = self._until(lambda message: message.get("event") in ("stopped", "terminated"))
        if message["event"] == "terminated":
            return None
        self._thread = message["body"]["threadId"]
        frame = self._ask("stackTrace", threadId=self._thread, levels=1)["stackFrames"][0]
        self._frame = frame["id"]
        return Path(frame["source"]["path"]), frame["line"]

    def value(self, expression: str) -> str:
        """What an expression gives in the frame where it stands."""
        return str(self._ask("evaluate", expression=expression, frameId=self._frame, context="watch")["result"])

    def end(self) -> str:
        """Lets it run to its end; returns what it has printed."""
        while self.next_stop() is not None:
            pass
        self.process.wait(SECONDS)
        return self.printed()

    def printed(self) -> str:
        """What it has printed so far."""
        return "".join(self._printed)

    def kill(self) -> None:
        """Ends the process if it still runs."""
        self.process.kill()
        self.process.wait()

    def _read_output(self) -> None:
        assert self.process.stdout is not None
        self._printed.extend(self.process.stdout)

    def _connected(self, port: int) -> Any:
        for _ in range(SECONDS * 10):
            assert self.process.poll() is None, "".join(self._printed)
            connection = socket.socket()
            connection.settimeout(SECONDS)
            if not connection.connect_ex(("127.0.0.1", port)):
                return connection.makefile("rwb")
            connection.close()
            threading.Event().wait(0.1)
        raise AssertionError("debugpy does not listen")

    def _send(self, command: str, **arguments: Any) -> int:
        self._number += 1
        content = json.dumps(
            {"seq": self._number, "type": "request", "command": command, "arguments": arguments}
        ).encode()
        self._stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
        self._stream.flush()
        return self._number

    def _ask(self, command: str, **arguments: Any) -> Any:
        number = self._send(command, **arguments)
        message = self._until(lambda message: message.get("request_seq") == number)
        assert message["success"], message
        return message.get("body") or {}

    def _until(self, wanted: Any) -> dict[str, Any]:
        while True:
            length = 0
            while (line := self._stream.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            assert length, "".join(self._printed)
            message: dict[str, Any] = json.loads(self._stream.read(length))
            if wanted(message):
                return message
