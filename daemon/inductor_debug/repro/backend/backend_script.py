"""From a backend's failure on a target to its script: capture, find the graph that fails, minimise, write.

The search never holds the user's values longer than the script needs them: they are replaced by seeded ones wherever
the failure allows it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import linecache
import os
import time
from collections.abc import Callable
from pathlib import Path

from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.repro.backend.backend_checks import backend_check
from inductor_debug.repro.backend.backend_oracle import BackendOracle, Compiler, Manner, Symptom, symptom_of
from inductor_debug.repro.backend.exported_script import (
    exported,
    exported_script,
    symptom_of_exported,
    symptom_of_graph,
)
from inductor_debug.repro.minimiser.memo import Memo
from inductor_debug.repro.minimiser.minimise import Minimiser
from inductor_debug.repro.minimiser.minimised import GONE_AFTER, GoneError, Minimised
from inductor_debug.repro.minimiser.oracle import Oracle
from inductor_debug.repro.program.bodies import has_bodies
from inductor_debug.repro.program.capturing import CapturedGraph, Whole, graphs_of, whole_of
from inductor_debug.repro.program.literals import UnprintableError
from inductor_debug.repro.program.program import Program
from inductor_debug.repro.program.safetensors import UnsavableError
from inductor_debug.repro.script.backend_source import BackendSource
from inductor_debug.repro.script.reproducer import NotReproducibleError, Reproducer, written
from inductor_debug.repro.script.script_checks import ScriptCheck
from inductor_debug.repro.script.writing import Header
from inductor_debug.rules.amounts import counted

FLAKY_TRIES = 10
"""A script of a flaky failure looks for it so often."""
SAVE_SECONDS = 1.0
"""A better script is handed on at most so often, so that a cancelled search leaves one behind."""


class BackendScript:
    """One search for what `backend` does to `target`.

    Args:
        target: with real tensors, for values may matter.
        backend: how scripts name it.
        memo: the folder where attempts are remembered, None for nowhere.
        progress: told in words, with steps left and attempts.
        keep: given every better script.
        compiler: what compiles, where `torch.compile` does not know the name.
    """

    manners: tuple[Manner, ...] = (Manner(), Manner(backward=True), Manner(calls=3), Manner(dynamic=True))
    """How a graph is used, tried in this order."""

    def __init__(
        self,
        target: BuiltTarget,
        backend: BackendSource,
        memo: Path | None,
        progress: Callable[..., None],
        keep: Callable[[Reproducer, str], None],
        compiler: Compiler | None = None,
    ) -> None:
        self._target, self._backend, self._memo = target, backend.name, memo
        self._carried, self._compiler = backend, compiler or backend.name
        self._progress, self._keep = progress, keep
        self._kept_at = time.monotonic()
        self._called = f"backend {backend.name}"

    def run(self, header: Header, name: str) -> Reproducer | None:
        """The script; None where the backend does nothing wrong.

        Raises:
            NotReproducibleError: it does, and there is no script for it.
        """
        _warmed(self._backend)
        captured, error = graphs_of(self._target)
        if not captured and error is not None:
            raise NotReproducibleError(f"{self._target.name} itself raises {type(error).__name__}: {error}")
        for number, graph in enumerate(captured):
            self._progress(f"trying graph {number} of {self._target.name} on {self._backend}")
            try:
                whole = self._whole(graph)
            except UnprintableError as refusal:
                made = self._unprintable(graph, refusal, header, name)
                if made is not None:
                    return made
                continue
            for manner in self.manners:
                if manner.backward and not any(item.spec and item.spec.requires_grad for item in whole.program.inputs):
                    continue
                made = self._of(whole, manner, header, name)
                if made is not None:
                    return made
            if has_bodies(whole.program):
                called = UnprintableError("a higher-order operator, to which nothing is done where code calls it")
                made = self._unprintable(graph, called, header, name)
                if made is not None:
                    return made
        return None

    def _whole(self, graph: CapturedGraph) -> Whole:
        """The graph as a program.

        Raises:
            UnprintableError: it has no form as ordinary code.
        """
        whole = whole_of(graph)
        if has_bodies(whole.program):
            refused = symptom_of(whole.program, "eager", whole.values, Manner())
            if refused.kind:
                raise UnprintableError(f"a higher-order operator that Dynamo does not take from code ({refused.words})")
        return whole

    def _unprintable(
        self, graph: CapturedGraph, refusal: UnprintableError, header: Header, name: str
    ) -> Reproducer | None:
        """The script that loads the graph from a file; None where the backend does nothing wrong to it."""
        for manner in self.manners:
            symptom = symptom_of_graph(graph, self._compiler, manner)
            if not symptom.kind:
                continue
            content = exported(graph)
            why = f"the graph cannot be written as code because of {refusal}"
            if not content:
                raise NotReproducibleError(f"{why}, and torch.export cannot save it") from refusal
            if not symptom.same(symptom_of_exported(content, graph, self._compiler, manner)):
                why = f"{why}; exported instead, it does not fail in the same way"
                raise NotReproducibleError(why, export=content) from refusal
            notes = [f"{why}; torch.export keeps it beside the script", *_about(self._carried)]
            header = dataclasses.replace(
                header, failure=f"{self._called}: {symptom.words}", notes=[*header.notes, *notes]
            )
            made = exported_script(content, graph, self._carried, symptom, manner, header, name)
            made.why = "; ".join(filter(None, (self._carried.problem, notes[0])))
            return made
        return None

    def _of(self, whole: Whole, manner: Manner, header: Header, name: str) -> Reproducer | None:
        manner = dataclasses.replace(
            manner,
            writes=any(step.mutates for step in whole.program.steps),
            shared=any(item.base for item in whole.program.inputs),
        )
        symptom = self._symptom(whole, manner)
        if not symptom.kind:
            return None
        header = dataclasses.replace(header, failure=f"{self._called}: {self._words(symptom)}")
        oracle = self._oracle(symptom, whole, manner)
        before = len(whole.program.steps)
        check = self._check(symptom, manner)

        def better(program: Program, attempts: int) -> None:
            if time.monotonic() - self._kept_at >= SAVE_SECONDS:
                with contextlib.suppress(UnprintableError, UnsavableError):
                    draft = written(program, whole.values, check, header, name, before=before, attempts=attempts)
                    self._keep(draft, self._target.name)
                    self._kept_at = time.monotonic()

        def tell(left: int, attempts: int, seconds: float) -> None:
            self._progress(
                f"{left} of {before} nodes left, {attempts} attempts, {seconds:.0f} s", before - left, before
            )

        memo = Memo(self._memo, f"{oracle.fingerprint}|{whole.program.key}")
        minimiser = Minimiser(oracle, memo, better=better, progress=tell, seeded=whole.seeded)
        try:
            found = minimiser.run(whole.program)
        except GoneError as gone:
            why = f"the failure is flaky: it showed once and not in {GONE_AFTER} more runs"
            raise NotReproducibleError(why) from gone
        if found.flaky is not None:
            check = dataclasses.replace(check, body=f"torch._dynamo.reset()\n{check.body}", tries=FLAKY_TRIES)
        header = _at(header, found.program, self._target)
        header = dataclasses.replace(header, notes=[*header.notes, *_about(self._carried), *_notes(found)])
        try:
            made = written(found.program, whole.values, check, header, name, before=before, attempts=found.attempts)
        except UnsavableError as refusal:
            raise NotReproducibleError(str(refusal)) from refusal
        made.neighbour, made.minimal = found.neighbour, found.finished
        made.why = "; ".join(filter(None, (self._carried.problem, *_weaknesses(found))))
        return made

    def _symptom(self, whole: Whole, manner: Manner) -> Symptom:
        """What the backend does to the whole graph.

        Raises:
            NotReproducibleError: it takes too long, and so does a backend that does nothing.
        """
        found = symptom_of(whole.program, self._compiler, whole.values, manner)
        if found.kind == "hangs" and symptom_of(whole.program, "eager", whole.values, manner).kind == "hangs":
            raise NotReproducibleError(
                f"a graph of {counted(len(whole.program.steps), 'operation')} takes too long here, whatever the backend"
            )
        return found

    def _words(self, symptom: Symptom) -> str:
        return symptom.words

    def _oracle(self, symptom: Symptom, whole: Whole, manner: Manner) -> Oracle:
        """What judges smaller programs."""
        name = f"{self._backend}|{self._carried.code}"
        return BackendOracle(self._compiler, symptom, whole.values, manner, name)

    def _check(self, symptom: Symptom, manner: Manner) -> ScriptCheck:
        """What the script looks for."""
        return backend_check(self._carried, symptom, manner)


def _warmed(backend: str) -> None:
    """Loads a backend of torch's own, once for all the children that attempts are."""
    if backend == "inductor":
        with contextlib.suppress(ImportError):
            importlib.import_module("torch._inductor.compile_fx")


def _at(header: Header, program: Program, target: BuiltTarget) -> Header:
    """The header with the place of the last operation that is left: where the failure shows."""
    place = next((step.place for step in reversed(program.steps) if step.place), "")
    path = target.location.path
    if not place:
        return header
    name, _, line = place.rpartition(":")
    source = linecache.getline(path, int(line)).strip() if name == os.path.basename(path) else ""
    return dataclasses.replace(header, place=place, source=source)


def _about(backend: BackendSource) -> list[str]:
    if backend.needs:
        return [f"backend {backend.name} comes with the library {backend.needs}, which has to be installed"]
    return [f"backend {backend.name} is the project's own; its source is carried along"] if backend.code else []


def _notes(found: Minimised) -> list[str]:
    notes = [f"the failure goes when {found.neighbour}"] if found.neighbour else []
    return [*notes, *_weaknesses(found)]


def _weaknesses(found: Minimised) -> list[str]:
    said = []
    if found.flaky is not None:
        said.append(f"the failure is flaky: it showed in {found.flaky[0]} of {found.flaky[1]} runs of the same program")
    if not found.finished:
        said.append("the search ran out of time; a smaller script may exist")
    return said
