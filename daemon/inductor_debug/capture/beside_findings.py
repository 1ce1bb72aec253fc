"""What a stage tells beside its findings: expressions, costs, captures, timelines, graphs and statistics.

Findings are waited for, so all of this comes after them, but for the cost of a run, which stands in the stage's report.
Nothing here runs or judges a target.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from inductor_debug_schema import (
    Event,
    ExpressionsSeen,
    GraphDocument,
    JobRequest,
    Location,
    RunCost,
    Stage,
    StageState,
    TensorsSeen,
)

from inductor_debug.accelerators.profile import Profile, chosen_name
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.graphs.graph_artifacts import artifacts_of, columns_of
from inductor_debug.capture.graphs.graph_statistics import cost_artifact, statistics_artifact
from inductor_debug.capture.inference.finding_filter import counted_with
from inductor_debug.capture.inference.inference import symbols_of
from inductor_debug.capture.liveness.code import Codes
from inductor_debug.capture.liveness.timeline import timeline_of
from inductor_debug.capture.node_facts.record import OpFacts
from inductor_debug.capture.running.stage_results import MeasuredStage, StageOutcome
from inductor_debug.capture.target_progress import TargetProgress
from inductor_debug.capture.tensors.symbol_names import naming_symbols
from inductor_debug.rules.captures.capture_judging import Capture, CapturedRun
from inductor_debug.rules.captures.substitution import exemplified
from inductor_debug.rules.costing.kernel_bounds import bounded_kernels
from inductor_debug.rules.costing.run_costs import RunCosts
from inductor_debug.rules.expressions.expression_facts import ExpressionReader
from inductor_debug.rules.recording.ops import Recording
from inductor_debug.rules.recording.statistics import statistics_of

_DIGEST_LENGTH = 16


@dataclass
class StageSight:
    """What a stage saw of a target: of the run that is judged, and of `others` with other inputs.

    `causes` are, by rule and place of a finding, the ops that introduce what it tells of; `unfinished` the places of
    the expressions that an exception went through.
    """

    recordings: list[Recording] = field(default_factory=list)
    unfinished: set[Location] = field(default_factory=set)
    runs: list[CapturedRun] = field(default_factory=list)
    others: list[CapturedRun] = field(default_factory=list)
    causes: dict[tuple[str, Location], frozenset[int]] = field(default_factory=dict)


class BesideFindings:
    """Tells it for one job."""

    def __init__(
        self, request: JobRequest, profile: Profile, sources: SourceMap, emit: Callable[[Event], None]
    ) -> None:
        self._request, self._profile, self._emit = request, profile, emit
        self._accelerator = chosen_name(request.profile) or ""
        self._costs = RunCosts(profile)
        self._expressions = ExpressionReader(profile, sources, self._costs)
        self._sources = sources
        self._codes = Codes(sources.text)

    def cost(self, outcome: StageOutcome) -> RunCost | None:
        """What a run costs that came to its end; None where nobody knows how fast the accelerator is."""
        return self._costs.total(outcome.recording) if outcome.report.state is StageState.DONE else None

    def tell(self, item: TargetProgress, stage: Stage, outcome: StageOutcome, saw: StageSight) -> None:
        """Tells what the job was asked for."""
        name, target = item.candidate.name, item.valued or item.target
        assert target is not None
        # Functionalised and with a backward, what AOTAutograd makes says less of an expression than earlier stages do.
        seen = self._expressions.facts(saw.recordings, saw.unfinished) if stage is not Stage.AOT else []
        if seen:
            self._emit(ExpressionsSeen(name, stage, seen))
        if self._request.keep_captures or item.blamed:
            item.capture = Capture(name, stage, target.location, list(saw.runs), list(saw.others))
        if self._request.keep_captures and item.capture is not None:
            self._emit(item.capture.on_wire())
        if self._request.trace_tensors:
            timeline = timeline_of(saw.recordings[-1], self._codes, self._profile)
            if timeline is not None:
                inputs = counted_with(target) if self._request.larger_sizes else ""
                self._emit(TensorsSeen(name, replace(timeline, inputs=inputs)))
        for extra in [*outcome.extras, *(outcome.kept if self._request.keep_graphs else [])]:
            self._emit(extra)
        document = None
        shown = self._request.keep_graphs or self._request.show_graphs
        # Kernels are counted with the nodes that they are made of, also where nobody wants to see these.
        if outcome.graphs is not None and (shown or (stage is Stage.INDUCTOR and self._request.keep_costs)):
            with naming_symbols(symbols_of(target)):
                document = outcome.document(OpFacts(saw.causes, self._costs.seconds), self._profile)
        if document is not None and shown:
            self._keep(document)
        if self._request.keep_costs or (document is not None and self._request.keep_graphs):
            self._measure(item, stage, outcome, document)

    def _keep(self, document: GraphDocument) -> None:
        digest = hashlib.sha256(self._request.text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
        known = replace(document, path=self._request.path, digest=digest, accelerator=self._accelerator)
        made = artifacts_of(known) if self._request.keep_graphs else [columns_of(known)]
        for artifact in made:
            self._emit(artifact)

    def _measure(
        self, item: TargetProgress, stage: Stage, outcome: StageOutcome, document: GraphDocument | None
    ) -> None:
        name, target = item.candidate.name, item.valued or item.target
        assert target is not None
        inputs = counted_with(target)
        measured = outcome.measured() if outcome.measured is not None else MeasuredStage(outcome.recording)
        recording, path = exemplified(measured.recording), self._request.path
        if recording.ops and self._request.keep_costs:
            costs = self._costs.document(recording, name, stage, path, self._sources.excerpt)
            self._emit(cost_artifact(replace(costs, inputs=inputs)))
        if recording.ops and document is not None:
            kernels = measured.kernels and bounded_kernels(measured.kernels, document, self._profile)
            statistics = statistics_of(recording, target=name, stage=stage, path=path, kernels=kernels)
            title = self._profile.title if self._accelerator else ""
            self._emit(statistics_artifact(replace(statistics, title=title, inputs=inputs)))
