"""Where compiling went in somebody's run, out of its structured trace (`TORCH_TRACE=folder`): by phase and by function.

Torch writes when each part of its work begins and ends (`chromium_event`), and for each compilation which function it
was (`compilation_metrics`). Nothing that a log names is opened. Read against torch 2.11 to 2.14.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from inductor_debug_schema import (
    CompileExpression,
    CompilePhase,
    CompileSlices,
    CompileTimeDocument,
    Position,
    Range,
)

from inductor_debug.compiler_output.files.confined_files import ConfinedFile, ConfinedFolder, FileFaultError, read_json
from inductor_debug.compiler_output.importing import NothingFoundError
from inductor_debug.compiler_output.trace_logs import Payload, is_log, payloads
from inductor_debug.rules.amounts import counted
from inductor_debug.rules.recording.compiler_phases import PHASES, Phase, phase_of

_EVENT, _METRICS, _GRAPH = "chromium_event", "compilation_metrics", "dynamo_output_graph"
_WANTED = frozenset({_EVENT, _METRICS, _GRAPH})
_MOST_EVENTS = 2_000_000
_DEEPEST = 1_000
_LONGEST_NAME = 200
_MOST_LINES = 10_000_000


@dataclass
class _Open:
    """An event that has begun: since when (microseconds), of which phase and compilation, and what was inside it."""

    name: str
    since: float
    phase: Phase | None
    compile: str
    inside: float = 0.0


@dataclass
class _Compilations:
    """The compilations of one function."""

    name: str
    path: str
    line: int
    times: int = 0
    operations: int = 0


@dataclass
class _Log:
    """What one log says, added up. Seconds are by phase and compilation."""

    seconds: dict[tuple[Phase, str], float] = field(default_factory=dict)
    functions: dict[tuple[str, int, str], _Compilations] = field(default_factory=dict)
    function_of: dict[str, tuple[str, int, str]] = field(default_factory=dict)
    open: dict[tuple[str, str], list[_Open]] = field(default_factory=dict)
    graphs: int = 0
    events: int = 0
    damaged: int = 0
    unfinished: int = 0
    last: float = 0.0

    def hear(self, payload: Payload) -> None:
        """Takes in an entry.

        Raises:
            FileFaultError: there are more events than are read.
        """
        if payload.name == _GRAPH:
            self.graphs += 1
        elif payload.name == _METRICS:
            self._compiled(payload.envelope.get(_METRICS))
        else:
            self.events += 1
            if self.events > _MOST_EVENTS:
                raise FileFaultError(f"it has more than the {_MOST_EVENTS:,} events that are read")
            try:
                said = read_json(payload.text)
            except FileFaultError:
                self.damaged += 1
                return
            self._event(said)

    def end(self) -> None:
        """Ends what the log leaves open: the run was broken off, or its log was."""
        for key, stack in self.open.items():
            self.unfinished += len(stack)
            while stack:
                self._closed(key, self.last)

    def _event(self, said: Any) -> None:
        kind = said.get("ph") if isinstance(said, dict) else None
        if kind not in ("B", "E"):
            return
        name, at = said.get("name"), _number(said.get("ts"))
        if not isinstance(name, str) or at is None:
            self.damaged += 1
            return
        self.last = max(self.last, at)
        key = (str(said.get("pid"))[:_LONGEST_NAME], str(said.get("tid"))[:_LONGEST_NAME])
        stack = self.open.setdefault(key, [])
        if kind == "B":
            if len(stack) >= _DEEPEST:
                raise FileFaultError(f"its events are nested more than {_DEEPEST:,} deep")
            around = stack[-1] if stack else None
            arguments = said.get("args")
            compiled = arguments.get("compile_id") if isinstance(arguments, dict) else None
            named = isinstance(compiled, str) and compiled not in ("", "None")
            own = str(compiled) if named else around.compile if around is not None else ""
            stack.append(_Open(name, at, phase_of(name) or (around.phase if around is not None else None), own))
            return
        if not any(known.name == name for known in stack):
            self.damaged += 1
            return
        while stack[-1].name != name:
            self.damaged += 1
            self._closed(key, at)
        self._closed(key, at)

    def _closed(self, key: tuple[str, str], at: float) -> None:
        stack = self.open[key]
        done = stack.pop()
        whole = max(at - done.since, 0.0)
        if stack:
            stack[-1].inside += whole
        if done.phase is not None:
            slot = (done.phase, done.compile)
            self.seconds[slot] = self.seconds.get(slot, 0.0) + max(whole - done.inside, 0.0) / 1e6

    def _compiled(self, said: Any) -> None:
        if not isinstance(said, dict):
            return
        compiled, name, path = (said.get(key) for key in ("compile_id", "co_name", "co_filename"))
        line = said.get("co_firstlineno")
        if not (isinstance(compiled, str) and isinstance(name, str) and isinstance(path, str)):
            return
        if not isinstance(line, int) or not 0 <= line < _MOST_LINES:
            return
        function = (path, line, name)
        known = self.functions.setdefault(function, _Compilations(name[:_LONGEST_NAME], path, line))
        known.times += 1
        operations = said.get("graph_op_count")
        known.operations += operations if isinstance(operations, int) and not isinstance(operations, bool) else 0
        self.function_of[compiled] = function


def read_compile_times(path: str) -> list[CompileTimeDocument]:
    """A document for each log of a folder, or for the log at `path`.

    Raises:
        NothingFoundError: there is no log of torch's, or in none of them does anything tell of compiling.
    """
    try:
        folder = ConfinedFolder.at(path)
    except FileFaultError as error:
        raise NothingFoundError(f"{path}: {error}") from None
    alone = len(folder.files) == 1
    logs = [file for file in folder.files if alone or is_log(file)]
    if not logs:
        raise NothingFoundError(f"{path} holds no log of TORCH_TRACE (dedicated_log_torch_trace_….log)")
    documents = [made for file in logs if (made := _document(folder, file, path)) is not None]
    if not documents:
        why = "; ".join(f"{unread.path}: {unread.why}" for unread in folder.unread[:5])
        raise NothingFoundError(f"{path} tells of no compilation" + (f": {why}" if why else ""))
    return documents


def _document(folder: ConfinedFolder, file: ConfinedFile, path: str) -> CompileTimeDocument | None:
    log, why = _Log(), ""
    try:
        for payload in payloads(folder, file, _WANTED):
            log.hear(payload)
    except FileFaultError as error:
        why = str(error)
        folder.fault(file.path, why)
    log.end()
    if not log.seconds:
        folder.fault(file.path, why or "there is no event of a compilation in it")
        return None
    faults = [why] if why else []
    if log.unfinished:
        faults.append(f"it ends while {counted(log.unfinished, 'event')} went on, which count up to there")
    if log.damaged:
        faults.append(f"{counted(log.damaged, 'event')} of it cannot be read")
    return _added_up(log, file, str(folder.root / file.path), "; ".join(faults))


def _added_up(log: _Log, file: ConfinedFile, path: str, problem: str) -> CompileTimeDocument:
    phases = [phase for phase in PHASES if any(known == phase for known, _ in log.seconds)]
    functions: dict[tuple[str, int, str] | None, dict[Phase, float]] = {}
    for (phase, compiled), seconds in log.seconds.items():
        row = functions.setdefault(log.function_of.get(compiled), {})
        row[phase] = row.get(phase, 0.0) + seconds
    order = sorted(functions, key=lambda function: -sum(functions[function].values()))
    slices = [
        (phases.index(phase), number, round(seconds, 6))
        for number, function in enumerate(order)
        for phase, seconds in sorted(functions[function].items(), key=lambda item: phases.index(item[0]))
    ]
    whole = sum(log.seconds.values())
    of = {phase: sum(row.get(phase, 0.0) for row in functions.values()) for phase in phases}
    return CompileTimeDocument(
        schema=1,
        target=file.name,
        path=path,
        compile_phases=[CompilePhase(part=at.part, phase=at.doing, seconds=round(of[at], 6)) for at in phases],
        seconds=round(whole, 6),
        start_up=0.0,
        placed=round(whole - sum(functions.get(None, {}).values()), 6),
        graphs=log.graphs,
        expressions=[
            _row(log.functions[function] if function is not None else None, functions[function]) for function in order
        ],
        modules=[],
        alike=[],
        slices=CompileSlices(
            phases=[row[0] for row in slices],
            modules=[-1 for _ in slices],
            expressions=[row[1] for row in slices],
            seconds=[row[2] for row in slices],
        ),
        problem=problem,
        operations=sum(function.operations for function in log.functions.values()),
        logged=True,
    )


def _row(function: _Compilations | None, spent: dict[Phase, float]) -> CompileExpression:
    parts: dict[str, float] = {}
    for phase, seconds in spent.items():
        parts[phase.part] = round(parts.get(phase.part, 0.0) + seconds, 6)
    times = f", compiled {function.times} times" if function is not None and function.times > 1 else ""
    start = Position(max(function.line - 1, 0), 0) if function is not None else Position(0, 0)
    return CompileExpression(
        path=function.path if function is not None else None,
        range=Range(start, start) if function is not None else None,
        text=f"{function.name}{times}" if function is not None else "",
        seconds=round(sum(spent.values()), 6),
        parts=parts,
        traced=0,
        nodes=function.operations if function is not None else 0,
        modules=0,
    )


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
