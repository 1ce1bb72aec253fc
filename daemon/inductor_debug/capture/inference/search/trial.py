"""Runs a guess once, on whatever tensors the mode around it makes, and says how far it came and what refused it.

Hooks on all modules tell which one was running, with what; what exceptions say is read in `raised`.
"""

from __future__ import annotations

import contextlib
import functools
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.nn.parameter import UninitializedParameter

from inductor_debug.capture.failures.failed_statement import is_users, steps_of, users_steps
from inductor_debug.capture.inference.search.asked_conflicts import asked_conflict
from inductor_debug.capture.inference.search.dtype_watch import DtypeWatch
from inductor_debug.capture.inference.search.join_watch import Join, JoinWatch
from inductor_debug.capture.inference.search.meta_runs import Around, call_on_meta
from inductor_debug.capture.inference.search.operand_watch import OperandWatch, RefusedOperands
from inductor_debug.capture.inference.search.raised_facts import Raised
from inductor_debug.capture.inference.search.recurrent_steps import OneStep, has_recurrent_layers
from inductor_debug.capture.inference.specs.specs import Guess, make_call
from inductor_debug.capture.running.python_state import PythonState
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.absent_libraries import absent_use
from inductor_debug.capture.tensors.fake_mode import is_fake
from inductor_debug.system.torch_names import refuse

_WORK_OF_A_RUN = 50
"""What a run costs beside its modules, in calls of modules: both take about the same on every machine."""
_NOT_WATCHED: AbstractContextManager[Any] = contextlib.nullcontext()


@dataclass(frozen=True, slots=True)
class Received:
    """A tensor that the refusing module was given."""

    position: int
    shape: tuple[int, ...]
    dtype: str


@dataclass
class TrialOutcome:
    """How a trial ended. `progress` is larger the further it came."""

    guess: Guess
    error: BaseException | None = None
    progress: tuple[int, ...] = ()
    module: nn.Module | None = None
    part: int | None = None
    """Which module that is; a model that is built anew for every trial has the same numbers."""
    received: list[Received] = field(default_factory=list)
    refused: Callable[[], RefusedOperands | None] = lambda: None
    """What contradicts itself where torch refused it, which takes another run."""
    joined: Callable[[], Join] = Join
    """What was to be joined where that was refused, which takes another run."""

    @property
    def raised(self) -> Raised:
        """What the exception says."""
        return Raised.by(self.error)

    @property
    def place(self) -> tuple[tuple[str, int, int], ...]:
        """Where in the user's code it was raised: file, line and instruction of every frame, outermost first."""
        return tuple(user_frames(self.error)) if self.error is not None else ()

    def let_go(self) -> None:
        """Forgets where it was raised, whose variables hold tensors: with values, those of a search fill the memory."""
        error, seen = self.error, set[int]()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            error.__traceback__ = None
            error = error.__cause__ or error.__context__


class Trials:
    """Runs guesses on one model or function.

    Args:
        build: makes the thing to call; called once, or for each trial as long as a module's parameters are lazy.
    """

    def __init__(self, build: Callable[[], Any]) -> None:
        self._build = build
        self.subject = build()
        self.runs = 0
        self.work = 0
        """What the runs took, counted in calls of modules, so that it is the same on every machine."""
        self.success: Guess | None = None
        """The last call that ran."""
        self._lazy = _is_lazy(self.subject)
        self._steps = OneStep() if has_recurrent_layers(self.subject) else _NOT_WATCHED
        self._used = self._materialised = False
        self._grad = False
        self._meta = isinstance(self.subject, nn.Module) and not self._lazy and is_fake(torch.empty(0))
        """Whether the meta device is good enough, as far as is known."""
        self._agreed: set[str] = set()
        """What fake tensors raised, too, when the meta device did."""
        self._stack: list[tuple[nn.Module, Any, Any]] = []
        self._completed = 0

    def watched(self, guess: Guess, around: Around) -> TrialOutcome:
        """Runs the model on `guess` inside `around`, which is given the arguments of the call."""
        self.runs += 1

        def call(subject: Any, guess: Guess) -> None:
            args, kwargs = make_call(guess)
            with torch.set_grad_enabled(self._grad), around(args, kwargs):
                subject(*args, **kwargs)

        return self._run(guess, call)

    def _joined(self, guess: Guess) -> Join:
        """What is to be joined where a run of `guess` ends."""
        watch = JoinWatch([item.name for item in guess.arguments if not item.keyword])
        self.watched(guess, watch.active)
        return watch.join

    def _refused(self, guess: Guess) -> RefusedOperands | None:
        """What contradicts itself where a run of `guess` ends."""
        watch = OperandWatch()

        def on_meta(subject: Any, guess: Guess) -> None:
            call_on_meta(subject, guess, watch.active)

        outcome = self._run(guess, on_meta) if self._meta and not self._grad else self.watched(guess, watch.active)
        if watch.refused is None and self._stack and outcome.error is not None:
            watch.refuse_in_module(*self._stack[-1][:2])
        if watch.error is not outcome.error:
            return asked_conflict(outcome.error, watch.sources_of) or watch.refused
        return watch.refused

    def mixes_dtypes(self, guess: Guess) -> bool:
        """Whether torch refuses the dtypes of a call that ran on the meta device, where no `torch.autocast` holds."""
        watch = DtypeWatch()
        self.watched(guess, lambda args, kwargs: watch)
        return watch.mixed

    def run(self, guess: Guess, watch: AbstractContextManager[Any] = _NOT_WATCHED) -> TrialOutcome:
        """Runs the model on `guess` inside `watch`, which leaves it as it was.

        A run on the meta device is enough where it succeeds, or fails as one on fake tensors did before.
        """
        self.runs += 1

        def on_meta(subject: Any, guess: Guess) -> None:
            call_on_meta(subject, guess, lambda args, kwargs: watch)

        def on_fake(subject: Any, guess: Guess) -> None:
            with watch:
                self._call(subject, guess)

        quick = self._run(guess, on_meta) if self._meta and not self._grad else None
        if quick is not None and (quick.error is None or quick.raised.kind in self._agreed):
            return quick
        outcome = self._run(guess, on_fake)
        if not self._grad and outcome.raised.needs_gradient:
            self._grad = True
            outcome = self._run(guess, on_fake)
        if quick is not None:
            self._meta = outcome.progress == quick.progress and type(outcome.error) is type(quick.error)
            if outcome.raised.kind == quick.raised.kind:
                self._agreed.add(outcome.raised.kind)
        return outcome

    def materialise(self, guess: Guess) -> None:
        """From now on lazy parameters have the sizes that `guess`, which runs, gives them."""
        if self._lazy and not self._materialised:
            self._call(self.fresh(), guess)
            self._materialised = True

    def fresh(self) -> Any:
        """The model as it was before any trial."""
        if self._lazy:
            self.subject = self._build()
        return self.subject

    def _run(self, guess: Guess, call: Callable[[Any, Guess], None]) -> TrialOutcome:
        self._stack, self._completed = [], 0
        self.work += _WORK_OF_A_RUN
        subject = self.fresh() if self._used and not self._materialised else self.subject
        self._used = True
        state = PythonState(subject if isinstance(subject, nn.Module) else None, subject)
        before = register_module_forward_pre_hook(self._enter)
        after = register_module_forward_hook(self._leave)
        try:
            with self._steps:
                call(subject, guess)
        except (Exception, SystemExit) as error:
            refuse(error)
            return self._failed(guess, error)
        except BaseException as error:
            if type(error) is not BaseException:  # only code that is analysed raises it as it is
                raise
            return self._failed(guess, error)
        finally:
            before.remove()
            after.remove()
            state.restore()
        self.success = guess
        return TrialOutcome(guess, None, (1 << 30,))

    def _call(self, subject: Any, guess: Guess) -> None:
        args, kwargs = make_call(guess)
        with torch.set_grad_enabled(self._grad):
            subject(*args, **kwargs)

    def _enter(self, module: nn.Module, args: Any) -> None:
        self.work += 1
        self._stack.append((module, args, None))

    def _leave(self, module: nn.Module, args: Any, output: Any) -> None:
        self._completed += 1
        while self._stack:
            if self._stack.pop()[0] is module:
                break

    def _reached(self, error: BaseException) -> list[int]:
        """The instructions of the outermost frames that are the user's, or else of the file of a library's model.

        Code further down, and further right, was reached later.
        """
        called = self.subject.forward if isinstance(self.subject, nn.Module) else self.subject
        code = foreign.code_of(foreign.plain_function(called))
        own = code.co_filename if code is not None else ""
        steps = users_steps(error) or [item for item in steps_of(error) if item.tb_frame.f_code.co_filename == own]
        return [step.tb_lasti for step in steps[:4]]

    def _number_of(self, module: nn.Module) -> int:
        parts = foreign.parts_of(self.subject) if self._lazy else ()
        return next((number for number, part in enumerate(parts) if part is module), id(module))

    def _failed(self, guess: Guess, error: BaseException) -> TrialOutcome:
        outcome = TrialOutcome(guess, absent_use(error), (self._completed, *self._reached(error)))
        outcome.refused = functools.cache(functools.partial(self._refused, guess))
        if outcome.raised.about_joining:
            outcome.joined = functools.partial(self._joined, guess)
        refusing = _refusing_layer(error) or (self._stack[-1][:2] if self._stack else None)
        if refusing is not None:
            outcome.module, args = refusing
            outcome.part = self._number_of(outcome.module)
            outcome.received = [
                Received(index, tuple(int(size) for size in value.shape), str(value.dtype).removeprefix("torch."))
                for index, value in enumerate(args)
                if isinstance(value, torch.Tensor)
            ]
        return outcome


def user_frames(error: BaseException) -> list[tuple[str, int, int]]:
    """File, line and instruction of the user's frames through which `error` came, outermost first."""
    return [(step.tb_frame.f_code.co_filename, step.tb_lineno, step.tb_lasti) for step in users_steps(error)]


def _refusing_layer(error: BaseException) -> tuple[nn.Module, tuple[Any, ...]] | None:
    """The layer of torch's in whose own code something was raised, and what that was given.

    Hooks see none that is run as `self.conv.forward(x)`.
    """
    found = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        found = None if is_users(frame) else found
        layer = frame.f_locals.get("self") if code.co_name == "forward" else None
        if isinstance(layer, nn.Module) and str(frame.f_globals.get("__name__")).startswith("torch.nn.modules."):
            names = code.co_varnames[1 : code.co_argcount]
            found = layer, tuple(frame.f_locals[name] for name in names if name in frame.f_locals)
    return found


def _is_lazy(subject: Any) -> bool:
    return isinstance(subject, nn.Module) and any(
        isinstance(tensor, UninitializedParameter)
        for part in foreign.parts_of(subject)
        for tensor in (*part._parameters.values(), *part._buffers.values())
    )
