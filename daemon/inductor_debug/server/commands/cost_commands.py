"""The commands about what runs and compilations cost: charts of one or of a recording, and `suggest` to save some.

The first three are for charts. Documents of charts may be larger than a message: answers name files.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar, Union

from inductor_debug_schema import (
    ArtifactKind,
    ArtifactMade,
    ChartAnswer,
    ChartKind,
    CompileTimeDocument,
    Location,
    OrderOutcome,
    RunProfileDocument,
    StageState,
    SuggestAnswer,
    SuggestionsDocument,
    to_wire,
)
from inductor_debug_schema.answers.memory_document import MemoryDocument
from inductor_debug_schema.answers.roofline_document import RooflineDocument
from inductor_debug_schema.commands.command_requests import (
    CompileTimeRequest,
    FileRequest,
    PageRequest,
    ProfileRequest,
    TargetRequest,
)

from inductor_debug.accelerators.profile import read_profile
from inductor_debug.artifacts.errors import ArtifactError
from inductor_debug.engine.live_tensors.memory_snapshot import is_snapshot, read_snapshot
from inductor_debug.engine.orders.charting import COSTS, MEMORY, costs_of, memories_of
from inductor_debug.engine.orders.compiling import COMPILE_TIMES, COMPILE_WAYS
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.orders.profiling import BACKENDS, profile_order
from inductor_debug.engine.orders.recorded_traces import profile_of_trace
from inductor_debug.engine.orders.suggesting import suggest_order
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.engine.text.source_files import texts_as_ran
from inductor_debug.report.html.suggestions_page import suggestions_page
from inductor_debug.report.roofs import ceilings_of, roofline_of
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.order_pages import with_page
from inductor_debug.server.commands.ordering import Bar, extended, file_of, outcome, perform
from inductor_debug.server.rpc.protocol import RequestError
from inductor_debug.traces.chrome_trace import TraceError

Asked = TypeVar("Asked", bound=FileRequest)
Requested = TypeVar("Requested", bound=TargetRequest)
_Chart = Union[MemoryDocument, RooflineDocument, RunProfileDocument, CompileTimeDocument]

_NO_ACCELERATOR = (
    "A roofline is that of an accelerator, and none is chosen. Choose the one that the model is for, such as h100 or "
    "rtx-4090: it need not be there."
)
_NO_SPEED = (
    "Nobody says how fast {} is, so there is no roof. Choose another accelerator, such as h100, or write its `speed` "
    "into its profile."
)
_NOT_KEPT = "The answer is a file, and this project keeps none: `artifacts` is off."


async def memory(call: Call[TargetRequest]) -> ChartAnswer:
    """Tells what is alive while each operation of the targets runs."""
    performed = await _performed(call, MEMORY, "Running the model")
    text_of = texts_as_ran(performed.report.path, performed.text)
    return _charted(call, performed, ChartKind.MEMORY, memories_of(performed, text_of))


async def roofline(call: Call[TargetRequest]) -> ChartAnswer:
    """Tells what each expression of the targets costs at least, and the roofs of the accelerator."""
    path = file_of(call.request.uri)
    try:
        settings = call.server.configuration.settings_for(path)
    except ConfigurationError as error:
        raise RequestError(str(error)) from error
    name = settings.chosen_accelerator
    profile = read_profile(settings.profile) if name else None
    if profile is None or not ceilings_of(profile):
        why = _NO_SPEED.format(profile.title or name) if profile is not None else _NO_ACCELERATOR
        known = _nothing(call.request.uri, why)
        return extended(ChartAnswer, known, kind=ChartKind.ROOFLINE, lacks_accelerator=True)
    performed = await _performed(call, COSTS, "Counting what the model costs")
    documents = [roofline_of(cost, profile) for cost in costs_of(performed.artifacts)]
    return _charted(call, performed, ChartKind.ROOFLINE, documents)


async def profile(call: Call[ProfileRequest]) -> ChartAnswer:
    """Runs steps of the targets under the profiler, or reads a trace of them, and tells what each expression took."""
    request = call.request
    trace = file_of(request.trace) if request.trace is not None else ""
    order = profile_order([request.backend] if request.backend else BACKENDS, trace=trace, training=request.training)
    performed = await _performed(call, order, "Profiling the model")
    documents = performed.documents(RunProfileDocument)
    measured = [document for document in documents if not document.problem]
    return _with_problem(_charted(call, performed, ChartKind.PROFILE, measured), documents)


async def recording(call: Call[FileRequest]) -> ChartAnswer:
    """Reads what another run has recorded: a memory snapshot of torch's, or a trace of its profiler; runs nothing."""
    path, uri = file_of(call.request.uri), call.request.uri
    kind = ChartKind.MEMORY if is_snapshot(path) else ChartKind.PROFILE
    bar = Bar(call, f"Reading {os.path.basename(path)}")
    try:
        if kind is ChartKind.MEMORY:
            documents: Sequence[_Chart] = await asyncio.to_thread(read_snapshot, path, texts_as_ran(path, ""))
        else:
            documents = [await asyncio.to_thread(profile_of_trace, path)]
        return _answered(call, path, _nothing(uri, None), kind, documents)
    except (ArtifactError, TraceError) as error:
        return extended(ChartAnswer, _nothing(uri, str(error)), kind=kind)
    finally:
        bar.end()


async def compile_time(call: Call[CompileTimeRequest]) -> ChartAnswer:
    """Tells where compiling the targets goes; from then on lenses above them say so in short."""
    performed = await _performed(call, COMPILE_WAYS if call.request.ways else COMPILE_TIMES, "Compiling")
    call.server.compile_times.take(call.request.uri, performed)
    documents = performed.documents(CompileTimeDocument)
    told = [document for document in documents if document.seconds]
    return _with_problem(_charted(call, performed, ChartKind.COMPILE_TIME, told), documents)


async def suggest(call: Call[PageRequest]) -> SuggestAnswer:
    """Tries what may help; answers with the document of each target, and with a page where the request asks for one."""
    request = call.request
    performed = await perform(call, replace(suggest_order(), target=request.target), title="Trying suggestions")
    documents = performed.documents(SuggestionsDocument)
    answer = extended(SuggestAnswer, outcome(request.uri, performed), suggestions=documents)
    if not request.format or not documents:
        return answer
    page = partial(suggestions_page, documents)
    return with_page(call.server, answer, performed.report.path, performed.text, page)


async def _performed(call: Call[Requested], order: Order, title: str) -> Performed:
    return await perform(call, replace(order, target=call.request.target), title=title)


def _nothing(uri: str, why: str | None) -> OrderOutcome:
    return OrderOutcome(uri=uri, status="done", reason=why, notes=[], artifacts=[])


def _charted(call: Call[Requested], performed: Performed, kind: ChartKind, documents: Sequence[_Chart]) -> ChartAnswer:
    """The answer that names a file for each document, and says why there is none, or not all of the run in it."""
    answer = _answered(call, performed.report.path, outcome(call.request.uri, performed), kind, documents)
    stages = [stage for target in performed.report.targets for stage in target.stages]
    notes = [*answer.notes, *(note for stage in stages for note in stage.notes)]
    if documents and not any(stage.state is StageState.FAILED for stage in stages):
        return replace(answer, notes=notes)
    worst = min(performed.report.findings, key=lambda finding: finding.severity.rank, default=None)
    if worst is None:
        return replace(answer, notes=notes)
    return replace(answer, notes=notes, reason=worst.message, place=Location(worst.path, worst.range))


def _with_problem(
    answer: ChartAnswer, documents: Sequence[RunProfileDocument] | Sequence[CompileTimeDocument]
) -> ChartAnswer:
    """The answer with what the first document that has a problem says of it."""
    problem = next((document.problem for document in documents if document.problem), None)
    return answer if problem is None else replace(answer, reason=problem)


def _answered(
    call: Call[Asked], path: str, known: OrderOutcome, kind: ChartKind, documents: Sequence[_Chart]
) -> ChartAnswer:
    """The answer that names a file for each document, or says why they could not be kept."""
    made = [
        ArtifactMade(ArtifactKind.STATISTICS, kind.value, ".json", "application/json", _json(document))
        for document in documents
    ]
    try:
        kept = call.server.engine.keep(path, made)
    except ConfigurationError as error:
        raise RequestError(str(error)) from error
    reason = known.reason if not documents or kept.references else next(iter(kept.notes), _NOT_KEPT)
    return extended(ChartAnswer, known, kind=kind, artifacts=kept.references, notes=kept.notes, reason=reason)


def _json(document: _Chart) -> bytes:
    return json.dumps(to_wire(document), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
