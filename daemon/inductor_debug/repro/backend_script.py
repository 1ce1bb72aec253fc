"""From a backend's failure on a target to its script: capture, find the graph that fails, minimise, write.

The search never holds the user's values longer than the script needs them: they are replaced by seeded ones wherever
the failure allows it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import io
import time
from collections.abc import Callable
from pathlib import Path

import torch

from inductor_debug.capture.target import BuiltTarget
from inductor_debug.repro.backend_checks import backend_check
from inductor_debug.repro.backend_oracle import BackendOracle, Manner, Symptom, symptom_of
from inductor_debug.repro.capturing import CapturedGraph, Whole, graphs_of, whole_of
from inductor_debug.repro.checks import Check
from inductor_debug.repro.literals import UnprintableError
from inductor_debug.repro.made import Made, NotReproducibleError
from inductor_debug.repro.memo import Memo
from inductor_debug.repro.minimise import CONFIRMATIONS, GoneError, Minimised, Minimiser
from inductor_debug.repro.oracle import Oracle
from inductor_debug.repro.program import Program, Values
from inductor_debug.repro.safetensors import UnsavableError, encode, mark_of
from inductor_debug.repro.writing import Header, script, values_beside

SAVE_SECONDS = 1.0
"""A better script is handed on at most so often, so that a cancelled search leaves one behind."""


class BackendScript:
    """One search for what `backend` does to `target`.

    Args:
        target: with real tensors, for values may matter.
        backend: a name that `torch.compile` knows.
        memo: the folder where attempts are remembered, None for nowhere.
        progress: told in words, with steps left and attempts.
        keep: given every better script.
    """

    manners: tuple[Manner, ...] = (Manner(), Manner(backward=True), Manner(calls=3))
    """How a graph is used, tried in this order."""

    def __init__(
        self,
        target: BuiltTarget,
        backend: str,
        memo: Path | None,
        progress: Callable[..., None],
        keep: Callable[[Made, str], None],
    ) -> None:
        self._target, self._backend, self._memo = target, backend, memo
        self._progress, self._keep = progress, keep
        self._kept_at = time.monotonic()
        self._called = f"backend {backend}"

    def run(self, header: Header, name: str) -> Made | None:
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
                whole = whole_of(graph)
            except UnprintableError as refusal:
                if len(captured) == 1 or number == len(captured) - 1:
                    why = f"the graph cannot be written as code because of {refusal}; it is exported instead"
                    raise NotReproducibleError(why, export=exported(graph)) from refusal
                continue
            whole = _with_recorded_inputs(whole)
            for manner in self.manners:
                if manner.backward and not any(item.spec and item.spec.requires_grad for item in whole.program.inputs):
                    continue
                made = self._of(whole, manner, header, name)
                if made is not None:
                    return made
        if any(graph.shared for graph in captured):
            raise NotReproducibleError(
                f"backend {self._backend} does nothing wrong to {self._target.name} where each input has memory of its "
                "own, as in a script; some of them share theirs"
            )
        return None

    def _of(self, whole: Whole, manner: Manner, header: Header, name: str) -> Made | None:
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
                    draft = _written(program, whole, check, header, name, before, attempts)
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
            why = f"the failure is flaky: it showed once and not in {CONFIRMATIONS} more runs"
            raise NotReproducibleError(why) from gone
        header = dataclasses.replace(header, notes=[*header.notes, *_notes(found)])
        try:
            made = _written(found.program, whole, check, header, name, before, found.attempts)
        except UnsavableError as refusal:
            raise NotReproducibleError(str(refusal)) from refusal
        made.neighbour, made.minimal = found.neighbour, found.finished
        made.why = "; ".join(_weaknesses(found))
        return made

    def _symptom(self, whole: Whole, manner: Manner) -> Symptom:
        """What the backend does to the whole graph."""
        return symptom_of(whole.program, self._backend, whole.values, manner)

    def _words(self, symptom: Symptom) -> str:
        return symptom.words

    def _oracle(self, symptom: Symptom, whole: Whole, manner: Manner) -> Oracle:
        """What judges smaller programs."""
        return BackendOracle(self._backend, symptom, whole.values, manner)

    def _check(self, symptom: Symptom, manner: Manner) -> Check:
        """What the script looks for."""
        return backend_check(self._backend, symptom, manner)


def _warmed(backend: str) -> None:
    """Loads a backend of torch's own, once for all the children that attempts are."""
    if backend == "inductor":
        with contextlib.suppress(ImportError):
            importlib.import_module("torch._inductor.compile_fx")


def _with_recorded_inputs(whole: Whole) -> Whole:
    inputs = tuple(
        dataclasses.replace(item, values=Values.RECORDED) if item.name in whole.values else item
        for item in whole.program.inputs
    )
    return Whole(dataclasses.replace(whole.program, inputs=inputs), whole.values)


def _written(
    program: Program, whole: Whole, check: Check, header: Header, name: str, before: int, attempts: int
) -> Made:
    text = script(program, check, header, name=name, recorded=whole.values)
    beside = values_beside(program, whole.values)
    files = {}
    if beside:
        content = encode(beside)
        files[f"{mark_of(content)}.safetensors"] = content
    return Made(text, name, before, len(program.steps), attempts, files)


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


def exported(graph: CapturedGraph) -> bytes:
    """The graph as a `torch.export` file, b"" where torch cannot export it either."""
    content = io.BytesIO()
    try:
        program = torch.export.export(graph.graph_module, tuple(graph.inputs), strict=False)
        torch.export.save(program, content)
    except Exception:
        return b""
    return content.getvalue()
