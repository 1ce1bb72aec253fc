"""Looks for the failure that is meant in one target, and hands it to whatever reduces its kind.

Cheap looks come first: one eager run on fake tensors, then Dynamo's graphs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import torch
import torch._dynamo
from inductor_debug_schema import Finding, JobRequest, Stage

from inductor_debug.accelerators.profile import Profile, built_in_names
from inductor_debug.capture.aot import run_aot
from inductor_debug.capture.building import BuildError
from inductor_debug.capture.failures import Fault, capture_error, classify, frames_of_error
from inductor_debug.capture.guard_stage import with_guards
from inductor_debug.capture.offers import Offer
from inductor_debug.capture.spans import SourceMap
from inductor_debug.capture.target import BuiltTarget
from inductor_debug.capture.workshop import Load, Workshop
from inductor_debug.repro.backend_script import BackendScript
from inductor_debug.repro.constraint_script import constraint_script
from inductor_debug.repro.constraints import findings_of
from inductor_debug.repro.literals import UnprintableError
from inductor_debug.repro.made import Made, NotReproducibleError
from inductor_debug.repro.observing import observe, observe_compiled
from inductor_debug.repro.python_script import break_script, recompile_script
from inductor_debug.repro.raising_script import raising_script
from inductor_debug.repro.safetensors import UnsavableError
from inductor_debug.repro.selecting import Wanted
from inductor_debug.repro.writing import Header
from inductor_debug.rules.ops import Recording
from inductor_debug.rules.registry import constraints

_PYTHON = {"graph-break": break_script, "recompile": recompile_script}
"""Rules about what Python does between operations, and what makes a script of a finding."""

Progress = Callable[..., None]
Keep = Callable[[Made, str], None]


class Search:
    """One job's search. `progress` and `keep` tell how far it is, and the best script so far."""

    def __init__(
        self,
        workshop: Workshop,
        sources: SourceMap,
        profile: Profile,
        request: JobRequest,
        progress: Progress,
        keep: Keep,
    ) -> None:
        self._workshop, self._sources, self._profile, self._request = workshop, sources, profile, request
        self._progress, self._keep = progress, keep
        self._constraints = {rule.id for rule in constraints()}
        self._seen: list[Finding] = []
        self._fine: list[str] = []

    def reproducer(self, offer: Offer, load: Load, wanted: Wanted) -> Made | None:
        """The reproducer for the failure in this target; None where the target does not have it.

        Raises:
            NotReproducibleError: it has it, and there is no script for it.
        """
        self._progress(f"looking for the failure in {offer.name}")
        try:
            target = self._workshop.build(offer, load)
        except BuildError as error:
            raise NotReproducibleError(f"{offer.name} could not be built: {error}") from error
        backend = str(self._request.options.get("backend") or "")
        if backend:
            return self._backend(target, offer, load, backend)
        if wanted.rule == "numerics":
            raise NotReproducibleError("which backend computes something else? Name it: --backend NAME")
        if not wanted.rule or wanted.rule in self._constraints:
            made = self._constraint(target, offer, load, wanted)
            if made is not None:
                return made
        if not wanted.rule or wanted.rule == "capture-error":
            made = self._raised(target, wanted)
            if made is not None:
                return made
        if not wanted.rule or wanted.rule in _PYTHON:
            return self._python(target, offer, load, wanted)
        return None

    def missing(self, wanted: Wanted) -> str:
        """What to say where no target has the failure."""
        if self._fine:
            return "; ".join(self._fine)
        said = f"there is no finding of {wanted.text} any more; it does not reproduce"
        others = sorted({finding.rule for finding in self._seen})
        return f"{said} (there are findings of {', '.join(others)})" if others else said

    def _constraint(self, target: BuiltTarget, offer: Offer, load: Load, wanted: Wanted) -> Made | None:
        with self._workshop.eagerly():
            seen = observe(target, self._sources)
        made = self._of_recording(seen.recording, Stage.PREVIEW, target, wanted)
        if made is not None:
            return made
        with self._workshop.traced():
            outcome = observe_compiled(target, self._sources)
        made = self._of_recording(outcome.recording, Stage.MOCK, target, wanted)
        if made is None and seen.error is None:
            # Backward passes are seen by this stage alone.
            with self._workshop.traced():
                backward = run_aot(target, self._sources)
            made = self._of_recording(backward.recording, Stage.AOT, target, wanted)
        if made is not None or target.fake_mode is None or not (outcome.retry_real or seen.error is not None):
            return made
        real = self._workshop.rebuild_real(offer, load, target)
        if isinstance(real, str):
            return None
        with self._workshop.eagerly():
            again = observe(real, self._sources)
        return self._of_recording(again.recording, Stage.PREVIEW, real, wanted)

    def _raised(self, target: BuiltTarget, wanted: Wanted) -> Made | None:
        """An exception that the target raises when it runs."""
        with self._workshop.eagerly():
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
        try:
            return raising_script(seen, header, self._name(finding), place=place)
        except (UnprintableError, UnsavableError) as error:
            raise NotReproducibleError(f"the operation cannot be written as code: {error}") from error

    def _python(self, target: BuiltTarget, offer: Offer, load: Load, wanted: Wanted) -> Made | None:
        """What Dynamo cannot capture, or compiles again."""
        with self._workshop.traced():
            outcome = observe_compiled(target, self._sources)
        if outcome.retry_real and target.fake_mode is not None:
            real = self._workshop.rebuild_real(offer, load, target)
            if not isinstance(real, str):
                target = real
                with self._workshop.traced():
                    outcome = observe_compiled(target, self._sources)
        outcome = with_guards(outcome, target, self._sources, self._request, self._workshop.traced)
        found = [finding for finding in outcome.findings if finding.rule in _PYTHON]
        self._seen += found
        finding = wanted.choose(found)
        if finding is None:
            return None
        make = _PYTHON[finding.rule]
        try:
            header, name = self._header(finding, target), self._name(finding)
            return make(target, self._sources, finding, header, name, self._workshop.eagerly)
        except UnprintableError as error:
            raise NotReproducibleError(f"what the code sees cannot be written down: {error}") from error

    def _of_recording(self, recording: Recording, stage: Stage, target: BuiltTarget, wanted: Wanted) -> Made | None:
        found = findings_of(recording, self._profile, stage=stage, target=target.name, fallback=target.location)
        self._seen += found
        finding = wanted.choose(found)
        if finding is None:
            return None
        if finding.rule == "peak-memory":
            raise NotReproducibleError("peak-memory is about all tensors that are alive together: no part shows it")
        header = self._header(finding, target)
        try:
            return constraint_script(recording, self._profile, finding, target.location, header, self._name(finding))
        except UnprintableError as error:
            raise NotReproducibleError(f"the operation cannot be written as code: {error}") from error

    def _backend(self, target: BuiltTarget, offer: Offer, load: Load, backend: str) -> Made | None:
        """What a backend does wrong to the target, with real values."""
        if backend not in torch._dynamo.list_backends(exclude_tags=None):
            if backend in built_in_names():
                raise NotReproducibleError(
                    f"the arithmetic of {backend} is emulated here, and a script of torch alone has none of it"
                )
            raise NotReproducibleError(
                f"there is no backend {backend!r}; there are those of torch._dynamo.list_backends()"
            )
        real = target if target.fake_mode is None else self._workshop.rebuild_real(offer, load, target)
        if isinstance(real, str):
            raise NotReproducibleError(real)
        where = real.location
        shown = f"{os.path.basename(where.path)}:{where.range.start.line + 1}"
        memo = str(self._request.options.get("memo") or "")
        search = BackendScript(real, backend, Path(memo) if memo else None, self._progress, self._keep)
        stem = os.path.splitext(os.path.basename(where.path))[0]
        made = search.run(Header("", shown, "", real.name), f"repro_{stem}_{backend}.py")
        if made is None:
            self._fine.append(f"backend {backend} does nothing wrong to {real.name}")
        return made

    def _header(self, finding: Finding, target: BuiltTarget) -> Header:
        start = finding.range.start
        shown = os.path.relpath(finding.path, self._request.project_root).replace(os.sep, "/")
        if shown.startswith(".."):
            shown = os.path.basename(finding.path)
        text = self._sources.text(finding.path)
        line = text.lines[start.line].strip() if text is not None and start.line < len(text.lines) else ""
        place = f"{shown}:{start.line + 1}:{start.character + 1}"
        return Header(f"[{finding.rule}] {finding.message}", place, line, target.name)

    def _name(self, finding: Finding) -> str:
        stem = os.path.splitext(os.path.basename(finding.path))[0]
        return f"repro_{stem}_{finding.rule.replace('-', '_')}.py"
