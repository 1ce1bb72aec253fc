"""Infers how to build one class and what to call it with; the one door to this package for the rest of `capture`.

Runs inside the modes that the target builder has set up. Inputs with which a class last ran judge its edits. Where no
inputs run, the class is blamed if what fails does not depend on the guess (`Blame`): the target is then given the call
that came furthest, and its stages tell what they meet. Else it is a `NotInferableError`, which is nobody's fault.
"""

from __future__ import annotations

import datetime
import functools
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from inductor_debug_schema import Blame, InferenceHint, Inferred

from inductor_debug.capture.inference import hints, negative_cache
from inductor_debug.capture.inference.construction.configuration_files import WrittenConfiguration
from inductor_debug.capture.inference.construction.given_arguments import Construction
from inductor_debug.capture.inference.guessing import pretrained
from inductor_debug.capture.inference.guessing.input_candidates import NoSignatureError, plan_for
from inductor_debug.capture.inference.judging.avoided_failures import AvoidedFailure, avoided_failure
from inductor_debug.capture.inference.judging.blame import headless, is_evident, raises_always, takes_itself_for_input
from inductor_debug.capture.inference.judging.coincidences import coincidences
from inductor_debug.capture.inference.judging.constructor_faults import is_constructors_fault
from inductor_debug.capture.inference.judging.defaults import because, unusable_default, unusable_defaults
from inductor_debug.capture.inference.judging.options import Judgement, judged
from inductor_debug.capture.inference.judging.own_dtypes import mixing_own_dtypes
from inductor_debug.capture.inference.judging.remarks import Remark
from inductor_debug.capture.inference.negative_cache import NotInferableError, refuse_headless, why_not_found
from inductor_debug.capture.inference.search import input_search
from inductor_debug.capture.inference.search.dtype_watch import DtypeWatch
from inductor_debug.capture.inference.search.dynamic_dims import Found, numbers_of
from inductor_debug.capture.inference.search.input_search import MOST_RUNS, NotFound, search
from inductor_debug.capture.inference.search.trial import TrialOutcome, Trials
from inductor_debug.capture.inference.specs.call_plan import CallPlan
from inductor_debug.capture.inference.specs.rendering import (
    arguments_of,
    directive_of,
    inputs_of,
    signature_of,
    tensors_of,
)
from inductor_debug.capture.inference.specs.size_names import names_of
from inductor_debug.capture.inference.specs.specs import Guess, make_call
from inductor_debug.capture.inference.surroundings import InferenceSubject, InferredCall, Surroundings
from inductor_debug.capture.inference.values.guarded_execution import TooLongError, at_most, harmless
from inductor_debug.capture.inference.ways import CONSTRUCTION_SECONDS, Way, Ways, built_in_time, trials_on
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.tensors.fake_mode import is_fake, is_limitation

_LONGEST_SEARCH = 20.0
"""Seconds after which a run is broken off: one run of a huge model may take longer than a whole search."""
_Blamed = list[tuple[TrialOutcome, Construction]]
_MOST_WAYS = 8
_SEARCHED_WAYS = 2
_MOST_RECONCILED = 3
"""How often a constructor is given more, or other numbers, because no call ends."""
_RUNS_FOR_OTHERS = 60
"""How often other inputs are tried for a class that does not run with those which it last ran with."""


def inference_of(target: BuiltTarget) -> Inference | None:
    """What inferred the inputs of a target, where nobody gave any."""
    return target.inference if isinstance(target.inference, Inference) else None


def symbols_of(target: BuiltTarget) -> dict[int, str]:
    """What the free sizes of a target's traced call are called, by number; none where nobody inferred them."""
    inference = inference_of(target)
    return inference.symbols() if inference is not None else {}


class Inference:
    """Infers once, when the model is first asked for."""

    def __init__(self, subject: InferenceSubject, around: Surroundings) -> None:
        self._subject, self._around = subject, around
        self._ways = Ways(subject, around)
        self.name = subject.name
        self.result: Inferred | None = None
        self.invented = False
        """Whether constructor arguments were made up, so that sizes of the model itself are ours."""
        self.configuration: WrittenConfiguration | None = None
        """The table of a file that the constructor was given."""
        self.prepared: tuple[str, ...] = ()
        """The calls that made the model ready."""
        self.free = False
        """Whether some dimension of the inputs is free."""
        self._answer: InferredCall | None = None

    def model(self) -> Any:
        """The built model, or the function.

        Raises:
            NotInferableError: no way to build it, or no inputs that it takes.
        """
        started = time.perf_counter()
        name, around = self._subject.name, self._around
        known = around.answers.get(name)
        with harmless():
            if known is not None:
                return self._repeat(known)
            refuse_headless(headless(self._subject.value))
            refused = negative_cache.known(around.refused(name), self._subject.value, around.place())
            if refused is not None and not around.retry:
                raise refused
            try:
                model = self._with_kept()
                return model if model is not None else self._infer()
            finally:
                around.spent[name] = around.spent.get(name, 0.0) + time.perf_counter() - started

    def reconsider(self) -> bool:
        """Looks for other inputs for a class that does not run with those which it last ran with.

        As long as a search takes; what the class raises need not wait for it.

        Returns:
            Whether there are such inputs, and `blame` and `result` name them now.
        """
        answer = self._answer
        way = self._ways.numbered(answer.way, answer.changes) if answer is not None else None
        if answer is None or answer.last_ran is None or way is None:
            return False
        with harmless():
            try:
                trials = trials_on(way)
            except NotInferableError:
                return False
            others = self._search(trials, way, start=answer.last_ran.guess, runs=_RUNS_FOR_OTHERS)
            if isinstance(others, NotFound) or not answer.last_ran.free <= others.free:
                return False
            if coincidences(trials, others, way.construction.sizes):
                return False
        blame = Blame(proven=False, instead=signature_of(others.guess, self._names(others)))
        self._take(replace(answer, blame=blame, last_ran=None), way)
        return True

    def inputs(self, *, static: bool = False) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of the call; `static` marks no dimension as dynamic.

        Where tensors have no values, free sizes are ones that the model has nowhere; real tensors have the usual ones.
        """
        assert self._answer is not None, "the model comes first"
        found = self._answer.found
        if static or not is_fake(torch.empty(0)):
            return make_call(found.guess, free=frozenset() if static else found.free)
        return make_call(found.traced, free=found.free)

    def made_up(self, model: Any) -> frozenset[int]:
        """The sizes of the call to `model` that nobody asked for, as numbers."""
        if self._answer is None:
            return frozenset()
        found = self._answer.found
        sizes = found.traced.size_of()
        fixed = {sizes[name] for name in found.traced.used_sizes() if name not in found.free} - numbers_of(model)
        return frozenset(size for size in {*fixed, *(sizes[name] for name in found.free)} if size > 2)

    def lengths(self) -> frozenset[int]:
        """The lengths of the lists in the call, which nobody asked for."""
        return self._answer.found.guess.list_lengths() if self._answer is not None else frozenset()

    def symbols(self) -> dict[int, str]:
        """What the free sizes of the traced call are called in the signature, by number."""
        if self._answer is None:
            return {}
        found = self._answer.found
        traced = found.traced.size_of()
        return {traced[name]: symbol for name, symbol in self._names(found).items()}

    def usual_sizes(self) -> dict[str, int]:
        """The free sizes that users are shown, by the names of `symbols`."""
        if self._answer is None:
            return {}
        sizes = self._answer.found.guess.size_of()
        return {symbol: sizes[name] for name, symbol in self._names(self._answer.found).items()}

    def _names(self, found: Found) -> dict[str, str]:
        """What the free sizes of a call are called."""
        return names_of(found.guess, found.free, found.traced.size_of(), self._subject.value)

    def tensors(self) -> list[str]:
        """The tensors of the call as `f32[2, 64]`, in order; none where nothing was inferred."""
        return tensors_of(self._answer.found.guess) if self._answer is not None else []

    @property
    def precision_known(self) -> bool:
        """Whether the model has the precision that its code gives it: no script converts it."""
        return not self._around.names.converts

    @property
    def blame(self) -> Blame | None:
        """That the class is at fault where its inputs do not run; None where inputs were found that do."""
        return self._answer.blame if self._answer is not None else None

    def remarks(self) -> list[Remark]:
        """Other calls that the model refuses though its code does not say so."""
        return self._answer.remarks if self._answer is not None else []

    def otherwise(self, remark: Remark) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call that the model refuses."""
        return make_call(remark.otherwise)

    def hint(self) -> InferenceHint | None:
        """The inputs that run, for the next job on this file; None where there are none, or they cannot be kept."""
        if self._answer is None or self.result is None or self._answer.blame is not None:
            return None
        name, around = self._subject.name, self._around
        key = hints.key_of(name, around.tree, around.text)
        since = self._answer.since or datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        kept = hints.KeptInputs(self._answer.way, self.result.init, self._answer.found, since, self._answer.changes)
        answer = hints.written(kept)
        evidence = hints.evidence_of(name, around.tree, around.text)
        return InferenceHint(name, key, answer, evidence) if key and answer and evidence else None

    def refusal(self, cause: BaseException) -> InferenceHint | None:
        """That nothing was inferred, for the next job on this file; None where it cannot be kept."""
        name = self._subject.name
        spent = self._around.spent.get(name, 0.0)
        return negative_cache.written(name, self._subject.value, self._around.place(), cause, spent)

    def _with_kept(self) -> Any:
        """The model with the inputs that it last ran with under the same declarations; None where there are none.

        They judge the text as it is now: where it does not run with them, that is to be told.

        Raises:
            NotInferableError: the constructor raises for arguments that it took before.
        """
        hint = self._around.kept(self._subject.name)
        kept = hints.read(hint.answer) if hint is not None else None
        way = self._ways.numbered(kept.way, kept.changes) if kept is not None else None
        if kept is None or way is None or arguments_of(way.construction.arguments) != kept.init:
            return None
        try:
            trials = trials_on(way)
        except NotInferableError as error:
            if error.__cause__ is None or is_limitation(error.__cause__):
                return None
            raise NotInferableError(error.reason, blames=True) from error.__cause__
        try:
            with at_most(_LONGEST_SEARCH):
                answer = self._judged_by(kept, way, trials)
        except TooLongError:
            return None
        if answer is not None:
            self._take(answer, way)
            return trials.fresh()
        return None

    def _judged_by(self, kept: hints.KeptInputs, way: Way, trials: Trials) -> InferredCall | None:
        """What becomes of the class with kept inputs; None where that cannot be said."""
        watch = DtypeWatch()
        outcome = trials.run(kept.found.traced, watch)
        mixed = watch.mixed and self.precision_known
        if outcome.error is None and not (mixed and trials.mixes_dtypes(kept.found.traced)):
            return self._answered(kept.way, way, input_search.freed(trials, kept.found), trials, kept.since)
        raised = outcome.error
        if raised is not None and self._ways.says_nothing(trials, raised):
            return None
        # The usual sizes are told rather than those of the traced call, unless they run by chance.
        by_chance = raised is not None and trials.run(kept.found.guess).error is None
        guess = kept.found.traced if by_chance else kept.found.guess
        last_ran = None if raised is None or self._is_evident(way, outcome) else kept.found
        found, blame = Found.only(guess), Blame(proven=True)
        return InferredCall(kept.way, found, blame, kept.since, changes=kept.changes, last_ran=last_ran)

    def _repeat(self, known: InferredCall) -> Any:
        way = self._ways.numbered(known.way, known.changes)
        if way is None:
            raise NotInferableError("the file has changed while it was analysed")
        model = built_in_time(way.build)
        self._take(known, way)
        return model

    def _infer(self) -> Any:
        started = time.process_time()
        failure: NotInferableError | None = None
        searched, lasting = 0, True
        blamed: _Blamed = []
        ways = enumerate(self._ways)
        for number, way in ways:
            if number >= _MOST_WAYS or searched >= _SEARCHED_WAYS:
                break
            if number and time.process_time() - started > CONSTRUCTION_SECONDS:
                lasting = False
                break
            try:
                trials, taken = self._ways.built(way)
            except NotInferableError as error:
                cause, made = error.__cause__, way.construction
                if cause is not None and is_limitation(cause):
                    raise
                if cause is not None and is_constructors_fault(cause, self._subject.value, made, self._around.names):
                    raise NotInferableError(error.reason, blames=True) from cause
                failure, lasting = failure or error, lasting and error.lasting
                continue
            searched, built = searched + 1, time.process_time()
            found = self._search(trials, taken, start=self._around.reached.get((self.name, number)))
            if isinstance(found, NotFound):
                found, trials, taken = self._reconciled(found, trials, taken)
            answer = self._answer_of(found, number, taken, trials, blamed)
            evident = isinstance(found, NotFound) and found.evident
            if (answer is None or answer.blame is not None) and not evident:
                later = None if answer is None else ways
                answer, taken, trials = self._otherwise(number, taken, found, later) or (answer, taken, trials)
            started += time.process_time() - built  # what is run has limits of its own
            if answer is not None:
                self._take(answer, taken)
                return trials.fresh()
            assert isinstance(found, NotFound)
            reason = why_not_found(found, taken.construction)
            if found.is_limited:
                if found.best is not None:
                    self._around.reached[self.name, number] = found.best.guess
                raise reason from found.error
            failure, lasting = reason, lasting and found.lasting
        failure = failure or NotInferableError("there is no way to build it")
        failure.lasting = lasting
        raise failure

    def _otherwise(
        self, number: int, way: Way, found: Found | NotFound, later: Iterator[tuple[int, Way]] | None
    ) -> tuple[InferredCall, Way, Trials] | None:
        """The class with a call that runs as it is built in another way than the one in which none ran."""
        failed = found.best if isinstance(found, NotFound) else None
        for index, other in self._ways.instead_of(number, way, failed, later, _SEARCHED_WAYS):
            try:
                trials = trials_on(other)
            except NotInferableError:
                continue
            seen = self._search(trials, other)
            if later is None and isinstance(seen, NotFound) and seen.is_limited:
                raise why_not_found(seen, other.construction) from seen.error
            answer = self._answer_of(seen, index, other, trials, []) if isinstance(seen, Found) else None
            if answer is not None and answer.blame is None:
                return answer, other, trials
        return None

    def _reconciled(self, found: NotFound, trials: Trials, way: Way) -> tuple[Found | NotFound, Trials, Way]:
        """The search on the same way with what the constructor was not given, or with other invented numbers.

        Others are taken only where the call that came furthest comes further with them.
        """
        for _ in range(_MOST_RECONCILED):
            if found.best is None or found.evident:
                break
            better = self._ways.better(found.best, trials, way)
            if better is None:
                break
            trials, way = better
            again = self._search(trials, way, start=found.best.guess)
            if isinstance(again, Found):
                return again, trials, way
            found = again
        return found, trials, way

    def _answer_of(
        self, found: Found | NotFound, number: int, way: Way, trials: Trials, blamed: _Blamed
    ) -> InferredCall | None:
        """What a search came to: a call that runs, or one for which the class is to blame; None where nobody knows.

        `blamed` are the failures for which earlier ways of building the class were nearly blamed, and is added to.
        """
        if isinstance(found, NotFound):
            refuse_headless(takes_itself_for_input(found.error) if found.error is not None else None)
            judgement = self._judgement(trials, way, found)
            sure = judgement.runs is None and (found.evident or self._is_sure(judgement, way, blamed))
            at_fault = judgement.blamed if sure else None
            runs = judgement.runs or (input_search.of_a_batch_of_one(trials, found.best) if at_fault is None else None)
            if at_fault is not None:
                certain = at_fault.error is not None and raises_always(at_fault.error)
                proven = certain or not (way.construction.is_guessed or judgement.because)
                blame = Blame(proven, because=judgement.because)
                return InferredCall(number, Found.only(at_fault.guess), blame, changes=way.changes)
            if runs is None:
                return None
            found = input_search.agreed(trials, runs, functools.partial(self._plan, trials.subject, way))
        avoided = self._avoided(trials, way, found.guess)
        if isinstance(avoided, Found):
            found = avoided
        elif avoided is not None:
            blame = Blame(False, signature_of(found.guess, self._names(found)), avoided.because)
            return InferredCall(number, Found.only(avoided.outcome.guess), blame, changes=way.changes)
        return self._answered(number, way, found, trials)

    def _avoided(self, trials: Trials, way: Way, guess: Guess) -> AvoidedFailure | Found | None:
        """What a call that runs avoids, if the class is at fault there, or one that runs and avoids nothing."""
        if way.construction.is_guessed:
            return None
        search = functools.partial(self._search, trials, way)
        try:
            with at_most(_LONGEST_SEARCH):
                plan = self._plan(trials.subject, way)
                return avoided_failure(trials, plan, guess, search, precision_known=self.precision_known)
        except (TooLongError, NoSignatureError):
            return None

    def _answered(self, number: int, way: Way, found: Found, trials: Trials, since: str = "") -> InferredCall:
        plan = functools.partial(self._plan, trials.subject, way)
        remarks = coincidences(trials, found, way.construction.sizes, plan)
        if not self._around.is_part(self._subject.name):
            remarks += unusable_defaults(trials, found.guess, plan)
        return InferredCall(number, found, since=since, remarks=remarks, changes=way.changes)

    def _judgement(self, trials: Trials, way: Way, found: NotFound) -> Judgement:
        """Whose fault it is that no call ran."""
        if found.best is None or found.error is None or found.is_limited:
            return Judgement()
        if found.evident:
            return Judgement(blamed=found.best)
        try:
            with at_most(_LONGEST_SEARCH):
                plan = self._plan(trials.subject, way)
                # A part is called as its owner calls it, which gives what is not there by default.
                is_part = self._around.is_part(self._subject.name)
                default = None if is_part else unusable_default(trials, found.best.guess, plan)
                if default is not None:
                    return Judgement(blamed=default[1], because=because(default[0]))
                mixing = mixing_own_dtypes(trials, plan, found.best.guess) if self.precision_known else None
                if mixing is not None:
                    return Judgement(blamed=mixing, is_about_dtypes=True) if mixing.error else Judgement(mixing.guess)
                return judged(trials, plan, found.best, precision_known=self.precision_known)
        except (TooLongError, NoSignatureError):
            return Judgement()

    def _is_sure(self, judgement: Judgement, way: Way, blamed: _Blamed) -> bool:
        """Whether arguments of the constructor that nobody wrote down had no part in it: others meet the same.

        What is refused for its kind may be of the wrong kind in all of them. No number changes dtypes.
        """
        if not way.construction.is_guessed or judgement.is_about_dtypes:
            return True
        made = way.construction
        # The right collection may have another length, and the right module does something else.
        open_ended = made.has_invented_code or any(isinstance(value, list | tuple) for value in made.invented_values)
        if judgement.blamed is None or open_ended or not judgement.has_facts:
            return False
        before, place = list(blamed), judgement.blamed.place
        blamed.append((judgement.blamed, made))
        return any(one.place == place and not made.shares_invented_numbers(other) for one, other in before)

    def _plan(self, subject: Any, way: Way) -> CallPlan:
        made = plan_for(subject, way.construction.numbers, way.construction.sizes, way.construction.image_sides)
        if pretrained.is_pretrained(subject):
            pretrained.refine(made, subject)
        return made

    def _is_evident(self, way: Way, outcome: TrialOutcome) -> bool:
        """Whether what a call raised comes of the code alone, whatever it is called with."""
        assert outcome.error is not None
        made, known = way.construction, self._around.names
        kinds, code = made.invented_kinds, made.has_invented_code
        return is_evident(outcome.error, known, outcome.guess, invented=made.is_guessed, kinds=kinds, code=code)

    def _search(
        self,
        trials: Trials,
        way: Way,
        given: CallPlan | None = None,
        *,
        start: Guess | None = None,
        runs: int = MOST_RUNS,
    ) -> Found | NotFound:
        subject, numbers = trials.subject, way.construction.numbers
        known = given is None and pretrained.is_pretrained(subject)
        plan = functools.cache(lambda: given or self._plan(subject, way))
        evident = functools.partial(self._is_evident, way)
        start = start or (pretrained.likeliest(subject, numbers) if known else None)
        try:
            starts = [start] if start is not None else self._ways.first_calls(plan())
        except NoSignatureError as error:
            return NotFound(error, 0, 0.0)
        try:
            with at_most(_LONGEST_SEARCH):
                return search(trials, plan, starts, self._around.stuck, evident, runs=runs)
        except TooLongError as error:
            if trials.success is not None:
                return Found(trials.success, frozenset(trials.success.used_sizes()), trials.success)
            return NotFound(TimeoutError(str(error)), trials.runs, _LONGEST_SEARCH, lasting=error.worked)

    def _take(self, answer: InferredCall, way: Way) -> None:
        self._answer = self._around.answers[self._subject.name] = answer
        found = answer.found
        self.invented, self.free = way.construction.is_guessed, bool(found.free)
        self.configuration, self.prepared = way.construction.configuration, self._ways.called_on(way)
        init = arguments_of(way.construction.arguments)
        self.result = Inferred(
            signature=signature_of(found.guess, self._names(found)),
            inputs=inputs_of(found.guess),
            init=init,
            directive=directive_of(found.guess, init, prepared=bool(self.prepared)),
            invented=list(way.construction.invented),
            kept_since=answer.since,
            instead=answer.blame.instead if answer.blame is not None else "",
        )
