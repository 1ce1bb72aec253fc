"""The second look at a target: a real `torch.compile` of it, whose backend records and runs the graphs it is given.

What Dynamo captures is what a compiler for the accelerator would get, so this stage says which parts it will never
get: graph breaks, functions that run eagerly, frames recompiled too often. It generates no code and builds nothing.
"""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any

import torch
from inductor_debug_schema import Finding, GraphDocument, GraphKind, Severity, Stage, StageReport, StageState
from torch.utils import _pytree as pytree

from inductor_debug.capture.dynamo_breaks import Compilations, listen, stack_of_summaries, suspended_while_compiling
from inductor_debug.capture.dynamo_positions import hooked_positions, last_stack
from inductor_debug.capture.failures import Fault, capture_error, classify, describe, frames_of_error, where
from inductor_debug.capture.graph_arguments import Argument, arguments_of_dynamo, by_placeholder
from inductor_debug.capture.graph_breaks import OBSERVED_EXCEPTION, BreakCollector, frames_of
from inductor_debug.capture.graph_runner import GraphRunner, NodeAttribution
from inductor_debug.capture.graph_tables import document_of, table_of
from inductor_debug.capture.modules import ModulePath, Snapshot
from inductor_debug.capture.origins import OriginTable
from inductor_debug.capture.quiet import quiet
from inductor_debug.capture.recorder import CompiledRecorder
from inductor_debug.capture.spans import SourceMap
from inductor_debug.capture.stages import StageOutcome
from inductor_debug.capture.target import BuiltTarget
from inductor_debug.capture.whole_graph import WholeTarget, arguments_of_whole
from inductor_debug.rules.ops import Frame

__all__ = ["StageOutcome", "run_mock"]

_NEEDS_VALUE_NOTE = "{}the code looks at a tensor's value, which a fake tensor does not have ({})"
_LIMITATION_NOTE = "{}fake tensors cannot imitate this operation, so the capture ends here ({})"


def run_mock(target: BuiltTarget, sources: SourceMap) -> StageOutcome:
    """Compiles and runs `target` once with a backend that records.

    Graph breaks become `graph-break` findings, and what Dynamo cannot trace at all a `capture-error`. When
    the code after a break asks fake tensors for a value, the outcome asks for `retry_real`.
    """
    started = time.perf_counter()
    run = _MockRun(target, sources)
    snapshot = Snapshot(target)
    error = run.execute()
    snapshot.restore()
    findings, notes, retry_real = run.explain(error)
    report = StageReport(
        stage=Stage.MOCK,
        state=StageState.DONE if error is None else StageState.FAILED,
        seconds=time.perf_counter() - started,
        graphs=run.graphs,
        ops=len(run.recorder.recording.ops),
        graph_breaks=run.breaks.count,
        notes=notes,
    )
    return StageOutcome(run.recorder.recording, report, findings, retry_real, graphs=run.document)


class _MockRun:
    """One compile-and-run of one target."""

    def __init__(self, target: BuiltTarget, sources: SourceMap) -> None:
        self.target = target
        self.sources = sources
        self.graphs = 0
        self._captured: list[tuple[torch.fx.GraphModule, list[Argument]]] = []
        self._compilations = Compilations()
        self.breaks = BreakCollector(target, sources, self._stack)
        self._origins = origins = OriginTable.of_target(target)
        self._module_names = ModulePath(target.module).names
        self._attribution = NodeAttribution(sources, self._module_names, self._stack)
        self.recorder = CompiledRecorder(self._attribution, origins)
        self._runner = GraphRunner(self.recorder, self._attribution, origins)

    def execute(self) -> BaseException | None:
        """Runs the target compiled; the exception it ended with, if any."""
        torch._dynamo.reset()
        args, kwargs = pytree.tree_map(lambda leaf: leaf, (self.target.args, self.target.kwargs))
        ambient = self.target.fake_mode or contextlib.nullcontext()
        listening = listen(self.breaks.add, self.breaks.add_limit)
        thrifty = torch._dynamo.config.patch(run_gc_after_compile=False)
        with quiet(), thrifty, hooked_positions(replacing=True), listening, ambient:
            compiled = torch.compile(self.target.function, backend=self._backend, dynamic=self.target.dynamic)
            try:
                # Functions that the user compiles with another backend get this one too: nothing is ever built.
                forced = torch.compiler.set_stance("default", force_backend=self._backend)
                with suspended_while_compiling(self.recorder) as compilations, forced, self.recorder:
                    self._compilations = compilations
                    self._run(compiled, args, kwargs)
            except (Exception, SystemExit) as raised:
                return _with_stack(raised)
        return None

    def _run(self, compiled: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        try:
            _call(compiled, args, kwargs)
        except WholeTarget as whole:
            self._runner.compiled(whole.graph_module, lambda _: ())(*whole.arguments)

    def _backend(self, graph_module: torch.fx.GraphModule, example_inputs: list[Any]) -> Any:
        self.graphs += 1
        self._captured.append((graph_module, arguments_of_dynamo(graph_module, self._origins)))
        if self._compilations.count == 1 and not self.breaks.count and not self._stack(sys._getframe(1)):
            # The first function that Dynamo saw, called by none of the user's: nothing comes after it.
            arguments = arguments_of_whole(graph_module)
            if arguments is not None:
                raise WholeTarget(graph_module, arguments)
        return self._runner.compiled(graph_module, self._callers)

    def _stack(self, frame: Any) -> tuple[Frame, ...]:
        return self.sources.stack(frame, _call.__code__)

    def _callers(self, frame: Any) -> tuple[Frame, ...]:
        """The user's frames above the function whose graph runs: those that Dynamo did not inline."""
        return self._stack(frame)[1:]

    def document(self) -> GraphDocument:
        """The captured graphs as tables."""
        return document_of(
            self.target,
            Stage.MOCK,
            [
                table_of(
                    graph_module,
                    name=str(number),
                    kind=GraphKind.FX,
                    sources=self.sources,
                    module_names=self._module_names,
                    arguments=by_placeholder(graph_module, arguments),
                )
                for number, (graph_module, arguments) in enumerate(self._captured)
            ],
        )

    def explain(self, error: BaseException | None) -> tuple[list[Finding], list[str], bool]:
        """Findings, notes and whether to try again on real tensors."""
        findings = list(self.breaks.findings)
        if error is None:
            if self.graphs == 0 and not findings and self.recorder.recording.ops:
                findings.append(self._nothing_captured())
            return findings, [], False
        # Where the target raises, the exception itself says more than that Dynamo saw it coming.
        findings = [finding for finding in findings if not finding.message.startswith(OBSERVED_EXCEPTION)]
        if _is_dynamos(error):
            return [*findings, self._explain_dynamo(error)], [], False
        frames = frames_of_error(error, self.sources)
        fault, message = classify(error, self.recorder.failed, fake=self.target.fake_mode is not None)
        place = where(frames)
        prefix = f"{place}: " if place else ""
        if fault is Fault.USER:
            return [*findings, capture_error(message, frames, self.target, Stage.MOCK)], [], False
        if fault is Fault.NEEDS_VALUE:
            return findings, [_NEEDS_VALUE_NOTE.format(prefix, message)], True
        return findings, [_LIMITATION_NOTE.format(prefix, message)], True

    def _explain_dynamo(self, error: BaseException) -> Finding:
        frames = frames_of(getattr(error, _STACK, ()), self.sources)
        cause: BaseException | None = error
        while cause is not None and _is_dynamos(cause):
            cause = cause.__cause__ or cause.__context__
        message = f"torch.compile cannot capture this: {describe(cause or error)}"
        return capture_error(message, frames, self.target, Stage.MOCK)

    def _nothing_captured(self) -> Finding:
        place = self.target.location
        return Finding(
            rule="graph-break",
            severity=Severity.WARNING,
            message="torch.compile captured no graph: the whole target runs eagerly.",
            path=place.path,
            range=place.range,
            stage=Stage.MOCK,
            target=self.target.name,
        )


_STACK = "_inductor_debug_error_stack"


def _call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The outermost frame of every recorded stack: frames from here outwards are ours."""
    function(*args, **kwargs)


def _is_dynamos(error: BaseException) -> bool:
    return type(error).__module__.startswith("torch._dynamo")


def _with_stack(error: BaseException) -> BaseException:
    """Notes on an exception of Dynamo's what was being traced, before the hook forgets it."""
    if _is_dynamos(error):
        stack = getattr(error, "_inductor_debug_stack", None) or last_stack()
        setattr(error, _STACK, stack or stack_of_summaries(getattr(error, "real_stack", None)))
    return error
