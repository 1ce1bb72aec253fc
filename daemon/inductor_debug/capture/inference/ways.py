"""The ways to build what inputs are inferred for: from an instance, a directive, or by construction.

Each has a number, by which it is found again on another rung and by the next job.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from inductor_debug.capture.failures.failed_statement import users_steps
from inductor_debug.capture.failures.failures import describe
from inductor_debug.capture.failures.set_up import check_set_up
from inductor_debug.capture.inference import preparing
from inductor_debug.capture.inference.completing import completed, completed_for_a_call
from inductor_debug.capture.inference.construction.call_sites import (
    Call,
    calls_in,
    calls_of_instances,
    calls_of_method,
    set_later,
)
from inductor_debug.capture.inference.construction.construction import constructions
from inductor_debug.capture.inference.construction.given_arguments import DEFAULTS, DIRECTIVE, INSTANCE, Construction
from inductor_debug.capture.inference.construction.reconciling import Changes, reconciled
from inductor_debug.capture.inference.construction.set_later import SetLater, attributes_set_later
from inductor_debug.capture.inference.guessing.written_calls import written_guesses
from inductor_debug.capture.inference.judging.contradiction import is_further, raises_itself
from inductor_debug.capture.inference.judging.doubts import misses_a_value
from inductor_debug.capture.inference.judging.refusing_call import refused_call
from inductor_debug.capture.inference.negative_cache import NotInferableError
from inductor_debug.capture.inference.search.trial import TrialOutcome, Trials, user_frames
from inductor_debug.capture.inference.specs.call_plan import CallPlan
from inductor_debug.capture.inference.specs.specs import Guess
from inductor_debug.capture.inference.surroundings import InferenceSubject, Surroundings
from inductor_debug.capture.inference.values.guarded_execution import SideEffectError, TooLongError, at_most
from inductor_debug.capture.inference.values.symbolic_values import UnknownError
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.absent_libraries import absent_use
from inductor_debug.capture.runtime.containment import refusal_of
from inductor_debug.capture.tensors.fake_mode import SlowWithoutValuesError, is_fake, is_limitation
from inductor_debug.source.notebooks.reading import line_in_words

CONSTRUCTION_SECONDS = 6.0
"""How long all attempts to build one class may take."""
_WITH_VALUES = 15.0
"""How long one may take with real tensors, the last resort for tables that loops fill number by number."""
_MOST_CHANGES = 16
"""How many changes of what a constructor is given are tried where a call does not end."""
_MOST_COMPLETED = 8
"""How often a constructor that raises is given more."""


@dataclass
class Way:
    """One way to get the thing that is called; `changes` are what its constructor is given otherwise than usual."""

    build: Callable[[], Any]
    construction: Construction
    changes: Changes = ()
    bare: Callable[[], Any] | None = None
    """What makes it without the calls of methods that make it ready; None where there are none."""


class Ways:
    """All of them, most trustworthy first."""

    def __init__(self, subject: InferenceSubject, around: Surroundings) -> None:
        self._subject, self._around = subject, around

    def __iter__(self) -> Iterator[Way]:
        """Each way; none is tried."""
        value = self._subject.value
        if self._subject.build is not None:
            yield Way(self._subject.build, Construction(source=DIRECTIVE))
        elif not isinstance(value, type):
            yield Way(lambda: value, Construction(source=INSTANCE))
        else:
            around = self._around
            instances = [item for item in vars(around.module).values() if type(item) is value]
            if instances:
                yield Way(lambda: instances[0], Construction(source=INSTANCE))
            for made in constructions(value, around.module, around.tree, around.path, around.project_root):
                whole = replace(made, invented=(*made.invented, *self._later.made_up))
                yield Way(functools.partial(self._made, whole), whole)

    @functools.cached_property
    def _later(self) -> SetLater:
        """What is set on objects of the class after they are built."""
        around = self._around
        sites = calls_in(around.tree, around.module, around.path, around.project_root)
        place = (around.path, around.project_root)
        return attributes_set_later(self._subject.value, around.module, around.tree, *place, sites)

    def _calls_of_method(self, name: str) -> Iterator[Call]:
        """What the project calls a method of that name with."""
        around = self._around
        sites = calls_in(around.tree, around.module, around.path, around.project_root)
        return calls_of_method(around.project_root, around.path, name, sites, around.module)

    def _set_elsewhere(self, kind: type, name: str) -> tuple[bool, Any]:
        """Whether other code sets an attribute of objects of a class, and the value, which may not be known."""
        around = self._around
        sites = calls_in(around.tree, around.module, around.path, around.project_root)
        found = set_later(around.project_root, around.path, kind.__name__, sites, around.module)
        is_set = name in found or name in around.names.attributes.from_outside.others
        return is_set, found.get(name, UnknownError)

    def says_nothing(self, trials: Trials, error: BaseException) -> bool:
        """Whether a run ended because of where it ran, or at what a method that was not called gives."""
        if isinstance(error, SideEffectError) or is_limitation(error):
            return True
        return isinstance(self._subject.value, type) and preparing.is_unready(error, trials.subject)

    def called_on(self, way: Way) -> tuple[str, ...]:
        """The calls of methods after the constructor, as they would be written."""
        written_out = way.construction.source in (INSTANCE, DIRECTIVE)
        return (*(() if written_out else self._later.calls(self._subject.value)), *way.construction.prepared)

    def _made(self, made: Construction) -> Any:
        """An object of the class, with what is set on it later."""
        return self._later.on(made.call(self._subject.value))

    def numbered(self, number: int, changes: Changes) -> Way | None:
        """One of the ways, with other values for some arguments; None where there are fewer.

        Those below zero are the same ways, from the first on (-1), in evaluation mode.
        """
        if number < 0:
            way = self.numbered(-1 - number, changes)
            return None if way is None else in_evaluation(way)
        way = next(itertools.islice(self, number, None), None)
        return self.changed(way, changes) if way is not None and changes else way

    def instead_of(
        self, number: int, way: Way, failed: TrialOutcome | None, later: Iterator[tuple[int, Way]] | None, most: int
    ) -> Iterator[tuple[int, Way]]:
        """Ways with their numbers that may run where a class does not as it was built in one.

        In evaluation mode, where it has another in training and only misses what is given there, or where nobody is
        to blame and what was run asks for the mode: a normalisation that needs other devices in training. And as the
        project builds it, where its defaults were taken.

        Args:
            number: of the way that failed.
            way: the same.
            failed: the call that came furthest.
            later: the ways after it; None where nobody is to blame.
            most: how many of those.
        """
        error = failed.error if failed is not None else None
        if number >= 0 and error is not None:
            missing = misses_a_value(error) and _looks_at_mode(self._subject.value)
            if missing or (later is None and not is_limitation(error) and _asked_for_the_mode(error)):
                yield -1 - number, in_evaluation(way)
        if later is not None and not way.construction.arguments and way.construction.source == DEFAULTS:
            written = (item for item in later if item[1].construction.arguments and not item[1].construction.invented)
            yield from itertools.islice(written, most)

    def changed(self, way: Way, changes: Changes) -> Way:
        """A way with other values for some arguments."""
        arguments, calls = preparing.apart(changes)
        made, bare = way.construction, way.bare or way.build
        if arguments:
            made = made.changed(arguments)
            bare = functools.partial(self._made, made)
        if not calls:
            return Way(bare, made, changes)
        guessed = (text for call in calls for text in call.made_up)
        invented = tuple(dict.fromkeys((*made.invented, *guessed)))
        made = replace(made, prepared=tuple(call.text(self._subject.name) for call in calls), invented=invented)
        return Way(functools.partial(preparing.prepared, bare, calls), made, changes, bare)

    def first_calls(self, plan: CallPlan) -> list[Guess]:
        """What to call an instance with first: as the project writes its calls down, then as the plan has it."""
        around, kind, usual = self._around, self._subject.value, plan.first()
        if not isinstance(kind, type):
            return [usual]
        calls = calls_of_instances(around.tree, around.module, around.path, around.project_root, kind)
        return [*written_guesses(calls, plan, usual), usual]

    def built(self, way: Way) -> tuple[Trials, Way]:
        """The model of a way to run guesses on; where its constructor raises, of the same way with what that misses.

        Raises:
            NotInferableError: its constructor raised whatever was tried, or did not end.
        """
        try:
            return trials_on(way), way
        except NotInferableError as error:
            first = error
        if not isinstance(first.__cause__, Exception) or not isinstance(self._subject.value, type):
            raise first
        cause, tried = first.__cause__, 0
        with contextlib.suppress(TooLongError), at_most(CONSTRUCTION_SECONDS):
            while tried < _MOST_COMPLETED:
                further = None
                for changes in completed(way.construction, cause, self._subject.value):
                    other, tried = self.changed(way, (*way.changes, *changes)), tried + 1
                    try:
                        return trials_on(other), other
                    except NotInferableError as error:
                        if not isinstance(error.__cause__, Exception):
                            continue
                        if is_limitation(error.__cause__):
                            raise  # another rung may build it
                        if _came_further(error.__cause__, cause):
                            further = other, error.__cause__
                            break
                if further is None:
                    break
                way, cause = further
        raise first

    def better(self, best: TrialOutcome, trials: Trials, way: Way) -> tuple[Trials, Way] | None:
        """The same way with more arguments, or other invented numbers, where a call comes further with them."""
        with contextlib.suppress(TooLongError), at_most(CONSTRUCTION_SECONDS):
            for changes in itertools.islice(self._promising(best, trials, way), _MOST_CHANGES):
                other = self.changed(way, (*way.changes, *changes))
                with contextlib.suppress(NotInferableError):
                    tried = trials_on(other)
                    outcome = tried.run(best.guess)
                    made_ready = len(other.construction.prepared) > len(way.construction.prepared)
                    if outcome.error is None or is_further(outcome, best) or (made_ready and _is_past(outcome, best)):
                        return tried, other
        return None

    def _promising(self, best: TrialOutcome, trials: Trials, way: Way) -> Iterator[Changes]:
        """What may get a call further: an optional argument that it misses, two sizes that are equal."""
        if best.error is not None and isinstance(self._subject.value, type):
            yield from completed_for_a_call(way.construction, best.error, trials.subject)
            if way.construction.source != INSTANCE:
                yield from preparing.preparations(best.error, trials.subject, way.build, self._calls_of_method)
                yield from preparing.settings(best.error, trials.subject, self._set_elsewhere)
        if not way.construction.invented:
            return
        refused = refused_call(trials, best.guess)
        left, right = (refused.pair if refused is not None and refused.is_about_sizes else None) or ("", "")
        if isinstance(left, int) and isinstance(right, int) and left > 0 < right:
            yield from reconciled(way.construction, left, right)


def in_evaluation(way: Way) -> Way:
    """The same way, and then `eval()`."""

    def build() -> Any:
        model = way.build()
        return model.eval() if foreign.is_a(model, torch.nn.Module) else model

    return replace(way, build=build)


def _came_further(error: Exception, before: Exception) -> bool:
    """Whether a constructor came further than before: to a later instruction, or to something else in the same one."""
    reached, earlier = ([step.tb_lasti for step in users_steps(one)] for one in (error, before))
    return reached > earlier or (reached == earlier and describe(error) != describe(before))


def _is_past(outcome: TrialOutcome, best: TrialOutcome) -> bool:
    """Whether a call got past what it had ended at, though no further in the text, or another rung must tell."""
    if outcome.error is None or best.error is None or is_limitation(outcome.error):
        return True
    lines, before = ([step[:2] for step in one.place] for one in (outcome, best))
    if lines == before:
        return describe(outcome.error) != describe(best.error)
    # It took another way than to where it had raised itself.
    return lines[:-1] == before[:-1] and bool(before) and raises_itself(*before[-1])


def _looks_at_mode(kind: Any) -> bool:
    """Whether a class of modules does something else in training, as its own methods say."""
    if not foreign.is_a(kind, type) or not issubclass(kind, torch.nn.Module):
        return False
    own = (base for base in kind.__mro__ if not foreign.module_name(base).startswith("torch."))
    codes = (foreign.code_of(method) for base in own for method in foreign.namespace(base).values())
    return any(code is not None and "training" in code.co_names for code in codes)


def _asked_for_the_mode(error: BaseException) -> bool:
    """Whether a function of the user's through which an error came asks whether it runs in training."""
    return any("training" in step.tb_frame.f_code.co_names for step in users_steps(error))


def trials_on(way: Way) -> Trials:
    """Builds the model to run guesses on.

    Raises:
        NotInferableError: its constructor raised, did not end, or left out that of its base.
    """

    def whole() -> Any:
        model = way.build()
        if isinstance(model, torch.nn.Module):
            check_set_up(model)
        return model

    trials: Trials = built_in_time(lambda: Trials(whole))
    return trials


def built_in_time(build: Callable[[], Any]) -> Any:
    """What `build` makes.

    Raises:
        NotInferableError: it raised, or took longer.
    """
    try:
        with at_most(CONSTRUCTION_SECONDS if is_fake(torch.empty(0)) else _WITH_VALUES):
            return build()
    except TooLongError as error:
        slow = SlowWithoutValuesError(str(error)) if error.worked and is_fake(torch.empty(0)) else None
        raise NotInferableError(f"its constructor did not end: {error}", lasting=error.worked) from slow
    except preparing.NotReadyError as error:
        raise NotInferableError(f"it could not be made ready: {error}") from None
    except SideEffectError as error:
        raise NotInferableError(f"its constructor touches the world: {error}") from None
    except (Exception, SystemExit) as error:
        where, refused = _where(user_frames(error)), refusal_of(absent_use(error))
        if refused is not None:
            raise NotInferableError(f"its constructor was stopped{where}: {refused}") from refused
        raise NotInferableError(f"its constructor raised {describe(error).rstrip('.')}{where}") from error


def _where(frames: list[tuple[str, int, int]]) -> str:
    """` in line 12`, or ` in line 12 of parts.py` where another file than the outermost frame's raised; else empty."""
    if not frames:
        return ""
    file, line, _ = frames[-1]
    of = "" if file == frames[0][0] else f" of {os.path.basename(file)}"
    return f" in {line_in_words(file, line - 1)}{of}"
