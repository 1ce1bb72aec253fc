"""The real daemon as another one would be: `newer` or `older` by one minor version, or `damaged` in what it says.

Every frame that it sends goes through here. A newer one says more (fields, stages, states, facts, notifications) and
offers more; an older one says less and offers less; a damaged one says unfit things before each thing that it means.

    python other_daemon.py newer|older|damaged serve …
"""

from __future__ import annotations

import dataclasses
import json
import runpy
import sys
from typing import Any

import inductor_debug
import inductor_debug_schema
from inductor_debug.server.rpc import protocol
from inductor_debug.server.rpc.framing import frame

OLD_COMMANDS = ("inductorDebug.check", "inductorDebug.graph", "inductorDebug.cancel", "inductorDebug.restart")
JUNK: tuple[Any, ...] = (None, 3, "x", [], {}, {"uri": 5}, {"uri": "file:///a.py", "generation": "x"}, [[[]]])


def newer(said: dict[str, Any]) -> list[dict[str, Any]]:
    """What is said, with all that a later version might add."""
    if said.get("method") == "inductorDebug/analysis":
        told = said["params"]
        told["weather"] = {"deep": [1]}
        stage = {"stage": "holographic", "state": "sideways", "seconds": 1.0}
        for target in told["targets"]:
            target["stages"].append(stage)
            target["aura"] = "blue"
        strange = {"name": "Strange", "line": 0, "checked": "twice", "stages": [stage]}
        told["targets"] += [strange] if told["targets"] else []
        return [{"jsonrpc": "2.0", "method": "inductorDebug/weather", "params": {"sun": True}}, said]
    if said.get("method") == "textDocument/publishDiagnostics":
        for diagnostic in said["params"]["diagnostics"]:
            diagnostic["mood"] = "calm"
            diagnostic["data"] = {**(diagnostic.get("data") or {}), "stage": "holographic", "aura": 3}
    elif isinstance(said.get("result"), dict):
        said["result"]["added_later"] = {"deep": [1]}
        if "capabilities" in said["result"]:
            said["result"]["capabilities"]["telepathyProvider"] = True
            said["result"]["capabilities"]["executeCommandProvider"]["commands"].append("inductorDebug.divine")
    return [said]


def older(said: dict[str, Any]) -> list[dict[str, Any]]:
    """What is said, without what has a default, and without most commands."""
    if said.get("method") == "inductorDebug/analysis":
        keep = _required("AnalysisNotification") | {"targets"}
        said["params"] = {key: value for key, value in said["params"].items() if key in keep}
        for target in said["params"]["targets"]:
            target["stages"] = [_less("StageReport", stage) for stage in target["stages"]]
            for name in set(target) - _required("TargetReport") - {"stages", "checked"}:
                del target[name]
    elif isinstance(said.get("result"), dict) and "capabilities" in said["result"]:
        said["result"]["capabilities"]["executeCommandProvider"]["commands"] = list(OLD_COMMANDS)
    return [said]


def damaged(said: dict[str, Any]) -> list[dict[str, Any]]:
    """What is said, after the same with something unfit in it."""
    if "method" not in said or "id" in said:
        return [said]
    torn = [{"jsonrpc": "2.0", "method": said["method"], "params": junk} for junk in JUNK]
    if isinstance(said.get("params"), dict):
        torn += [{**said, "params": {**said["params"], key: "torn"}} for key in said["params"]]
        torn += [{**said, "params": {k: v for k, v in said["params"].items() if k != key}} for key in said["params"]]
    return [*torn, said]


def _required(name: str) -> set[str]:
    missing = dataclasses.MISSING
    fields = dataclasses.fields(getattr(inductor_debug_schema, name))
    return {field.name for field in fields if field.default is missing and field.default_factory is missing}


def _less(name: str, said: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in said.items() if key in _required(name)}


ROLES = {"newer": newer, "older": older, "damaged": damaged}


def main() -> None:
    """Runs the daemon in the role that the command line names."""
    role = sys.argv[1]
    change = ROLES[role]
    major, minor, *_ = (int(part) for part in inductor_debug.__version__.split("."))
    moved = {"newer": f"{major}.{minor + 1}.0", "older": f"{major}.{max(0, minor - 1)}.0"}
    version = moved.get(role, inductor_debug.__version__)

    def send_changed(self: protocol.Protocol, data: Any) -> None:
        writer = self.writer
        if writer is None:
            return
        said = json.loads(json.dumps(data, default=self._serialize_message))
        if isinstance(said.get("result"), dict) and "serverInfo" in said["result"]:
            said["result"]["serverInfo"]["version"] = version
        for message in change(said):
            writer.write(frame(json.dumps(message).encode("ascii")))

    protocol.Protocol._send_data = send_changed  # type: ignore[method-assign]
    sys.argv = ["inductor-debug", *sys.argv[2:]]
    runpy.run_module("inductor_debug", run_name="__main__")


if __name__ == "__main__":
    main()
