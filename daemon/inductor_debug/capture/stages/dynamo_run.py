"""One `torch.compile` of one target, shared by every stage that looks at what Dynamo captures.

It compiles and runs the target once with a backend that hands each graph to a `GraphHandler`, and afterwards says what
stopped Dynamo: graph breaks, functions that run eagerly, exceptions. It generates no code and builds nothing.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import CodeType
from typing import Any, Protocol

import torch
from inductor_debug_schema import (
    BreakCause,
    Finding,
    GraphBreak,
    Location,
    NoGraph,
    Severity,
    Stage,
    StageReport,
    StageState,
)
from torch.fx import GraphModule
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError
from torch.utils import _pytree as pytree

from inductor_debug.capture.dynamo.asked_sizes import asked_sizes
from inductor_debug.capture.dynamo.breaks.callees import Callee, forbidden_call
from inductor_debug.capture.dynamo.dynamo_breaks import (
    Compilations,
    RawBreak,
    RawLimit,
    break_of_error,
    compiled_function,
    listen,
    stack_of_error,
    stack_of_summaries,
    suspended_while_compiling,
)
from inductor_debug.capture.dynamo.dynamo_positions import hooked_positions, last_stack, stack_of_translator
from inductor_debug.capture.dynamo.graph_borders import GraphBorders
from inductor_debug.capture.dynamo.graph_breaks import BreakCollector, frames_of
from inductor_debug.capture.dynamo.passed_raises import PassedRaise
from inductor_debug.capture.dynamo.repeats.repeated_calls import RepeatedCalls, RepeatedError
from inductor_debug.capture.dynamo.side_effects import changes_what_was_there
from inductor_debug.capture.dynamo.specialisations import Specialised, specialisations
from inductor_debug.capture.dynamo.uncaptured import kept_from
from inductor_debug.capture.dynamo.whole_graph import WholeTarget, arguments_of_whole
from inductor_debug.capture.expressions.instruction_expressions import SourcePositions
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failures import (
    Fault,
    capture_error,
    classify,
    describe,
    fell_short,
    frames_of_error,
    innermost,
    is_of_fake_tensors_alone,
    places_of,
    with_refusal,
)
from inductor_debug.capture.graphs.graph_arguments import GraphArgument, arguments_of_dynamo
from inductor_debug.capture.graphs.graph_runner import NodeAttribution
from inductor_debug.capture.inference.finding_filter import has_free_sizes
from inductor_debug.capture.inference.inference import symbols_of
from inductor_debug.capture.running.modules import ModulePath
from inductor_debug.capture.running.origins import OriginTable
from inductor_debug.capture.running.stage_results import StageEnding, StageOutcome
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.audit import DeedRefusedError
from inductor_debug.capture.runtime.iterators import own_iterator
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.capture.stages.preview import times_until_raised
from inductor_debug.capture.tensors.recorder import CompiledRecorder
from inductor_debug.capture.tensors.written_nowhere import WrittenNowhere
from inductor_debug.rules.recording.ops import Frame
from inductor_debug.rules.words.break_words import sentence_of
from inductor_debug.system.torch_names import refuse, with_settings

Callers = Callable[[Any], tuple[Frame, ...]]
Call = tuple[tuple[Any, ...], dict[str, Any]]
"""Positional and keyword arguments."""
_STACK = "_inductor_debug_error_stack"
_BEHIND = "What torch.compile meets behind the expression that raises is not told: no run comes there."
_UNSUPPORTED = "Unsupported"
"""The class of `torch._dynamo.exc` for what breaks a graph."""


class GraphHandler(Protocol):
    """What a stage does with the graphs."""

    def compiled(self, graph_module: GraphModule, callers: Callers) -> Callable[..., tuple[Any, ...]]:
        """The compiled form of `graph_module`; `callers` reads the user's frames above a call of it."""

    def whole(self, graph_module: GraphModule, arguments: list[torch.Tensor]) -> None:
        """Looks at a graph that is all of the target, instead of `compiled`; nobody waits for its results."""


class DynamoRun:
    """One compile-and-run of one target, and what is learned from it.

    `captured` holds each graph with what its inputs are to the model, `call` counts the calls from 0. `leaves_changes`
    says that a call leaves Python objects changed that were there before.
    """

    def __init__(self, target: BuiltTarget, sources: SourceMap, stage: Stage) -> None:
        self.target = target
        self.sources = sources
        self.stage = stage
        self.captured: list[tuple[GraphModule, list[GraphArgument]]] = []
        self.breaks = BreakCollector(target, sources, self._stack, stage)
        self.origins = OriginTable.of_target(target)
        self.module_names = ModulePath(target.module).names
        self.attribution = NodeAttribution(sources, self.module_names, self._stack)
        self.recorder = CompiledRecorder(self.attribution, self.origins)
        self.borders = GraphBorders(self.recorder.recording.ops, self.recorder.nodes, _call.__code__)
        self.call = 0
        self.leaves_changes = False
        times = times_until_raised(target.raising, target, sources) if target.raising is not None else 0
        self._passed = PassedRaise(target.raising, times)
        self._repeated: RepeatedCalls | None = None
        self._compilations = Compilations()
        self._specialised: list[Specialised] = []

    def execute(
        self,
        runner: GraphHandler,
        more: Sequence[Call] = (),
        *,
        leave_early: bool = True,
        under: Callable[[int], contextlib.AbstractContextManager[Any]] = lambda _: contextlib.nullcontext(),
    ) -> BaseException | None:
        """Runs the target compiled; the exception it ended with, if any.

        Args:
            runner: what is done with the graphs.
            more: arguments of further calls, after the one with the target's own.
            leave_early: Dynamo may be left as soon as a graph is known to be the whole target.
            under: what surrounds each call, by its number from 0.
        """
        target = self.target
        # Guards are wanting where calls were copied, so what is compiled may be called once.
        repeats = leave_early and not more and not target.dynamic and target.function is target.module
        if repeats and target.module is not None:
            with contextlib.suppress(RepeatedError):
                return self._execute(runner, more, leave_early, under, RepeatedCalls(target.module))
        return self._execute(runner, more, leave_early, under, None)

    def _execute(
        self,
        runner: GraphHandler,
        more: Sequence[Call],
        leave_early: bool,
        under: Callable[[int], contextlib.AbstractContextManager[Any]],
        repeated: RepeatedCalls | None,
    ) -> BaseException | None:
        torch._dynamo.reset()
        calls = pytree.tree_map(own_iterator, [(self.target.args, self.target.kwargs), *more])
        ambient = self.target.fake_mode or contextlib.nullcontext()
        listening = listen(self._on_break, self._on_limit)
        # Files that have errors suppressed are told what is suppressed.
        thrifty = with_settings(torch._dynamo.config, run_gc_after_compile=False, suppress_errors=False)
        # Whether code took a size for a number that was marked as dynamic is asked once all graphs are there.
        marked = any(map(_is_marked, pytree.tree_leaves(calls)))
        self._repeated = repeated = None if marked else repeated
        backend = self._backend_of(runner, leave_early and not marked)
        numbers = specialisations(self._specialised.append) if marked else contextlib.nullcontext()
        repeating = repeated.watching() if repeated is not None else contextlib.nullcontext()
        silence = quiet(freeze=self.target.fake_mode is not None)
        invented = symbols_of(self.target).values() - self.target.given.keys() if has_free_sizes(self.target) else ()
        watching = self._passed.watching(), asked_sizes(invented)
        hooks = hooked_positions(replacing=True), listening, numbers, repeating, *watching
        with silence as held, thrifty, contextlib.ExitStack() as entered, ambient:
            for hook in hooks:
                entered.enter_context(hook)
            try:
                compiled = torch.compile(self.target.function, backend=backend, dynamic=self.target.dynamic)
                # Functions that the user compiles with another backend get this one too: nothing is ever built.
                forced = torch.compiler.set_stance("default", force_backend=backend)
                with suspended_while_compiling(self.recorder) as compilations, forced, self.recorder:
                    self._compilations = compilations
                    try:
                        for self.call, (args, kwargs) in enumerate(calls):
                            with under(self.call), self._written_nowhere():
                                _call(compiled, args, kwargs)
                        self._trace_all()
                    except WholeTarget as whole:
                        self._repeated = None
                        runner.whole(whole.graph_module, whole.arguments)
            except (Exception, SystemExit) as raised:
                refuse(raised)
                held.freeze = False
                self._trace_all()
                return _with_stack(raised)
        return None

    def _trace_all(self) -> None:
        """What comes now takes a trace of all modules, also of those that are alike."""
        if self._repeated is not None:
            self._repeated.give_up()

    def _on_break(self, raw: RawBreak) -> None:
        self._trace_all()
        finding = None if self._passed.is_behind else self.breaks.add(raw)
        self._passed.breaks_off(gives_up=raw.gives_up)
        self.borders.breaks(raw.function, finding, self._compilations.count, gives_up=raw.gives_up)

    def _on_limit(self, raw: RawLimit) -> None:
        self._trace_all()
        finding = None if self._passed.is_behind else self.breaks.add_limit(raw, in_one_call=not self.call)
        self.borders.breaks(raw.compiled, finding, self._compilations.count, gives_up=True)

    @contextlib.contextmanager
    def _written_nowhere(self) -> Iterator[None]:
        """Passes over what is written between what Dynamo compiles.

        Guards rely on the functions that write, so they are what they are until something has been compiled. A further
        call for which nothing was compiled tells nothing new where it ends for that.
        """
        with WrittenNowhere() as nowhere, suspended_while_compiling(nowhere):
            nowhere.suspend()
            try:
                yield
            except DeedRefusedError:
                if not self.call:
                    raise

    def _backend_of(self, runner: GraphHandler, leave_early: bool) -> Callable[..., Any]:
        def backend(graph_module: GraphModule, example_inputs: list[Any]) -> Any:
            first = self._compilations.count == 1 and not self.breaks.count
            arguments = None
            if leave_early and first and not self._stack(sys._getframe(1)):
                # The first function that Dynamo saw, called by none of the user's: nothing comes after it.
                arguments = arguments_of_whole(graph_module)
            if arguments is None:
                self._trace_all()
            self.captured.append((graph_module, arguments_of_dynamo(graph_module, self.origins)))
            self.leaves_changes = self.leaves_changes or changes_what_was_there()
            if arguments is not None:
                raise WholeTarget(graph_module, arguments)
            self.borders.compiled(graph_module, compiled_function(), self._compilations.count)
            return runner.compiled(graph_module, partial(self._entered, graph_module))

        return backend

    def _stack(self, frame: Any) -> tuple[Frame, ...]:
        return self.sources.stack(frame, _call.__code__)

    def _entered(self, graph_module: GraphModule, frame: Any) -> tuple[Frame, ...]:
        """The user's frames above the function whose graph begins to run: those that Dynamo did not inline."""
        self.borders.enter(graph_module, frame)
        return self._stack(frame)[1:]

    def outcome(self, error: BaseException | None, more_notes: Sequence[str] = ()) -> StageOutcome:
        """What a stage hands back that recorded the whole run; `error` is what `execute` returned."""
        ending = self.explain(error)
        recording = self.recorder.recording
        recording.parts, recording.borders = self.borders.parts(self.breaks.findings)
        report = StageReport(
            stage=self.stage,
            state=StageState.DONE if error is None else StageState.FAILED,
            seconds=0.0,
            graphs=len(self.captured),
            ops=len(recording.ops),
            graph_breaks=self.breaks.count,
            notes=[*ending.notes, *more_notes],
            shortfall=ending.shortfall,
            at=ending.at,
        )
        unfinished = frozenset() if error is None else places_of(frames_of_error(error, self.sources))
        return StageOutcome(
            recording,
            report,
            ending.findings,
            ending.retry_real,
            unfinished=unfinished,
            unsure=ending.unsure,
        )

    def explain(self, error: BaseException | None) -> StageEnding:
        """What `error`, which `execute` returned, and the graph breaks before it mean to the user."""
        findings = list(self.breaks.findings)
        if error is None:
            kept = kept_from(self.target.function) if not self.captured else None
            if not self.captured and self.recorder.recording.ops and (kept is not None or not findings):
                # Where torch is kept from the target, what it stumbles over on the way is no other news.
                findings = [self._nothing_captured(kept)]
            return StageEnding(findings)
        # Where the target raises, the exception itself says more than that Dynamo saw it coming.
        findings = [finding for finding in findings if not _is_exception(finding.facts)]
        if self._passed.is_behind:
            return StageEnding(findings, [_BEHIND])
        if isinstance(error, ConstraintViolationError) and (told := self._against_a_mark(error)) is not None:
            return StageEnding([*findings, told])
        if (forbidden := forbidden_call(cause_of(error))) is not None:
            return StageEnding([*findings, self._forbidden(*forbidden)])
        if _is_dynamos(error):
            if type(error).__name__ == _UNSUPPORTED and (refused := break_of_error(error)) is not None:
                # Else it would have gone on: nobody but `error_on_graph_break(True)` lets it out.
                self.breaks.add(refused, toggled=not self.target.fullgraph)
                return StageEnding(list(self.breaks.findings))
            cause = cause_of(error)
            if self.target.fake_mode is not None and is_of_fake_tensors_alone(cause):
                # Dynamo takes the model's real tensors; these took sizes on that real ones do not have.
                frames = frames_of(getattr(error, _STACK, ()), self.sources)
                return fell_short(Fault.LIMITATION, describe(cause), frames, findings)
            return StageEnding([*findings, self._explain_dynamo(error)], unsure=True)
        # What fake tensors raise while Dynamo traces, or its graph runs, comes without a frame of the user's.
        frames = frames_of_error(error, self.sources) or frames_of(getattr(error, _STACK, ()), self.sources)
        if not frames and self.recorder.failed is not None and self.recorder.failed.error is error:
            frames = self.recorder.failed.frames
        fault, message = classify(error, self.recorder.failed, fake=self.target.fake_mode is not None)
        if fault is Fault.USER:
            told = with_refusal(capture_error(message, frames, self.target, self.stage), error)
            raised_at = Location(told.path, told.range)
            others = [
                each for each in findings if not self.sources.may_be_one(Location(each.path, each.range), raised_at)
            ]
            return StageEnding([*others, told], unsure=True)
        return fell_short(fault, message, frames, findings)

    def _explain_dynamo(self, error: BaseException) -> Finding:
        frames = frames_of(getattr(error, _STACK, ()), self.sources)
        message = f"torch.compile cannot capture this: {describe(cause_of(error))}"
        return capture_error(message, frames, self.target, self.stage)

    def _forbidden(self, callee: Callee, translator: Any) -> Finding:
        """A call that compiled code may not make, as those that say how tensors are to be compiled."""
        frames = frames_of(stack_of_translator(translator), self.sources)
        name = callee.name.rpartition(".")[2]
        message = (
            f"`{name}` says how torch.compile is to compile what follows, and is not for the code that it compiles: "
            f"compiling fails here. Call it before the compiled code is called."
        )
        return capture_error(message, frames, self.target, self.stage)

    def _against_a_mark(self, error: ConstraintViolationError) -> Finding | None:
        """The expression that took for a number what was marked as dynamic; None where it is not known."""
        said = str(error)
        found = next((each for each in self._specialised if each.source and each.source in said), None)
        frames = frames_of(found.stack, self.sources) if found is not None else ()
        index = innermost(frames)
        if found is None or index is None:
            return None
        message = (
            f"`{self.sources.excerpt(frames[index].location)}` needs a size as a number ({found.value}) that is marked "
            "with `torch._dynamo.mark_dynamic`, so compiling fails here. `torch._dynamo.maybe_mark_dynamic` lets "
            "torch.compile make a graph for each such size."
        )
        return capture_error(message, frames, self.target, self.stage)

    def _nothing_captured(self, kept: tuple[NoGraph, str, CodeType | None] | None) -> Finding:
        place = self.target.location
        by, name, marked = kept or (None, "", None)
        if marked is not None:
            positions = SourcePositions(marked.co_firstlineno, None, None, None)
            frame = self.sources.frame_from_positions(marked.co_filename, name, positions)
            place = frame.location if frame is not None else place
        facts = GraphBreak(BreakCause.NO_GRAPH, "", function=name, eager=self.target.name, kept_by=by)
        return Finding(
            rule="graph-break",
            severity=Severity.WARNING,
            message=sentence_of(facts),
            path=place.path,
            range=place.range,
            stage=self.stage,
            target=self.target.name,
            facts=facts,
        )


def _is_marked(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and bool(getattr(leaf, "_dynamo_dynamic_indices", ()))


def _call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The outermost frame of every recorded stack: frames from here outwards are ours."""
    function(*args, **kwargs)


def _is_exception(facts: object) -> bool:
    """Whether a break only says that the traced code raises."""
    return isinstance(facts, GraphBreak) and facts.breaks_by is BreakCause.EXCEPTION


def _is_dynamos(error: BaseException) -> bool:
    return type(error).__module__.startswith("torch._dynamo")


def cause_of(error: BaseException) -> BaseException:
    """What was raised first, where that is none of Dynamo's own; else the error."""
    cause: BaseException | None = error
    while cause is not None and _is_dynamos(cause):
        cause = cause.__cause__ or cause.__context__
    return cause or error


def _with_stack(error: BaseException) -> BaseException:
    """Notes on an exception of Dynamo's, or met while tracing, what was being traced, before the hook forgets it."""
    if _is_dynamos(error) or hasattr(error, "real_stack"):
        stack = stack_of_error(error) or last_stack()
        setattr(error, _STACK, stack or stack_of_summaries(getattr(error, "real_stack", None)))
    return error
