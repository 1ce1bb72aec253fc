"""The task `repro`: loads the file, finds the failure that is meant, and makes a script of it.

It ends with `Finished`, as every task does, and never raises for a fault of user code. Whether the script works
elsewhere is not decided here: the daemon runs it in a clean process (`engine.orders.proving`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from inductor_debug_schema import (
    Answered,
    ArtifactKind,
    ArtifactMade,
    Event,
    FileStatus,
    Finding,
    Finished,
    JobRequest,
    Location,
    Position,
    Progressed,
    Range,
    ReproDocument,
    ReproTask,
    Stage,
)

from inductor_debug.accelerators.guarded_adapter import profile_of
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.targets.building import BuildError
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.file_faults import raised_finding, syntax_fault
from inductor_debug.capture.targets.target_builder import Load, TargetBuilder, real_bound
from inductor_debug.repro.kinds.case import Case
from inductor_debug.repro.kinds.failure_kinds import reproducer
from inductor_debug.repro.kinds.selecting import WantedFinding
from inductor_debug.repro.script.reproducer import NotReproducibleError, Reproducer

Emit = Callable[[Event], None]


def perform(request: JobRequest, emit: Emit) -> None:
    """Makes a reproducer of what `request.task`, a `ReproTask`, describes.

    Emits `Loaded`, `Progressed`, the script as `ArtifactMade` whenever it has become smaller, and one `Answered`.
    """
    fault = syntax_fault(request.path, request.text)
    if fault is not None:
        emit(Finished(FileStatus.FAILED, [fault]))
        return
    # A forked child hangs where its parent has used a pool of threads: attempts are forked, so nobody has one.
    torch.set_num_threads(1)
    assert isinstance(request.task, ReproTask)
    _Reproduction(request, request.task, emit).run()


class _Reproduction:
    def __init__(self, request: JobRequest, task: ReproTask, emit: Emit) -> None:
        self._request, self._task, self._emit = request, task, emit
        self._started = time.perf_counter()
        self._sources = SourceMap(request.project_root, {request.path: request.text})
        self._builder = TargetBuilder(request, self._sources, real_bound(request.memory_limit))
        self._wanted = WantedFinding.of(task)
        self._others: list[Finding] = []
        self._fine: list[str] = []
        self._case = partial(
            Case,
            wanted=self._wanted,
            builder=self._builder,
            sources=self._sources,
            profile=profile_of(request.profile),
            request=request,
            task=task,
            progress=self._progress,
            keep=self._keep,
            findings=self._others,
            fine=self._fine,
        )

    def run(self) -> None:
        with self._builder.open():
            load = self._builder.load()
            candidates = load.discovered.candidates
            self._emit(self._builder.loaded(load))
            only = self._request.only
            self._answer([candidate for candidate in candidates if not only or candidate.name in only], load)
            status, findings = FileStatus.CLEAN if candidates else FileStatus.NO_TARGET, []
            if not candidates and load.error is not None:
                start = Location(self._request.path, Range(Position(0, 0), Position(0, 0)))
                findings = [raised_finding(load.error, "while the file was loaded", self._sources, start)]
                status = FileStatus.FAILED
            self._emit(Finished(status, findings, self._builder.dependencies()))

    def _answer(self, candidates: list[Candidate], load: Load) -> None:
        """Looks at the targets in turn; the first that has the failure is answered for."""
        why = ""
        for candidate in candidates:
            try:
                made = self._reproducer(candidate, load)
            except NotReproducibleError as error:
                if error.export:
                    self._emit(_artifact(candidate.name, "exported graph", ".pt2", "application/zip", error.export))
                why = why or str(error)
                continue
            if made is not None:
                self._keep(made, candidate.name)
                self._emit(Answered(candidate.name, self._document(made, made.why)))
                return
        if candidates:
            name = candidates[0].name
            self._emit(Answered(name, self._document(None, why or self._missing())))

    def _reproducer(self, candidate: Candidate, load: Load) -> Reproducer | None:
        self._progress(f"looking for the failure in {candidate.name}")
        try:
            target = self._builder.build(candidate, load)
        except BuildError as error:
            raise NotReproducibleError(f"{candidate.name} could not be built: {error}") from error
        return reproducer(self._case(target, candidate, load))

    def _missing(self) -> str:
        """What to say where no target has the failure."""
        if self._fine:
            return "; ".join(self._fine)
        said = f"there is no finding of {self._wanted.text} any more; it does not reproduce"
        others = sorted({finding.rule for finding in self._others})
        return f"{said} (there are findings of {', '.join(others)})" if others else said

    def _keep(self, made: Reproducer, target: str) -> None:
        for file, content in made.files.items():
            suffix = file[file.rindex(".") :]
            self._emit(_artifact(target, file.removesuffix(suffix), suffix, "application/octet-stream", content))
        self._emit(_artifact(target, "repro", ".py", "text/x-python", made.script.encode("utf-8", "replace")))

    def _progress(self, message: str, done: int = 0, total: int = 0) -> None:
        self._emit(Progressed(message, done, total))

    def _document(self, made: Reproducer | None, why: str) -> ReproDocument:
        """The contract's `repro` document, as far as a worker can tell: `script` is the text, nothing is verified."""
        document = ReproDocument.without_script(
            why,
            fingerprint=self._task.fingerprint,
            seconds=round(time.perf_counter() - self._started, 3),
        )
        if made is None:
            return document
        return replace(
            document,
            script=made.script,
            nodes_before=made.nodes_before,
            nodes_after=made.nodes_after,
            attempts=made.attempts,
            neighbour=made.neighbour,
        )


def _artifact(target: str, title: str, suffix: str, media_type: str, content: bytes) -> ArtifactMade:
    return ArtifactMade(ArtifactKind.REPROS, title, suffix, media_type, content, target, Stage.LOAD)
