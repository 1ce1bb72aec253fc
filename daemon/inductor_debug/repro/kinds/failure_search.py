"""Looks for the failure that is meant in one target, and hands it to whatever reduces its kind.

Cheap looks come first: one eager run on fake tensors, then Dynamo's graphs.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
import torch._dynamo
from inductor_debug_schema import Finding, JobRequest, ReproTask, Stage

from inductor_debug.accelerators.profile import Profile, ProfileError, built_in_names, load_document, read_profile
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failures import Fault, capture_error, classify, frames_of_error
from inductor_debug.capture.guards.guard_stage import with_guards
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.stages.aot import run_aot
from inductor_debug.capture.stages.mock import run_mock
from inductor_debug.capture.targets.building import BuildError
from inductor_debug.capture.targets.candidates import Candidate
from inductor_debug.capture.targets.target_builder import Load, TargetBuilder
from inductor_debug.repro.backend.backend_script import BackendScript
from inductor_debug.repro.backend.backends_of_file import function_in, named_in_script
from inductor_debug.repro.backend.emulated_checks import Numbers
from inductor_debug.repro.backend.emulated_script import EmulatedScript
from inductor_debug.repro.kinds.constraint_script import constraint_script
from inductor_debug.repro.kinds.observing import observe
from inductor_debug.repro.kinds.python_script import break_script, eager_script, raise_script, recompile_script
from inductor_debug.repro.kinds.raising_script import raised_by_operation, raising_script
from inductor_debug.repro.kinds.selecting import WantedFinding
from inductor_debug.repro.program.constraint_cuts import findings_of
from inductor_debug.repro.program.literals import UnprintableError
from inductor_debug.repro.program.safetensors import UnsavableError
from inductor_debug.repro.program.value_names import file_name
from inductor_debug.repro.script.reproducer import NotReproducibleError, Reproducer
from inductor_debug.repro.script.writing import Header
from inductor_debug.rules.recording.ops import Recording
from inductor_debug.rules.registry import constraints

PYTHON = {"graph-break": break_script, "recompile": recompile_script, "eager-fallback": eager_script}
"""Rules about what Python does between operations, and what makes a script of a finding."""

_COMPILERS = {Stage.AOT: "aot_eager", Stage.INDUCTOR: "inductor"}
"""What compiles in the stages that come after the capture."""
_OF_GUARDS = ("recompile", "eager-fallback")
"""Rules about which nothing is known until somebody looks at guards."""

Progress = Callable[..., None]
Keep = Callable[[Reproducer, str], None]


class Search:
    """One job's search. `progress` and `keep` tell how far it is, and the best script so far."""

    def __init__(
        self,
        builder: TargetBuilder,
        sources: SourceMap,
        profile: Profile,
        request: JobRequest,
        task: ReproTask,
        progress: Progress,
        keep: Keep,
    ) -> None:
        self._builder, self._sources, self._profile = builder, sources, profile
        self._request, self._task = request, task
        self._progress, self._keep = progress, keep
        self._constraints = {rule.id for rule in constraints()}
        self._seen: list[Finding] = []
        self._fine: list[str] = []

    def reproducer(self, candidate: Candidate, load: Load, wanted: WantedFinding) -> Reproducer | None:
        """The reproducer for the failure in this target; None where the target does not have it.

        Raises:
            NotReproducibleError: it has it, and there is no script for it.
        """
        self._progress(f"looking for the failure in {candidate.name}")
        try:
            target = self._builder.build(candidate, load)
        except BuildError as error:
            raise NotReproducibleError(f"{candidate.name} could not be built: {error}") from error
        if self._task.backend:
            return self._backend(target, candidate, load, self._task.backend)
        if wanted.rule == "numerics":
            raise NotReproducibleError("which backend computes something else? Name it: --backend NAME")
        for made in self._with_each_set(target, candidate, load, wanted):
            if made is not None:
                return made
        if wanted.rule == "capture-error":
            return self._raised_by_compiler(target, candidate, load, wanted)
        if not wanted.rule or wanted.rule in PYTHON:
            made = self._python(target, candidate, load, wanted)
            if made is not None or wanted.rule:
                return made
        return self._raised_for_real(target, candidate, load, wanted)

    def _with_each_set(
        self, target: BuiltTarget, candidate: Candidate, load: Load, wanted: WantedFinding
    ) -> Iterator[Reproducer | None]:
        """What is tried with one set of inputs at a time: an operation that is refused, an exception."""
        for alone in target.alone():
            if not wanted.rule or wanted.rule in self._constraints:
                yield self._constraint(alone, candidate, load, wanted)
            if not wanted.rule or wanted.rule == "capture-error":
                yield self._raised(alone, wanted)

    def missing(self, wanted: WantedFinding) -> str:
        """What to say where no target has the failure."""
        if self._fine:
            return "; ".join(self._fine)
        said = f"there is no finding of {wanted.text} any more; it does not reproduce"
        others = sorted({finding.rule for finding in self._seen})
        return f"{said} (there are findings of {', '.join(others)})" if others else said

    def _constraint(
        self, target: BuiltTarget, candidate: Candidate, load: Load, wanted: WantedFinding
    ) -> Reproducer | None:
        with self._builder.eagerly():
            seen = observe(target, self._sources)
        made = self._of_recording(seen.recording, Stage.PREVIEW, target, wanted)
        if made is not None:
            return made
        with self._builder.traced():
            outcome = run_mock(target, self._sources)
        made = self._of_recording(outcome.recording, Stage.MOCK, target, wanted)
        if made is None and seen.error is None:
            # Backward passes are seen by this stage alone.
            with self._builder.traced():
                backward = run_aot(target, self._sources)
            made = self._of_recording(backward.recording, Stage.AOT, target, wanted)
        if made is not None or target.fake_mode is None or not (outcome.retry_real or seen.error is not None):
            return made
        real = self._builder.rebuild_real(candidate, load, target)
        if isinstance(real, str):
            return None
        with self._builder.eagerly():
            again = observe(real, self._sources)
        return self._of_recording(again.recording, Stage.PREVIEW, real, wanted)

    def _raised(self, target: BuiltTarget, wanted: WantedFinding) -> Reproducer | None:
        """An exception that the target raises when it runs."""
        with self._builder.eagerly():
            seen = observe(target, self._sources)
        if seen.error is None:
            return None
        fault, message = classify(seen.error, seen.failed, fake=target.fake_mode is not None)
        if fault is not Fault.USER:
            return None
        finding = capture_error(message, frames_of_error(seen.error, self._sources), target, Stage.PREVIEW)
        self._seen.append(finding)
        if not wanted.fits(finding):
            return None
        header = self._header(finding, target)
        place = header.place.rsplit(":", 1)[0].rsplit("/", 1)[-1]
        name = file_name(finding.path, finding.rule)
        try:
            if raised_by_operation(seen):
                return raising_script(seen, header, name, place=place)
            return raise_script(target, self._sources, seen.error, finding, header, name, self._builder.eagerly)
        except (UnprintableError, UnsavableError) as error:
            raise NotReproducibleError(f"the operation cannot be written as code: {error}") from error

    def _raised_for_real(
        self, target: BuiltTarget, candidate: Candidate, load: Load, wanted: WantedFinding
    ) -> Reproducer | None:
        """An exception that depends on values: an index that is out of range. No analysis sees it, so it comes last."""
        if wanted.given or target.fake_mode is None:
            return None
        real = self._builder.rebuild_real(candidate, load, target)
        if isinstance(real, str):
            return None
        return next(filter(None, (self._raised(alone, wanted) for alone in real.alone())), None)

    def _raised_by_compiler(
        self, target: BuiltTarget, candidate: Candidate, load: Load, wanted: WantedFinding
    ) -> Reproducer | None:
        """An exception that the target does not raise itself: a later stage's compiler does."""
        for stage, backend in _COMPILERS.items():
            if wanted.stage in ("", stage.value):
                made = self._backend(target, candidate, load, backend)
                if made is not None:
                    return made
        return None

    def _python(
        self, target: BuiltTarget, candidate: Candidate, load: Load, wanted: WantedFinding
    ) -> Reproducer | None:
        """What Dynamo cannot capture, or compiles again."""
        with self._builder.traced():
            outcome = run_mock(target, self._sources)
        if outcome.retry_real and target.fake_mode is not None:
            real = self._builder.rebuild_real(candidate, load, target)
            if not isinstance(real, str):
                target = real
                with self._builder.traced():
                    outcome = run_mock(target, self._sources)
        request = self._request
        if wanted.rule in _OF_GUARDS:
            request = dataclasses.replace(request, keep_guards=True)
        outcome = with_guards(outcome, target, self._sources, request, self._builder.traced)
        found = [finding for finding in outcome.findings if finding.rule in PYTHON]
        self._seen += found
        finding = wanted.choose(found)
        if finding is None:
            return None
        make = PYTHON[finding.rule]
        try:
            header, name = self._header(finding, target), file_name(finding.path, finding.rule)
            return make(target, self._sources, finding, header, name, self._builder.eagerly)
        except UnprintableError as error:
            raise NotReproducibleError(f"what the code sees cannot be written down: {error}") from error

    def _of_recording(
        self, recording: Recording, stage: Stage, target: BuiltTarget, wanted: WantedFinding
    ) -> Reproducer | None:
        found = findings_of(recording, self._profile, stage=stage, target=target.name, fallback=target.location)
        self._seen += found
        finding = wanted.choose(found)
        if finding is None:
            return None
        header = self._header(finding, target)
        name = file_name(finding.path, finding.rule)
        try:
            return constraint_script(recording, self._profile, finding, target.location, header, name)
        except UnprintableError as error:
            raise NotReproducibleError(f"the operation cannot be written as code: {error}") from error

    def _backend(self, target: BuiltTarget, candidate: Candidate, load: Load, backend: str) -> Reproducer | None:
        """What a backend does wrong to the target, with real values."""
        own = function_in(load, backend)
        known = own is not None or backend in torch._dynamo.list_backends(exclude_tags=None)
        numbers = None if known else self._numbers(backend)
        real = target if target.fake_mode is None else self._builder.rebuild_real(candidate, load, target)
        if isinstance(real, str):
            raise NotReproducibleError(real)
        where = real.location
        shown = f"{os.path.basename(where.path)}:{where.range.start.line + 1}"
        remembered = Path(self._task.memo) if self._task.memo else None
        header = Header("", shown, "", real.name)
        if numbers is None:
            named = named_in_script(backend, own, load, self._sources)
            script = BackendScript(real, named, remembered, self._progress, self._keep, own)
            made = script.run(header, file_name(where.path, backend))
            fine = f"backend {backend} does nothing wrong to {real.name}"
        else:
            script = EmulatedScript(real, numbers, remembered, self._progress, self._keep)
            made = script.run(header, file_name(where.path, numbers.accelerator))
            fine = (
                f"the arithmetic of {numbers.accelerator}, emulated, is no worse on {real.name} than the "
                f"{numbers.compute.mantissa_bits} mantissa bits of {numbers.compute.name} explain"
            )
            fine += f"; a script would not show {numbers.unseen}" if numbers.unseen else ""
        if made is None:
            self._fine.append(fine)
        return made

    def _numbers(self, accelerator: str) -> Numbers:
        """The numbers that an accelerator without a compiler computes with, as its profile says.

        Raises:
            NotReproducibleError: there is no such accelerator, or nothing is known of its numbers.
        """
        profile = self._profile
        if accelerator != profile.name:
            if accelerator not in built_in_names() and not accelerator.endswith(".toml"):
                raise NotReproducibleError(
                    f"there is no backend {accelerator!r}; there are those of torch._dynamo.list_backends(), and "
                    f"accelerators: {', '.join(built_in_names())}, or the path of a profile"
                )
            try:
                profile = read_profile(load_document(accelerator))
            except ProfileError as error:
                raise NotReproducibleError(str(error)) from error
        numbers = Numbers.of(profile)
        if numbers is None:
            raise NotReproducibleError(
                f"the profile {profile.name!r} does not say with which numbers the accelerator computes, "
                "so its arithmetic cannot be emulated"
            )
        return numbers

    def _header(self, finding: Finding, target: BuiltTarget) -> Header:
        start = finding.range.start
        shown = os.path.relpath(finding.path, self._request.project_root).replace(os.sep, "/")
        if shown.startswith(".."):
            shown = os.path.basename(finding.path)
        text = self._sources.text(finding.path)
        line = text.lines[start.line].strip() if text is not None and start.line < len(text.lines) else ""
        place = f"{shown}:{start.line + 1}:{start.character + 1}"
        return Header(f"[{finding.rule}] {finding.message}", place, line, target.name)
