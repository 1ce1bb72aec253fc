"""The commands about what runs and compilations cost: `memory`, `roofline`, `compileTime`, and `suggest` to save some.

The first three are for charts. Documents of charts may be larger than a message: answers name files.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from inductor_debug_schema import (
    ArtifactKind,
    ArtifactMade,
    ChartAnswer,
    CompileTimeDocument,
    Location,
    StageState,
    SuggestAnswer,
    SuggestionsDocument,
    to_wire,
)
from inductor_debug_schema.answers.memory_document import MemoryDocument
from inductor_debug_schema.answers.roofline_document import RooflineDocument
from inductor_debug_schema.commands.command_requests import PageRequest, TargetRequest

from inductor_debug.accelerators.profile import read_profile
from inductor_debug.engine.orders.charting import COSTS, MEMORY, costs_of, memories_of
from inductor_debug.engine.orders.compiling import COMPILE_TIMES
from inductor_debug.engine.orders.orders import Order, Performed
from inductor_debug.engine.orders.suggesting import suggest_order
from inductor_debug.engine.settings.settings import ConfigurationError
from inductor_debug.engine.text.source_files import texts_as_ran
from inductor_debug.report.html.suggestions_page import suggestions_page
from inductor_debug.report.roofs import ceilings_of, roofline_of
from inductor_debug.server.commands.calls import Call
from inductor_debug.server.commands.order_pages import with_page
from inductor_debug.server.commands.ordering import extended, file_of, outcome, perform
from inductor_debug.server.rpc.protocol import RequestError

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
    return _charted(call, performed, "memory", memories_of(performed, text_of))


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
        return ChartAnswer(
            uri=call.request.uri, status="done", reason=why, notes=[], artifacts=[], lacks_accelerator=True
        )
    performed = await _performed(call, COSTS, "Counting what the model costs")
    documents = [roofline_of(cost, profile) for cost in costs_of(performed.artifacts)]
    return _charted(call, performed, "roofline", documents)


async def compile_time(call: Call[TargetRequest]) -> ChartAnswer:
    """Tells where compiling the targets goes; from then on lenses above them say so in short."""
    performed = await _performed(call, COMPILE_TIMES, "Compiling")
    call.server.compile_times.take(call.request.uri, performed)
    documents = performed.documents(CompileTimeDocument)
    answer = _charted(call, performed, "compile-time", [document for document in documents if document.seconds])
    problem = next((document.problem for document in documents if document.problem), None)
    return answer if problem is None else replace(answer, reason=problem)


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


async def _performed(call: Call[TargetRequest], order: Order, title: str) -> Performed:
    return await perform(call, replace(order, target=call.request.target), title=title)


def _charted(
    call: Call[TargetRequest],
    performed: Performed,
    title: str,
    documents: Sequence[MemoryDocument] | Sequence[RooflineDocument] | Sequence[CompileTimeDocument],
) -> ChartAnswer:
    """The answer that names a file for each document, and says why there is none, or not all of the run in it."""
    known = outcome(call.request.uri, performed)
    made = [
        ArtifactMade(ArtifactKind.STATISTICS, title, ".json", "application/json", _json(document))
        for document in documents
    ]
    kept = call.server.engine.keep(performed.report.path, made)
    stages = [stage for target in performed.report.targets for stage in target.stages]
    notes = [*kept.notes, *(note for stage in stages for note in stage.notes)]
    reason, place = None, None
    if not documents or any(stage.state is StageState.FAILED for stage in stages):
        worst = min(performed.report.findings, key=lambda finding: finding.severity.rank, default=None)
        reason = worst.message if worst is not None else known.reason
        place = Location(worst.path, worst.range) if worst is not None else None
    elif not kept.references:
        reason = next(iter(kept.notes), _NOT_KEPT)
    return extended(ChartAnswer, known, artifacts=kept.references, notes=notes, reason=reason, place=place)


def _json(document: MemoryDocument | RooflineDocument | CompileTimeDocument) -> bytes:
    return json.dumps(to_wire(document), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
