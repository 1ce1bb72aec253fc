"""Finds what a loaded file offers for compilation, by all the conventions, best known intention first.

The order: directive comments, `pyproject.toml`, `get_inputs()`, `example_inputs()`, ParityBench's list, calls of what
`torch.compile` returned, and last what nobody gave inputs (`inference`). A later convention does not offer again what
an earlier one did. Nothing is built here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import torch
from inductor_debug_schema import Entry, Location, TargetSetting

from inductor_debug.accelerators.suggestions import nearest
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.running.target import Call
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.interception import CompiledCall, Interceptor, unwrap
from inductor_debug.capture.targets.candidates import (
    Candidate,
    CandidateOrigin,
    Complaint,
    Discovered,
    Recipe,
    as_call,
    as_calls,
)
from inductor_debug.capture.targets.class_candidates import InferredCandidates, Inferring
from inductor_debug.capture.targets.declared_targets import (
    DeclaredTarget,
    declared_by_directive,
    declared_by_entry,
    declared_by_setting,
)
from inductor_debug.capture.targets.definitions import Definitions
from inductor_debug.capture.targets.entry_expressions import Entered, Evaluate, entered
from inductor_debug.capture.targets.listed_cases import LIST, listed_cases
from inductor_debug.capture.targets.object_kinds import identity_of, is_function
from inductor_debug.source.directives import WHOLE_FILE, read_directives
from inductor_debug.source.notebooks.reading import line_in_words


def discover(
    module: ModuleType,
    path: str,
    text: str,
    settings: list[TargetSetting],
    interceptor: Interceptor,
    sources: SourceMap,
    inferring: Inferring | None = None,
    entries: Sequence[Entry] = (),
    evaluate: Evaluate | None = None,
) -> Discovered:
    """Everything that the loaded `module` offers.

    Args:
        module: the executed file; half executed where it raised after a target was seen.
        path: absolute path of the file.
        text: what was executed.
        settings: targets from `pyproject.toml`.
        interceptor: what was passed to `torch.compile` meanwhile.
        sources: turns places into frames.
        inferring: how to offer what has no inputs; None does not offer it.
        entries: expressions from outside the file that give targets.
        evaluate: evaluates those and the file's own; None evaluates none.
    """
    discovery = _Discovery(module, path, text, settings, interceptor, sources, inferring)
    if evaluate is not None:
        discovery.enter(entries, evaluate)
    return discovery.run()


class _Discovery:
    def __init__(
        self,
        module: ModuleType,
        path: str,
        text: str,
        settings: list[TargetSetting],
        interceptor: Interceptor,
        sources: SourceMap,
        inferring: Inferring | None,
    ) -> None:
        self.module, self.path, self.sources, self.interceptor = module, path, sources, interceptor
        self.names: dict[str, Any] = vars(module)
        self.definitions = Definitions(path, text, sources)
        self.result = Discovered()
        self.seen: set[int] = set()
        directives, faults = read_directives(text)
        self.result.complaints += [Complaint(fault.message, Location(path, fault.range)) for fault in faults]
        self.off = {item.name for item in directives if item.flags.get("off")}
        self.inferring = inferring if WHOLE_FILE not in self.off else None
        said = [item for item in directives if item.arguments or item.flags.keys() != {"off"}]
        declared_targets = [declared_by_directive(item, path, self.names, sources) for item in said]
        self.declared_targets = [declared for declared in declared_targets if declared.entry is None]
        self.own_entries = [declared for declared in declared_targets if declared.entry is not None]
        self.entered: list[Entered] = []
        self.declared_targets += [
            declared_by_setting(
                item, self.names, item.at or self.definitions.location(item.name) or self.definitions.start
            )
            for item in settings
        ]

    def enter(self, entries: Sequence[Entry], evaluate: Evaluate) -> None:
        """Evaluates the entries, those from outside first."""
        given = [declared_by_entry(entry, self.names, self._place_of(entry)) for entry in entries]
        self.entered = [entered(declared, evaluate) for declared in (*given, *self.own_entries)]

    def run(self) -> Discovered:
        beside = (self._get_inputs, self._example_inputs, self._listed)
        for convention in (self._entered, self._declared, *beside, self._compiled):
            fresh: set[int] = set()
            for candidate in convention():
                if self.seen.isdisjoint(candidate.identity):
                    fresh.update(candidate.identity)
                    self.result.candidates.append(self._named_apart(candidate))
            self.seen |= fresh
        if self.inferring is not None:
            candidates = InferredCandidates(
                self.inferring, self.module, self.definitions, self.seen, self.off, self._use_declared
            )
            without_inputs = [made for made in self.entered if made.candidate(self.module.__name__) is None]
            self.result.candidates += [
                self._named_apart(candidates.entered(made.subject, made.declared)) for made in without_inputs
            ]
            self.result.candidates += map(self._named_apart, candidates.compiled(self.interceptor, self.path))
            self.result.candidates += map(self._named_apart, candidates.classes(self.result.reserve))
            offered = [candidate.name for candidate in self.result.candidates]
            self.result.candidates += map(self._named_apart, candidates.instances(offered))
        self._complain_of_unused_declarations()
        return self.result

    # Entries

    def _place_of(self, entry: Entry) -> Location:
        """Where to speak of an entry from outside: at the first definition of the file's that it names."""
        names = [node.id for node in ast.walk(ast.parse(entry.expression, mode="eval")) if isinstance(node, ast.Name)]
        return next(filter(None, map(self.definitions.location, names)), self.definitions.start)

    def _entered(self) -> Iterator[Candidate]:
        for made in self.entered:
            candidate = made.candidate(self.module.__name__)
            if candidate is not None:
                yield candidate
            elif self.inferring is None:
                message = f"{made.what} gives no inputs, and inferring them is off: give (model, inputs)."
                self._complain(message[0].upper() + message[1:], made.declared.location)

    # Directives and settings

    def _declared(self) -> Iterator[Candidate]:
        for declared in self.declared_targets:
            if declared.name not in self.names:
                near = nearest(declared.name, (name for name in self.definitions.names() if name in self.names))
                words = f"; did you mean {near!r}?" if near else "."
                self._complain(
                    f"The file defines no {declared.name!r} that could be compiled{words}", declared.location
                )
                declared.used = True
                continue
            subject = unwrap(self.names[declared.name])
            if declared.inputs is None and not (is_function(subject) and foreign.needs_no_arguments(subject)):
                continue
            declared.used = True
            inputs = declared.inputs or Recipe(tuple, declared.location, f"the inputs of {declared.name}")
            candidate = self._candidate(declared.name, subject, declared.origin, inputs)
            if candidate is not None:
                yield _with_sets(candidate, inputs)

    def _complain_of_unused_declarations(self) -> None:
        for declared in self.declared_targets:
            if not declared.used:
                self._complain(
                    f"{declared.name} is not analysed: give inputs=(...), or define get_inputs() or example_inputs().",
                    declared.location,
                )

    # Functions beside the class

    def _get_inputs(self) -> Iterator[Candidate]:
        if not callable(self.names.get("get_inputs")):
            return
        model = "Model" if "Model" in self.names else self._likeliest()
        if model is None:
            self._complain("There is get_inputs(), but no class Model beside it.", self._location("get_inputs"))
            return
        init = self._call_of("get_init_inputs") if callable(self.names.get("get_init_inputs")) else None
        candidate = self._candidate(
            model, unwrap(self.names[model]), CandidateOrigin.GET_INPUTS, self._call_of("get_inputs"), init
        )
        if candidate is not None:
            yield candidate

    def _example_inputs(self) -> Iterator[Candidate]:
        if callable(self.names.get("example_inputs")):
            model = self._likeliest()
            if model is None:
                self._complain(
                    "There is example_inputs(), but no model: no instance and no class that needs no arguments.",
                    self._location("example_inputs"),
                )
            else:
                subject = unwrap(self.names[model])
                candidate = self._candidate(
                    model, subject, CandidateOrigin.EXAMPLE_INPUTS, self._call_of("example_inputs")
                )
                if candidate is not None:
                    yield candidate
        for name in self.definitions.classes():
            kind: Any = self.names.get(name)
            own = foreign.namespace(kind).get("example_inputs") if foreign.is_a(kind, type) else None
            if foreign.is_a(own, staticmethod) or foreign.is_a(own, classmethod):
                yield from self._example_inputs_of(name, kind)

    def _example_inputs_of(self, name: str, kind: type) -> Iterator[Candidate]:
        inputs = Recipe(
            kind.example_inputs,  # type: ignore[attr-defined]
            self._location(name),
            f"{name}.example_inputs()",
            self.definitions.returned("example_inputs", name),
        )
        instance = next((key for key in self._instances() if type(unwrap(self.names[key])) is kind), None)
        if instance is None and not foreign.needs_no_arguments(kind) and self._init_of(name) is None:
            self._complain(
                f"{name} needs arguments to be built: add `# inductor-debug: init=(...)` above it, or an instance.",
                self._location(name),
            )
            return
        use_instance = instance is not None and self._init_of(name) is None
        subject = unwrap(self.names[instance]) if use_instance and instance is not None else kind
        candidate = self._candidate(name, subject, CandidateOrigin.EXAMPLE_INPUTS, inputs)
        if candidate is not None:
            yield candidate

    def _likeliest(self) -> str | None:
        """The name that a lone `example_inputs` means: an instance called model, the last instance, or class."""
        instances = list(self._instances())
        if instances:
            return "model" if "model" in instances else instances[-1]
        classes = [
            name
            for name in self.definitions.classes()
            if foreign.is_a(kind := self.names.get(name), type)
            and issubclass(kind, torch.nn.Module)
            and (foreign.needs_no_arguments(kind) or self._init_of(name) is not None)
        ]
        return "Model" if "Model" in classes else (classes[-1] if classes else None)

    def _instances(self) -> Iterator[str]:
        """Names of the module-level models, except of imported ones."""
        for name, value in self.names.items():
            if foreign.is_a(value, torch.nn.Module) and self.definitions.location(name) is not None:
                yield name

    def _call_of(self, function: str) -> Recipe:
        return Recipe(
            self.names[function], self._location(function), f"{function}()", self.definitions.returned(function)
        )

    # ParityBench's list

    def _listed(self) -> Iterator[Candidate]:
        for case in listed_cases(self.names.get(LIST)):
            name, where = foreign.name_of(case.kind), self._location(LIST)
            inputs = Recipe(case.called_with, where, f"the inputs of {name} in {LIST}")
            candidate = self._candidate(name, case.kind, CandidateOrigin.LISTED, inputs)
            if candidate is None:
                continue
            model = candidate.model
            if self._init_of(name) is None:
                model = Recipe(case.build, where, f"the constructor of {name}, as {LIST} calls it,")
            training = False if candidate.training is None else candidate.training  # as ParityBench runs them
            yield replace(candidate, model=model, inputs=replace(inputs, run=case.call), training=training)

    # Intercepted calls

    def _compiled(self) -> Iterator[Candidate]:
        instances: set[int] = set()
        for call in self.interceptor.calls:
            subject = call.module if call.module is not None else call.function
            if id(subject) not in instances:
                instances.add(id(subject))
                yield self._candidate_of_call(call)
        for call in self.interceptor.offered:
            if call.kwargs is None and call.compiled_at and call.compiled_at[0].location.path == self.path:
                line = line_in_words(self.path, call.compiled_at[0].location.range.start.line)
                self.result.notes.append(f"{call.name}, compiled in {line}, was not called while the file loaded.")

    def _candidate_of_call(self, call: CompiledCall) -> Candidate:
        kind = type(call.module) if call.module is not None else None
        name = defined = kind.__name__ if kind is not None else call.name
        own = foreign.module_name(kind or call.function) == self.module.__name__
        if call.function is call.module and not own:
            # A library's class says little: call the target what the file calls the instance.
            defined = next((key for key, value in self.names.items() if unwrap(value) is call.module), defined)
        name = call.name if defined == name else defined
        frames = call.called_at if call.followed else call.compiled_at
        here = next((frame.location for frame in frames if frame.location.path == self.path), None)
        location = self.definitions.location(defined) or here or self.definitions.start
        where = here or location
        declared = self._use_declared(defined)
        return Candidate(
            name=name,
            origin=CandidateOrigin.MAIN if call.followed else CandidateOrigin.COMPILE,
            location=location,
            model=Recipe(lambda: call.function, where, call.name),
            inputs=Recipe(lambda: (call.args, call.kwargs), where, f"the call of {call.name}", call.called_at),
            identity=identity_of(call.module if call.module is not None else call.function, self.module.__name__),
            training=declared.training
            if declared.training is not None
            else call.training
            if call.module is not None
            else None,
            dynamic=declared.dynamic if declared.dynamic is not None else call.dynamic,
            fullgraph=declared.fullgraph or call.fullgraph,
            gradients=call.gradients,
            again=call.again,
            exported=call.exported,
        )

    # What all conventions share

    def _named_apart(self, candidate: Candidate) -> Candidate:
        same = sum(found.name.partition("#")[0] == candidate.name for found in self.result.candidates)
        return replace(candidate, name=f"{candidate.name}#{same + 1}") if same else candidate

    def _candidate(
        self, name: str, subject: Any, origin: CandidateOrigin, inputs: Recipe, init: Recipe | None = None
    ) -> Candidate | None:
        declared = self._use_declared(name)
        location = self._location(name)
        if not callable(subject):
            self._complain(f"{name} is neither a class, a function nor a model.", location)
            return None
        init = declared.init or init
        call = _call_of_recipe(inputs)
        return Candidate(
            name=name,
            origin=origin,
            location=location,
            model=self._model(name, subject, init, location),
            inputs=Recipe(call, inputs.location, inputs.what, inputs.frames),
            identity=identity_of(subject, self.module.__name__),
            training=declared.training,
            dynamic=declared.dynamic,
            fullgraph=declared.fullgraph,
        )

    def _model(self, name: str, subject: Any, init: Recipe | None, location: Location) -> Recipe:
        if not foreign.is_a(subject, type):
            return Recipe(lambda: subject, location, name)

        def build() -> Any:
            args, kwargs = as_call(init.run()) if init is not None else ((), {})
            return subject(*args, **kwargs)

        return Recipe(build, init.location if init is not None else location, f"the constructor of {name}")

    def _use_declared(self, name: str) -> DeclaredTarget:
        """What the user said of a name, taken note of; an empty wish where that is nothing."""
        declared = self._declared_for(name)
        if declared is None:
            return DeclaredTarget(name, CandidateOrigin.DIRECTIVE, self.definitions.start, None, None)
        declared.used = True
        return declared

    def _declared_for(self, name: str) -> DeclaredTarget | None:
        """What the user said of a name; of an instance, also what was said of its class."""
        kind = type(unwrap(self.names.get(name))).__name__
        return next((declared for declared in self.declared_targets if declared.name in (name, kind)), None)

    def _init_of(self, name: str) -> Recipe | None:
        declared = self._declared_for(name)
        return declared.init if declared is not None else None

    def _location(self, name: str) -> Location:
        return self.definitions.location(name) or self.definitions.start

    def _complain(self, message: str, location: Location) -> None:
        self.result.complaints.append(Complaint(message, location))


def _call_of_recipe(inputs: Recipe) -> Callable[[], Any]:
    return lambda: as_call(inputs.run())


def _with_sets(candidate: Candidate, inputs: Recipe) -> Candidate:
    """The candidate with all sets of inputs that a directive or setting lists; its code runs once for all of them."""
    calls: list[Call] = []

    def first() -> Call:
        calls[:] = as_calls(inputs.run())
        return calls[0]

    return replace(candidate, inputs=replace(candidate.inputs, run=first), more=lambda: calls[1:])
