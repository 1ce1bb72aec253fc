"""Offers what nobody gave inputs: outermost classes, models of others' classes, and what `torch.compile` got uncalled.

Nothing is built or inferred here; a candidate's recipes do that when the target is built.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from inductor_debug_schema import InferenceHint

from inductor_debug.capture.inference.classes import candidates, is_model_of_others, outline
from inductor_debug.capture.inference.inference import Inference
from inductor_debug.capture.inference.specs.specs import Guess
from inductor_debug.capture.inference.surroundings import InferenceSubject, InferredCall, Surroundings
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.interception import CompiledCall, Interceptor, unwrap
from inductor_debug.capture.targets.candidates import Candidate, CandidateOrigin, Recipe, as_call
from inductor_debug.capture.targets.declared_targets import DeclaredTarget
from inductor_debug.capture.targets.definitions import Definitions
from inductor_debug.capture.targets.object_kinds import identity_of
from inductor_debug.system.wall_clock import ClockReading


@dataclass
class Inferring:
    """What inference needs of a job, and what it remembers.

    `answers`, `spent` and `reached` are kept from one rung of the ladder to the next, `hints` from one job to the next;
    `retry` asks for another search where earlier jobs found nothing.
    """

    text: str
    path: str
    project_root: str
    answers: dict[str, InferredCall] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)
    reached: dict[tuple[str, int], Guess] = field(default_factory=dict)
    hints: list[InferenceHint] = field(default_factory=list)
    retry: bool = False
    since: ClockReading = field(default_factory=ClockReading.now)


class InferredCandidates:
    """Makes offers for one loaded file.

    Args:
        inferring: the job.
        module: the executed file.
        definitions: where it defines what.
        seen: identities of what has explicit targets.
        off: names that the user does not want inferred.
        wish_for: what the user said of a name, taken note of.
    """

    def __init__(
        self,
        inferring: Inferring,
        module: ModuleType,
        definitions: Definitions,
        seen: set[int],
        off: set[str],
        declared_for: Callable[[str], DeclaredTarget],
    ) -> None:
        self._definitions, self._module, self._seen, self._off = definitions, module, seen, off
        self._declared_for = declared_for
        self._tree = ast.parse(inferring.text)
        self._around = Surroundings(
            module,
            self._tree,
            inferring.path,
            inferring.project_root,
            text=inferring.text,
            answers=inferring.answers,
            spent=inferring.spent,
            reached=inferring.reached,
            retry=inferring.retry,
            since=inferring.since,
            hints=inferring.hints,
        )

    def compiled(self, interceptor: Interceptor, path: str) -> list[Candidate]:
        """What was given to `torch.compile` in this file and never called."""
        found: list[Candidate] = []
        for call in interceptor.offered:
            here = bool(call.compiled_at) and call.compiled_at[0].location.path == path
            if call.kwargs is None and here and self._is_new(_subject_of(call)):
                name = type(call.module).__name__ if call.module is not None else call.name
                if name not in self._off:
                    found.append(self._candidate(name, call.function, call))
                    self._seen.update(found[-1].identity)
        return found

    def entered(self, subject: Any, declared: DeclaredTarget) -> Candidate:
        """What an entry gave without inputs."""
        self._seen.update(identity_of(subject, self._module.__name__))
        return self._candidate(declared.name, subject, declared=declared)

    def classes(self, reserve: dict[str, list[Candidate]]) -> list[Candidate]:
        """The file's outermost classes without targets; their parts go to `reserve`."""
        names = vars(self._module)
        explicit = {name for name, value in names.items() if not self._is_new(value)}
        found: list[Candidate] = []
        for name, parts in candidates(self._module, outline(self._tree), explicit).items():
            if name not in self._off:
                found.append(self._candidate(name, names[name]))
                reserve[name] = [self._candidate(part, names[part]) for part in parts if part not in self._off]
        return found

    def instances(self, offered: Iterable[str]) -> list[Candidate]:
        """Models of other files' classes that the file makes outside of functions.

        None of what is part of another one, or is used by what has a target.

        Args:
            offered: the names of the targets that there are.
        """
        names = vars(self._module)
        shape = outline(self._tree)
        used = shape.reachable([*offered, *(name for name in shape.classes if name in names)])
        made = {
            id(value): (name, value)
            for name, value in reversed(names.items())
            if self._definitions.location(name) is not None and is_model_of_others(value, self._module)
        }
        inside = {id(part) for _, value in made.values() for part in foreign.parts_of(value) if part is not value}
        return [
            self._candidate(name, value)
            for key, (name, value) in reversed(made.items())
            if key not in inside and name not in used | self._off and self._is_new(value)
        ]

    def _is_new(self, subject: Any) -> bool:
        return self._seen.isdisjoint(identity_of(subject, self._module.__name__))

    def _candidate(
        self, name: str, value: Any, call: CompiledCall | None = None, declared: DeclaredTarget | None = None
    ) -> Candidate:
        location = self._definitions.location(name) or (
            self._definitions.start if declared is None else declared.location
        )
        declared = declared or self._declared_for(name)
        init = declared.init
        inference = Inference(
            InferenceSubject(name, unwrap(value), _builder(value, init) if init is not None else None), self._around
        )
        return Candidate(
            name=name,
            origin=CandidateOrigin.INFERRED,
            location=location,
            model=Recipe(inference.model, location, name),
            inputs=Recipe(inference.inputs, location, f"the inferred inputs of {name}"),
            identity=identity_of(value, self._module.__name__),
            training=declared.training if call is None or declared.training is not None else call.training or None,
            dynamic=declared.dynamic if declared.dynamic is not None else call.dynamic if call is not None else None,
            fullgraph=declared.fullgraph or (call is not None and call.fullgraph),
            inference=inference,
        )


def _subject_of(call: CompiledCall) -> Any:
    return call.module if call.module is not None else call.function


def _builder(kind: Any, init: Recipe) -> Callable[[], Any]:
    def build() -> Any:
        args, kwargs = as_call(init.run())
        return kind(*args, **kwargs)

    return build
