"""One job from beginning to end: load the file, build its targets, run the stages, judge, and tell as it goes.

`analyze` runs in a process of its own that ends with it, so it cleans up only what a later step would trip over. It
never raises for a fault of user code: those become findings. Previews of all targets come before any slower stage.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import torch
from inductor_debug_schema import (
    INFERRED_ORIGIN,
    Event,
    FileStatus,
    Finding,
    Finished,
    JobRequest,
    Loaded,
    Location,
    Position,
    Range,
    Shortfall,
    Stage,
    StageFinished,
    StageReport,
    StageStarted,
    StageState,
    TargetFound,
    UntakenSeen,
)

from inductor_debug.accelerators.guarded_adapter import adapter_of, profile_of
from inductor_debug.capture.annotations.shape_judging import shape_findings
from inductor_debug.capture.annotations.shape_watch import ShapeSeen, ShapeWatch
from inductor_debug.capture.beside_findings import BesideFindings, StageSight
from inductor_debug.capture.dynamo.dynamo_positions import KEY
from inductor_debug.capture.expressions.host_tensors import made_on_host
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.guards.compiled_anew import compiled_anew, compiled_inside, thrown_away
from inductor_debug.capture.guards.guard_stage import with_guards
from inductor_debug.capture.guards.instances import too_many_instances
from inductor_debug.capture.inference.finding_filter import (
    basis_of,
    fault,
    has_free_sizes,
    otherwise,
    refusal,
    remarked,
    with_fixed_sizes,
    without_gradients,
)
from inductor_debug.capture.inference.inference import inference_of, symbols_of
from inductor_debug.capture.running.stage_results import StageOutcome
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.containment import stay_offline
from inductor_debug.capture.runtime.interception import CompiledCall
from inductor_debug.capture.runtime.loading import preloadable
from inductor_debug.capture.runtime.seeding import seed_host
from inductor_debug.capture.runtime.torch_logs import ask_for, kept_log
from inductor_debug.capture.sizes.larger_sizes import with_larger_sizes
from inductor_debug.capture.sizes.sizing import Sizing, sizing_of
from inductor_debug.capture.stage_runners import asks_for_numbers, runner_for, worth_having
from inductor_debug.capture.stages.aot_lowering import decomposing
from inductor_debug.capture.stages.native_run import not_followed, runs_natively, without_errors
from inductor_debug.capture.stages.preview import mixed_dtypes_retold, run_preview
from inductor_debug.capture.target_progress import TargetProgress, file_status, stages_of
from inductor_debug.capture.targets.building import BuildError
from inductor_debug.capture.targets.file_faults import (
    adapter_findings,
    definition_finding,
    raised_finding,
    syntax_fault,
    torch_finding,
)
from inductor_debug.capture.targets.load_findings import findings_of_attributes, findings_of_load
from inductor_debug.capture.targets.target_builder import Load, TargetBuilder, real_bound
from inductor_debug.capture.tensors.rounded_products import products_rounded_in
from inductor_debug.capture.tensors.symbol_names import naming_symbols
from inductor_debug.capture.untaken.elsewhere import classes_elsewhere
from inductor_debug.capture.untaken.untaken import RunsOfFile
from inductor_debug.rules.captures.capture_judging import CapturedRun, findings_of, merged, told_by
from inductor_debug.rules.judge import judge_with_causes
from inductor_debug.rules.recording.ops import Recording
from inductor_debug.system.torch_names import TorchDiffersError, told_apart

Emit = Callable[[Event], None]


def analyze(request: JobRequest, emit: Emit) -> None:
    """Analyses one file, and emits events as `inductor_debug_schema.jobs` says.

    A file that does not parse emits `Finished` alone.

    Raises:
        ProfileError: the request's profile is not one; the engine validates it beforehand.
    """
    stay_offline()
    ask_for(request.torch_logs)
    fault = syntax_fault(request.path, request.text)
    if fault is not None:
        emit(Finished(FileStatus.FAILED, [fault]))
        return
    try:
        with told_apart():
            _Session(request, emit).run()
    except TorchDiffersError as differs:
        emit(Finished(FileStatus.FAILED, [torch_finding(differs, request.path)]))


class _Session:
    def __init__(self, request: JobRequest, emit: Emit) -> None:
        self._request, self._emit = request, emit
        self._profile = profile_of(request.profile)
        self._sources = SourceMap(request.project_root, {request.path: request.text})
        self._builder = TargetBuilder(request, self._sources, real_bound(request.memory_limit))
        self._beside = BesideFindings(request, self._profile, self._sources, emit)
        self._saw = StageSight()
        self._findings: list[Finding] = []
        self._told_devices: set[str] = set()
        self._told: dict[str, set[tuple[str, str, Range]]] = {}
        self._entered = RunsOfFile(request.path)
        self._rounded = products_rounded_in(request.text)
        self._inside: dict[str, list[CompiledCall]] = {}

    def run(self) -> None:
        adapter = adapter_of(self._profile)
        with self._builder.open(), decomposing(adapter.decompositions() if adapter is not None else {}):
            load = self._load()
            only, without = self._request.only, self._request.without
            running = [
                TargetProgress(candidate, candidate.name in without)
                for candidate in load.discovered.candidates
                if not only or candidate.name in only
            ]
            for stage in stages_of(self._request.stages, running):
                for item in running:
                    if not item.left_out and (stage in self._request.stages or item.candidate.exported is not None):
                        self._run_stage(stage, item, load)
                        item.let_go(self._builder)
                    if item is running[-1] and stage is self._request.stages[0]:
                        self._take_parts(running, load)
                if stage is self._request.stages[0]:
                    self._reconsider(running)
                if stage is Stage.PREVIEW:
                    self._findings += self._wrongly_stated(running, load)
                    if not only:  # what each target left out that none of them ran
                        for name, blocks in self._entered.untaken(self._sources).items():
                            self._emit(UntakenSeen(name, blocks))
            if Stage.MOCK in self._request.stages:
                built = [item.target for item in running if item.target is not None and not item.is_let_go]
                self._findings += too_many_instances(built, self._builder.traced)
                self._findings += compiled_anew(load.interceptor.offered, built, self._builder.traced)
                self._findings += thrown_away(load.interceptor.resets)
                for name, calls in self._inside.items():
                    self._findings += compiled_inside(calls, name, self._sources)
            self._findings += findings_of_attributes(load, self._request, self._sources, self._told)
            if self._request.seek_sizes:
                self._seek_sizes(running)
            self._findings += adapter_findings(self._profile, self._request)
            loaded = load.error is None and not (load.absent and not running)
            status = file_status(running, loaded=loaded, has_findings=bool(self._findings))
            self._emit(Finished(status, self._findings, self._builder.dependencies()))

    def _reconsider(self, running: list[TargetProgress]) -> None:
        """Tells again, with what it would run with, of what fails with the inputs that it last ran with."""
        for item in running:
            if item.blamed and item.capture and item.target and self._builder.reconsider(item.target):
                told, capture = item.reconsidered(self._profile)
                self._emit(told)
                if self._request.keep_captures:
                    self._emit(capture.on_wire())

    def _wrongly_stated(self, running: list[TargetProgress], load: Load) -> list[Finding]:
        """What the source states of shapes and no target bears out; of no stage, for another target may."""
        watch = ShapeWatch(self._sources)
        if not watch.states_shapes([self._request.path, *self._builder.dependencies()]):
            return []
        seen: list[ShapeSeen] = []
        for item in running:
            target = item.ready(self._builder, load) if item.analysed else None
            if target is not None:
                seed_host()
                seen += watch.seen_in(target, self._around(Stage.PREVIEW, target))
                item.let_go(self._builder)
        return shape_findings(seen)

    def _load(self) -> Load:
        started = time.perf_counter()
        load = self._builder.load()
        self._findings += findings_of_load(load, self._request, self._sources)
        found = self._found(load, [candidate.found for candidate in load.discovered.candidates])
        notes = [*load.notes, *load.discovered.notes, *self._new_device_notes()]
        dependencies = self._builder.dependencies()
        seconds = time.perf_counter() - started
        modules = [*preloadable(load.modules), *worth_having(self._request.stages, self._profile)]
        self._emit(Loaded(found, dependencies, modules, seconds, notes))
        for item in load.not_reached:
            line = max(load.left_at or 1, 1) - 1
            at = Location(self._request.path, Range(Position(line, 0), Position(line, 0)))
            report = StageReport(
                self._request.stages[0], StageState.SKIPPED, 0.0, shortfall=Shortfall.NOT_REACHED, at=at
            )
            self._emit(StageFinished(item.name, report, []))
        return load

    def _found(self, load: Load, found: list[TargetFound]) -> list[TargetFound]:
        """What the file offers, with what it would have offered."""
        names = {target.name for target in found}
        load.not_reached = [item for item in load.not_reached if item.name not in names]
        return found + [TargetFound(item.name, item.line, INFERRED_ORIGIN) for item in load.not_reached]

    def _run_stage(self, stage: Stage, item: TargetProgress, load: Load) -> None:
        before = item.told
        try:
            with told_apart():
                self._run(stage, item, load)
        except TorchDiffersError as differs:
            if item.told is before:
                self._skip(item, stage, f"{differs}.", Shortfall.TORCH)
            else:  # what comes beside the stage is what is missing
                self._emit(item.remarked(f"{differs}."))

    def _run(self, stage: Stage, item: TargetProgress, load: Load) -> None:
        started = time.perf_counter()
        self._emit(StageStarted(item.candidate.name, stage, item.symbols_may_slow))
        runner = runner_for(stage, self._profile, self._request)
        if stage is self._request.stages[0]:
            try:
                inferred = inference_of(item.built(self._builder.build(item.candidate, load)))
            except BuildError as error:
                self._not_built(stage, item, error, time.perf_counter() - started)
                return
            item.blamed = inferred is not None and inferred.blame is not None
            self._set_sizes(item)
        target = item.restored(self._builder)
        if runner is None or target is None:
            why = f"There is no {stage.value} stage." if runner is None else "The target could not be built."
            short = Shortfall.NO_INPUTS if item.refused is not None else Shortfall.NOT_BUILT
            self._skip(item, stage, item.refused.reason if item.refused is not None else why, short)
            return
        self._saw = saw = StageSight()
        seed_host()
        with kept_log(self._request.torch_logs, without=KEY) as log:
            outcome = self._observe(stage, runner, item, load)
            if stage is Stage.MOCK:
                looked_at, of_stage = item.valued or item.target or target, len(outcome.findings)
                outcome = with_guards(outcome, looked_at, self._sources, self._request, self._builder.traced)
                if fresh := outcome.findings[of_stage:]:
                    saw.runs[-1] = replace(saw.runs[-1], beside=[*saw.runs[-1].beside, *fresh])
        elsewhere = classes_elsewhere(saw.recordings, self._request.path) if stage is Stage.PREVIEW else []
        cost = self._beside.cost(outcome)
        seconds = time.perf_counter() - started
        report = replace(outcome.report, seconds=seconds, elsewhere=elsewhere, cost=cost, log=log.text)
        self._finish(item, report, outcome.findings)
        if stage is Stage.PREVIEW:
            item.previewed(outcome.raising)
        # Only after the findings: those are waited for.
        inferred = inference_of(target)
        hint = inferred.hint() if inferred is not None else None
        if hint is not None and stage is self._request.stages[0]:
            self._emit(hint)
        self._beside.tell(item, stage, outcome, saw)

    def _set_sizes(self, item: TargetProgress) -> None:
        """Gives a target the sizes that the user has set for it."""
        assert item.target is not None
        if named := {size.name: size.value for size in self._request.sizes if size.target in ("", item.candidate.name)}:
            item.sizing = self._sizing(item.target)
            item.target = item.sizing.resized(item.target, named)
            self._emit(item.sizing.seen(item.candidate.name, item.target.given))
        elif self._request.larger_sizes:
            around = partial(self._around, Stage.PREVIEW)
            item.target, item.sizing = with_larger_sizes(item.target, self._sources, around)
        elif has_free_sizes(item.target) and asks_for_numbers(self._request, item.candidate.name):
            item.target = with_fixed_sizes(item.target)

    def _seek_sizes(self, running: list[TargetProgress]) -> None:
        """Tells which sizes are free. Last of all: that takes another run of each target."""
        for item in running:
            wanted = item.sizing is None and item.analysed and not item.blamed
            target = item.restored(self._builder) if wanted else None
            if target is not None:
                self._emit(self._sizing(target).seen(item.candidate.name, {}))
                item.let_go(self._builder)

    def _sizing(self, target: BuiltTarget) -> Sizing:
        @contextlib.contextmanager
        def around() -> Iterator[None]:
            seed_host()
            with self._builder.eagerly(), torch.set_grad_enabled(target.gradients):
                yield

        return sizing_of(target, self._sources, around)

    def _not_built(self, stage: Stage, item: TargetProgress, error: BuildError, seconds: float) -> None:
        """Tells why there is no target: user code raised, or its inputs could not be inferred."""
        cause, name = error.cause, item.candidate.name
        blamed = fault(cause) if item.candidate.inference is not None else None
        if blamed is None and item.candidate.inference is not None:
            item.refused = refusal(cause)
            self._skip(item, stage, item.refused.reason, Shortfall.NO_INPUTS)
            if (kept := item.candidate.inference.refusal(cause)) is not None:
                self._emit(kept)
            return
        item.blamed = blamed is not None
        if blamed is not None and blamed.line is not None:
            finding = definition_finding(f"{blamed.reason}.", self._request, blamed.line, name)
        else:
            raised = (blamed.__cause__ if blamed is not None else None) or cause
            finding = raised_finding(raised, f"in {error.what}", self._sources, error.location, name)
        self._finish(item, StageReport(stage, StageState.FAILED, seconds), [finding])

    def _skip(self, item: TargetProgress, stage: Stage, why: str, shortfall: Shortfall) -> None:
        self._finish(item, StageReport(stage, StageState.SKIPPED, 0.0, notes=[why], shortfall=shortfall), [])

    def _take_parts(self, running: list[TargetProgress], load: Load) -> None:
        """Classes that are parts of others and ran in none are targets of their own.

        Those of a class that did not run are, and those that a class has and did not use.
        """
        known = {item.candidate.key for item in running}
        parts = [
            part
            for item in running
            if item.has_no_run or self._entered.ran_whole(item.candidate.name)
            for part in load.discovered.reserve.get(item.candidate.name, ())
            if part.key not in known
            and (item.has_no_run or not self._entered.may_have_entered(getattr(load.module, part.name)))
        ]
        if parts:
            parts = list({part.key: part for part in parts}.values())
            running += [TargetProgress(part, part.name in self._request.without) for part in parts]
            found = self._found(load, [item.candidate.found for item in running])
            self._emit(Loaded(found, self._builder.dependencies(), preloadable(load.modules), 0.0))

    def _observe(
        self, stage: Stage, runner: Callable[..., StageOutcome], item: TargetProgress, load: Load
    ) -> StageOutcome:
        """Runs a stage, a second time with real tensors where fake ones could not go on, and judges what it saw."""
        # An exported program holds for all values, so there is nothing to take from them.
        target = item.target if stage is Stage.EXPORT else item.ready(self._builder, load)
        assert target is not None
        outcome, findings = self._judged(stage, runner, target)
        if has_free_sizes(target) and outcome.report.state is StageState.FAILED:
            # Perhaps only the symbols were too much for the code.
            item.target = target = item.as_given(with_fixed_sizes(target))
            self._saw.runs.clear()
            outcome, findings = self._judged(stage, runner, target)
        if item.valued is None and not outcome.retry_real and outcome.report.state is StageState.FAILED:
            item.target, outcome, findings = self._without_gradients(stage, runner, target) or (
                target,
                outcome,
                findings,
            )
            target = item.target
        by_chance = target.inference is not None and not target.given
        if stage is Stage.PREVIEW and by_chance and outcome.report.state is StageState.DONE:
            beside = self._remarks(target)
            self._saw.runs[-1] = replace(self._saw.runs[-1], beside=beside)
            findings = [*findings, *beside]
        if stage is Stage.PREVIEW and not target.given:
            # Of no stage: that a later one gets through with the first set says nothing of the others.
            self._findings = merged(self._findings, self._with_other_inputs(target))
        notes = [*target.notes, *outcome.report.notes]
        if outcome.retry_real and target.fake_mode is not None:
            valued = self._builder.with_values(item.candidate, load, target)
            if isinstance(valued, str):
                notes.append(valued)
                if self._builder.too_large(target):
                    outcome.report = replace(outcome.report, shortfall=Shortfall.MEMORY)
            else:
                item.valued = valued = item.as_given(valued)
                again, more = self._judged(stage, runner, valued)
                outcome, findings = again, merged(more, findings)
                notes += [*valued.notes, *again.report.notes]
        if outcome.unsure and self._runs_natively(stage, item, load):
            outcome, findings = not_followed(outcome), without_errors(findings)
            self._saw.runs[-1] = replace(self._saw.runs[-1], found=outcome.findings)
        report = replace(outcome.report, notes=list(dict.fromkeys(notes + self._new_device_notes())))
        return replace(outcome, report=report, findings=findings)

    def _without_gradients(
        self, stage: Stage, runner: Callable[..., StageOutcome], target: BuiltTarget
    ) -> tuple[BuiltTarget, StageOutcome, list[Finding]] | None:
        """What becomes of a target that only gradients keep from running, where nobody says that there are any."""
        other = without_gradients(target)
        if other is None:
            return None
        runs, causes = list(self._saw.runs), self._saw.causes
        outcome, findings = self._judged(stage, runner, other)
        if outcome.report.state is StageState.DONE:
            self._saw.runs = self._saw.runs[-1:]
            return other, outcome, findings
        self._saw.runs, self._saw.causes = runs, causes
        return None

    def _runs_natively(self, stage: Stage, item: TargetProgress, load: Load) -> bool:
        """Whether torch.compile itself gets through where a stage failed, and an eager run did not.

        Where that cannot be asked, what only inferred inputs show is not held against the code.
        """
        target = item.valued or item.target
        assert target is not None
        if item.told is not None and item.told.report.state is not StageState.DONE:
            return False
        real = target if target.fake_mode is None else self._builder.rebuild_real(item.candidate, load, target)
        if isinstance(real, str):
            return target.inference is not None
        with self._around(stage, real):
            return runs_natively(item.as_given(real), stage)

    def _remarks(self, target: BuiltTarget) -> list[Finding]:
        """What the target raises for other calls than the one that it runs with."""
        inference = inference_of(target)
        assert inference is not None
        found = []
        for remark in inference.remarks():
            with self._builder.eagerly():
                outcome = run_preview(otherwise(target, remark), self._sources)
            found += [remarked(each, target, remark) for each in outcome.findings if each.rule == "capture-error"][:1]
        return found

    def _with_other_inputs(self, target: BuiltTarget) -> list[Finding]:
        """What is to be said of the target with each set of inputs after the first, and with sizes left as given.

        Where sizes are dynamic, rules keep to what holds for all of them; the example's own are run with as well.
        """
        others = [(f"with set {number} of the inputs", other) for number, other in enumerate(target.alone()[1:], 2)]
        if target.dynamic:
            others.insert(0, ("with the sizes of the example", replace(target, dynamic=False)))
        found = []
        for words, other in others:
            found += self._judged(Stage.PREVIEW, run_preview, other, aside=words)[1]
        return found

    def _judged(
        self, stage: Stage, runner: Callable[..., StageOutcome], target: BuiltTarget, aside: str = ""
    ) -> tuple[StageOutcome, list[Finding]]:
        try:
            with self._around(stage, target):
                outcome = runner(target, self._sources)
        except BaseException as error:
            outcome = self._interrupted(stage, target, error)
        if stage is Stage.PREVIEW:
            self._entered.add(target, outcome.ran, whole=outcome.report.state is StageState.DONE)
            self._inside[target.name] = self._builder.compiled_inside
        self._saw.recordings.append(outcome.recording)
        self._saw.unfinished |= outcome.unfinished
        outcome.recording.tf32 |= self._rounded
        outcome.recording.on_host = made_on_host(outcome.recording, self._sources)
        told = judge_with_causes(
            outcome.recording, self._profile, stage=stage, target=target.name, fallback=target.location
        )
        self._saw.causes = {
            (one.finding.rule, Location(one.finding.path, one.finding.range)): one.causes for one in told
        }
        of_rules = [one.finding for one in told]
        basis = basis_of(target, outcome.recording) if target.inference is not None else None
        retold: list[Finding] = []
        if stage is Stage.PREVIEW and any(finding.rule == "mixed-dtypes" for finding in of_rules):
            # After the basis was read: another run forgets which symbols became numbers in this one.
            with self._around(stage, target):
                retold = mixed_dtypes_retold(of_rules, target, self._sources)
        run = CapturedRun(outcome.recording, outcome.findings, retold, basis=basis, aside=aside)
        (self._saw.others if aside else self._saw.runs).append(run)
        return outcome, findings_of(run, of_rules, self._told.get(target.name, ()))

    @contextlib.contextmanager
    def _around(self, stage: Stage, target: BuiltTarget) -> Iterator[None]:
        """What a run of the target in a stage needs around it."""
        around = self._builder.eagerly() if stage is Stage.PREVIEW else self._builder.traced()
        recording = torch.set_grad_enabled(target.gradients)
        with around, target.as_called(), recording, naming_symbols(symbols_of(target)):
            yield

    def _interrupted(self, stage: Stage, target: BuiltTarget, error: BaseException) -> StageOutcome:
        """What user code raised past a stage, such as a `KeyboardInterrupt`. Errors of our own go on."""
        frames = self._sources.frames_of_traceback(error.__traceback__)
        if not frames or not frames[0].in_project:
            raise error
        finding = raised_finding(error, f"while {target.name} ran", self._sources, target.location, target.name)
        report = StageReport(stage, StageState.FAILED, 0.0)
        return StageOutcome(Recording(), report, [replace(finding, stage=stage)], retry_real=False)

    def _finish(self, item: TargetProgress, report: StageReport, findings: list[Finding]) -> None:
        told = self._told.setdefault(item.candidate.name, set())
        told.update(told_by(findings := item.without_repeated(findings, told)))
        self._emit(item.finish(report, findings))

    def _new_device_notes(self) -> list[str]:
        fresh = [note for note in self._builder.devices.notes if note not in self._told_devices]
        self._told_devices.update(fresh)
        return fresh
