"""Loads the file and builds its targets on the highest rung of the ladder that carries.

The rungs (`BuildMode`) make tensors more real, and dearer, from one to the next. User code is executed once for each
rung that is tried; the user's modules of an earlier rung are forgotten first, so that no tensor of one rung meets those
of another. What user code raises while the file is loaded is kept in the `Load`, because targets seen before it are
targets still.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import torch
from inductor_debug_schema import JobRequest, Loaded

from inductor_debug.capture.entry.main_names import names_of_main
from inductor_debug.capture.entry.main_program import Followed, MainProgram
from inductor_debug.capture.entry.model_calls import ModuleCalls
from inductor_debug.capture.entry.rest_of_file import NotReached, RestOfFile
from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.inference.inference import inference_of
from inductor_debug.capture.running.target import BuildMode, BuiltTarget, endings_of
from inductor_debug.capture.runtime import loading
from inductor_debug.capture.runtime.absent_libraries import AbsentImports
from inductor_debug.capture.runtime.containment import RefusableDeed
from inductor_debug.capture.runtime.devices import Redirector, is_about_a_device, teach_names
from inductor_debug.capture.runtime.interception import PATIENCE, CompiledCall, Interceptor, LoadStopped, is_compiled
from inductor_debug.capture.runtime.memoised import forget_memoised
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.capture.runtime.registered_backends import RegisteredBackends
from inductor_debug.capture.runtime.seeding import seed_host
from inductor_debug.capture.targets.building import BuildError, build_target, bytes_of
from inductor_debug.capture.targets.candidates import Candidate, Discovered, Recipe
from inductor_debug.capture.targets.class_candidates import Inferring
from inductor_debug.capture.targets.discovery import discover
from inductor_debug.capture.targets.environment_variables import lacking_variable, set_in_project
from inductor_debug.capture.targets.parameter_declarations import Declarations
from inductor_debug.capture.tensors.absent_weights import weights_left_out
from inductor_debug.capture.tensors.addresses import no_addresses
from inductor_debug.capture.tensors.conversions import fake_conversions
from inductor_debug.capture.tensors.fake_mode import (
    building,
    is_limitation,
    is_too_large,
    new_fake_mode,
    without_modes,
)
from inductor_debug.capture.tensors.initialisers import nothing_drawn
from inductor_debug.capture.tensors.saving import saving
from inductor_debug.capture.tensors.written_nowhere import WrittenNowhere
from inductor_debug.capture.weightless.mode import WeightlessMode
from inductor_debug.source.device_words import mentions
from inductor_debug.source.directives import read_directives
from inductor_debug.source.syntax_tree import tree_of
from inductor_debug.system.torch_names import refuse

LADDER = tuple(BuildMode)
_IMPATIENT = 1
"""Repeated calls after which a script is stopped whose tensors are real, and whose work takes real time."""


_OTHERS_FIRST = 4
"""The same where a main program is followed: it may call one model twice before it calls another (a GAN)."""
_MOST_VARIABLES = 12
"""Environment variables that a file is given which it reads and its project sets."""
_REAL_SHARE = 8
_REAL_LIMIT = 1 << 30


def real_bound(memory_limit: int) -> int:
    """Bytes that real tensors may take where none were asked for: an eighth of the job's memory, at most 1 GiB."""
    return min(memory_limit // _REAL_SHARE, _REAL_LIMIT)


@dataclass
class Load:
    """The file, executed on one rung. `module` holds what was executed of it, None where nothing was."""

    mode: BuildMode
    fake_mode: WeightlessMode | None
    interceptor: Interceptor
    declarations: Declarations
    module: ModuleType | None = None
    error: BaseException | None = None
    passed_over: list[Exception] = field(default_factory=list)
    """Errors of a notebook's cells, after which it went on, but for what stages will meet, and what came after that."""
    absent: list[Exception] = field(default_factory=list)
    """Imports that failed, without which the file was loaded."""
    modules: loading.LoadedModules = field(default_factory=loading.LoadedModules)
    discovered: Discovered = field(default_factory=Discovered)
    main: Followed | None = None
    """What came of the file's main program, where that was followed."""
    not_reached: list[NotReached] = field(default_factory=list)
    """What the file would have offered after `left_at`, the one-based line where its run was left."""
    left_at: int | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def obstacle(self) -> BaseException | None:
        """What kept the file, its main program, or a cell of a notebook from showing anything."""
        met = self.error or (self.main.obstacle if self.main is not None else None)
        return met or next(filter(_is_more_worth, self.passed_over), None)


class TargetBuilder:
    """Loads one file and builds its targets.

    Args:
        request: the file and its settings.
        sources: turns places into frames.
        memory_bound: bytes that real tensors may take.
    """

    def __init__(self, request: JobRequest, sources: SourceMap, memory_bound: int) -> None:
        self._request, self._sources, self._memory_bound = request, sources, memory_bound
        self._text = request.text.removeprefix("\ufeff")
        self._place = loading.place_of(request.path, self._text, request.project_root)
        self._seed = request.seed
        self._allowed_to_write = RefusableDeed.WRITE.value in request.allow
        self._overlay: loading.Overlay | None = None
        self._loads: dict[BuildMode, Load] = {}
        self._backends = RegisteredBackends()
        self._imports = loading.ImportWatch(without_modes)
        self._main = MainProgram(self._text, request.path) if request.follow_main else None
        self._names_devices = mentions(self._text)
        teach_names(self._text)
        self.devices = Redirector()
        self.compiled_inside: list[CompiledCall] = []
        """What the newest eager run gave to `torch.compile` itself."""
        self._inferring = (
            Inferring(self._text, request.path, request.project_root, hints=request.hints, retry=bool(request.only))
            if request.infer
            else None
        )

    @contextlib.contextmanager
    def open(self) -> Iterator[TargetBuilder]:
        """Everything else happens inside: meanwhile the file can be imported, and libraries load undisturbed."""
        with contextlib.ExitStack() as stack:
            argv = self._request.argv
            stack.enter_context(loading.search_path(self._place, self._request.project_root, argv))
            overlay = loading.overlay(self._place, self._text, self._request.project_root, AbsentImports())
            self._overlay = stack.enter_context(overlay)
            stack.enter_context(self._imports.active())
            yield self

    def load(self) -> Load:
        """The file on the first rung that carries it, or what the most telling rung met."""
        first = load = self._load_on(LADDER[0])
        for mode in LADDER[1:]:
            if load.obstacle is None or not _is_more_worth(load.obstacle):
                break
            load = self._load_on(mode)
            why = describe(first.obstacle).rstrip(".") if first.obstacle is not None else ""
            load.notes.append(f"The file could not be loaded with {first.mode.value} tensors: {why}.")
        # What stops only because its tensors are real, or values were made up, says less than what the first rung met.
        if load.obstacle is not None and (is_too_large(load.obstacle) or load.mode is LADDER[-1]):
            return first
        return load

    def build(self, candidate: Candidate, load: Load) -> BuiltTarget:
        """Makes a target, on the rung of `load` or on a lower one.

        Raises:
            BuildError: user code raised for reasons of its own, or on every rung.
        """
        told: BuildError | None = None
        for mode in LADDER[LADDER.index(load.mode) :]:
            current = load if mode is load.mode else self._load_on(mode, len(load.interceptor.calls))
            found = _same(candidate, current)
            if found is None:
                if current.error is not None and is_too_large(current.error):
                    continue  # a model that the file itself builds
                break
            try:
                target = self._build_on(found, current)
            except BuildError as error:
                if told is not None and mode is BuildMode.INVENTED_VALUES:
                    break  # perhaps the values are at fault
                if not _is_more_worth(error.cause):
                    raise
                told = told or error
            else:
                if mode is BuildMode.INVENTED_VALUES:
                    target.notes.append(_invented(candidate))
                elif told is not None:
                    target.notes.append(f"{candidate.name} was built with {mode.value} tensors: {told}.")
                return target
        assert told is not None
        raise told

    def with_values(self, candidate: Candidate, load: Load, target: BuiltTarget) -> BuiltTarget | str:
        """The target with real tensors or, where they are too large, invented values; or why there is neither."""
        real = self.rebuild_real(candidate, load, target)
        if not isinstance(real, str) or target.mode is BuildMode.INVENTED_VALUES:
            return real
        return self.rebuild_invented(candidate, load) or real

    def rebuild_real(self, candidate: Candidate, load: Load, fake: BuiltTarget) -> BuiltTarget | str:
        """The same target with real tensors, or the reason why there is none."""
        if self.too_large(fake):
            return (
                f"{candidate.name} looks at values and was not run with real tensors, which would take "
                f"{bytes_of(fake) >> 20} MiB (the bound is {self._memory_bound >> 20} MiB)."
            )
        real = self._load_on(BuildMode.REAL, len(load.interceptor.calls))
        found = _same(candidate, real)
        if found is None:
            why = f": {type(real.error).__name__}: {real.error}" if real.error is not None else "."
            return f"{candidate.name} could not be found again when the file was loaded with real tensors{why}"
        try:
            target = self._build_on(found, real)
        except BuildError as error:
            return f"{candidate.name} could not be built with real tensors: {error}."
        target.notes.append("The code looks at values, so it was run with real tensors.")
        return target

    def rebuild_invented(self, candidate: Candidate, load: Load) -> BuiltTarget | None:
        """The same target with invented values, for what looks at values and is too large for real ones; or None."""
        invented = self._load_on(BuildMode.INVENTED_VALUES, len(load.interceptor.calls))
        found = _same(candidate, invented)
        if found is None:
            return None
        try:
            target = self._build_on(found, invented)
        except BuildError:
            return None
        target.notes.append(_invented(candidate))
        return target

    def built_anew(self, candidate: Candidate, outline: BuiltTarget) -> BuiltTarget | None:
        """The target that `outline` is left of, as it was; None where it cannot be built any more."""
        load = self._loads[outline.mode]
        found = _same(candidate, load)
        try:
            target = self._build_on(found, load) if found is not None else None
        except BuildError:
            return None
        return None if target is None else replace(target, notes=outline.notes, **endings_of(outline))

    def reconsider(self, target: BuiltTarget) -> bool:
        """Whether a target for which its class is blamed runs with other inputs, which its inference then names."""
        inference = inference_of(target)
        load = self._loads[target.mode]
        if inference is None:
            return False
        load.modules.activate()
        seed_host(self._seed)
        with self._user_code(load, recording=False):
            return inference.reconsider()

    def too_large(self, fake: BuiltTarget) -> bool:
        """Whether real tensors in place of fake ones would take more memory than is allowed."""
        return bytes_of(fake) > self._memory_bound

    def loaded(self, load: Load, seconds: float = 0.0) -> Loaded:
        """What is told of a file that has been loaded in `seconds`."""
        found = [candidate.found for candidate in load.discovered.candidates]
        return Loaded(found, self.dependencies(), loading.preloadable(load.modules), seconds, list(load.notes))

    def dependencies(self) -> list[str]:
        """The user's other files that were imported on any rung so far."""
        found = set(self._imports.loaded().dependencies(self._request.path))
        for load in self._loads.values():
            found.update(load.modules.dependencies(self._request.path))
            candidates = (
                candidate.inference for candidate in load.discovered.candidates if candidate.inference is not None
            )
            found.update(
                inference.configuration.path for inference in candidates if inference.configuration is not None
            )
        return sorted(found)

    def modules(self) -> list[ModuleType]:
        """The user's modules, and those of libraries, that were loaded on any rung so far."""
        names = {name for load in self._loads.values() for name in load.modules.third_party}
        own = [module for load in self._loads.values() for module in load.modules.own.values()]
        own += [load.module for load in self._loads.values() if load.module is not None]
        return [*own, *(sys.modules[name] for name in sorted(names) if name in sys.modules)]

    def eagerly(self) -> contextlib.AbstractContextManager[Any]:
        """For running a target's code eagerly: devices are redirected and `torch.compile` does nothing."""
        stack = contextlib.ExitStack()
        stack.enter_context(self.devices.active(arguments=self._names_devices))
        stack.enter_context(fake_conversions())
        stack.enter_context(no_addresses())
        interceptor = Interceptor(self._sources)
        self.compiled_inside = interceptor.offered
        stack.enter_context(interceptor.active(recording=False))
        stack.enter_context(saving(self._allowed_to_write, []))
        stack.enter_context(WrittenNowhere())
        return stack

    def as_written(self) -> contextlib.AbstractContextManager[Any]:
        """For running a target's code on real tensors as its user would, but for devices, which are redirected.

        Control flow of torch's (`torch.cond`) compiles its functions, without which it has no gradients.
        """
        return self.devices.active(arguments=self._names_devices)

    def traced(self) -> contextlib.AbstractContextManager[Any]:
        """For tracing a target's code with Dynamo, which would trace what `eagerly` does: devices are redirected."""
        return self.devices.traced() if self._names_devices else contextlib.nullcontext()

    def _load_on(self, mode: BuildMode, stop_at: int = 0) -> Load:
        """Executes the file on one rung, the first time it is asked for."""
        if mode in self._loads:
            return self._loads[mode]
        for earlier in self._loads.values():
            loading.unload(earlier.modules)
            self._backends.forget_later(earlier.modules.own.values())
        if self._loads:
            forget_memoised()
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
        real = mode is BuildMode.REAL
        impatience = _OTHERS_FIRST if self._main is not None else _IMPATIENT
        interceptor = Interceptor(self._sources, stop_at if real else 0, impatience if real else PATIENCE)
        load = Load(mode, new_fake_mode(mode, self._seed), interceptor, Declarations(self._sources))
        self._loads[mode] = load
        self._execute(load)
        if load.error is not None and not self._names_devices and is_about_a_device(load.error):
            loading.unload(load.modules)
            teach_names(str(load.error))
            self._names_devices, load.error = True, None
            self._execute(load)
        self._set_what_scripts_set(load)
        self._names_devices = self._names_devices or any(map(self._mentions, load.modules.own.values()))
        if load.module is not None:
            load.discovered = discover(
                load.module,
                self._request.path,
                self._text,
                self._request.targets,
                interceptor,
                self._sources,
                self._inferring if load.error is None else None,
                self._request.entries,
                (lambda recipe: self._evaluated(recipe, load)) if load.error is None else None,
            )
        return load

    def _execute(self, load: Load) -> None:
        assert self._overlay is not None, "the workshop is not open"
        seed_host(self._seed)
        with self._user_code(load, recording=True), self._watching(load) as calls:
            try:
                loading.run_user_code(self._overlay.execute)
            except LoadStopped as stop:
                load.notes.append(f"The rest of the file was not run: {stop}.")
                load.main = Followed(ended=str(stop)) if self._main is not None else None
                self._go_on(load, stop)
            except BaseException as error:
                refuse(error)
                self._on_error(load, error)
                if load.error is None:
                    self._go_on(load, error)
            load.module = self._overlay.module
            load.absent = list(self._overlay.absent.failures)
            self._pass_over(load, self._overlay.passed_over)
            if self._main is None and load.module is not None and load.error is None:
                self._set_names_of_main(load, load.module)
            if self._main is not None and calls is not None and load.module is not None and load.error is None:
                load.main = load.main or self._main.run(load.module, load.interceptor)
                load.main.called, load.main.uncalled = calls.models()
        load.modules = self._imports.loaded()

    def _go_on(self, load: Load, met: BaseException) -> None:
        """Runs what the rest of the file, which was left, still defines and compiles; notes what that does not reach.

        What it raises is nobody's fault: what it reads may be missing.
        """
        assert self._overlay is not None
        module, rest = self._overlay.module, RestOfFile(tree_of(self._text), self._request.path, met.__traceback__)
        if module is None or rest.line is None:
            return
        names = vars(module)
        again = () if isinstance(met, LoadStopped) else [name for name, value in names.items() if is_compiled(value)]
        declared = [directive.name for directive in read_directives(self._text)[0]]
        for statement in rest.statements(again, declared):
            with contextlib.suppress(Exception, SystemExit, LoadStopped):
                loading.run_user_code(functools.partial(exec, rest.code_of(statement), names))
        places = (call.compiled_at[0].location for call in load.interceptor.offered if call.compiled_at)
        offered = {place.range.start.line for place in places if place.path == self._request.path}
        load.left_at, load.not_reached = rest.line, rest.not_reached(names, offered)

    def _set_names_of_main(self, load: Load, module: ModuleType) -> None:
        """Gives the names that only the main program sets the values that it gives them."""
        names = names_of_main(tree_of(self._text), module)
        vars(module).update(names)
        if names:
            load.notes.append(f"As the main program sets them: {', '.join(names)}.")

    def _watching(self, load: Load) -> contextlib.AbstractContextManager[ModuleCalls | None]:
        """Watches the models of a file whose main program is to be followed."""
        if self._main is None:
            return contextlib.nullcontext()
        return self._main.watching(load.interceptor, fake=load.fake_mode is not None)

    def _evaluated(self, recipe: Recipe, load: Load) -> Any:
        """What an entry gives, evaluated as the end of the file would be."""
        load.modules.activate()
        with self._user_code(load, recording=False):
            value = loading.run_user_code(recipe.run)
        load.modules = self._imports.loaded()
        return value

    def _set_what_scripts_set(self, load: Load) -> None:
        """Loads a file anew that reads environment variables which are not set here, and which its project sets."""
        for _ in range(_MOST_VARIABLES):
            name = lacking_variable(load.error)
            found = set_in_project(name, self._request.path, self._request.project_root) if name is not None else None
            if name is None or found is None:
                return
            os.environ[name], script = found
            where = os.path.relpath(script, self._request.project_root)
            load.notes.append(f"The environment variable {name} was set to {found[0]!r}, as {where} sets it.")
            loading.unload(load.modules)
            load.error = None
            self._execute(load)

    def _mentions(self, module: ModuleType) -> bool:
        text = self._sources.text(module.__file__ or "")
        return text is not None and any(map(mentions, text.lines))

    def _on_error(self, load: Load, error: BaseException) -> None:
        """Keeps the error, unless the stages of a target that is known already will meet it themselves."""
        if why := _met_later(load, error):
            load.notes.append(f"The rest of the file was not run: {why}.")
        else:
            load.error = error

    def _pass_over(self, load: Load, errors: list[Exception]) -> None:
        """Keeps what cells raised, up to what stages will meet themselves: the others may come of that."""
        for index, error in enumerate(errors):
            if why := _met_later(load, error):
                load.notes.append(f"A cell was not run to its end: {why}.")
                load.passed_over = errors[:index]
                return
        load.passed_over = errors

    @contextlib.contextmanager
    def _user_code(self, load: Load, *, recording: bool) -> Iterator[None]:
        with (
            contextlib.nullcontext() if load.mode is BuildMode.REAL else quiet(),
            self.devices.active(arguments=self._names_devices),
            load.interceptor.active(recording=recording),
            load.declarations.recording(),
            saving(self._allowed_to_write, load.notes),
            WrittenNowhere(lambda: not recording or load.interceptor.running),
            weights_left_out(load.notes),
            fake_conversions(),
            no_addresses(),
            nothing_drawn(),
            building(load.mode, load.fake_mode, self._memory_bound),
        ):
            yield

    def _build_on(self, candidate: Candidate, load: Load) -> BuiltTarget:
        load.modules.activate()
        seed_host(self._seed)
        known = len(load.notes)
        with self._user_code(load, recording=False):
            target = build_target(candidate, load.mode, load.fake_mode, load.declarations)
        target.notes += load.notes[known:]
        return target


def _met_later(load: Load, error: BaseException) -> str:
    """Why the stages of a target that is known already will meet what was raised themselves; nothing if they won't."""
    if any(error is raised for raised in load.interceptor.failures):
        return "a compiled call raised"
    if load.interceptor.calls and load.fake_mode is not None and is_limitation(error):
        return "it looks at values, and fake tensors have none"
    return ""


def _is_more_worth(error: BaseException) -> bool:
    """Whether another rung may carry what this one did not."""
    return is_limitation(error) or is_too_large(error)


def _invented(candidate: Candidate) -> str:
    return (
        f"{candidate.name} looks at values, and real tensors would take too much memory: small whole numbers and masks "
        "that are computed from them, such as the choice of experts, were made up from a seed."
    )


def _same(candidate: Candidate, load: Load) -> Candidate | None:
    reserve = (found for candidates in load.discovered.reserve.values() for found in candidates)
    return next((found for found in (*load.discovered.candidates, *reserve) if found.key == candidate.key), None)
