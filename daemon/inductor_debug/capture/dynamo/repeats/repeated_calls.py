"""Has Dynamo trace a module once, and copies the nodes that it made where another call surely makes the same ones.

Eighty equal layers are traced eighty times, for the same nodes with other weights. This watches one trace and keeps, of
each call of a module, what it left behind. A later call takes copies of it where

- the modules are alike in all that they hold (`equal_modules`), and where they differ in a number, nobody looked at it;
- the call is given what the earlier one was given: intermediate tensors that look the same, else the very same things;
- the earlier call did nothing but to add plain nodes (`call_traces`);
- of objects that the trace has made, it takes what looks as it did then (`made_objects`);
- no code of either asked which module it has, or found one where it is not registered (`module_sources`);
- nothing that was there before either of them has changed in between (`traced_changes`).

Whatever is not known to be so is traced as ever. Where copies were made in what turns out not to be the whole target,
`RepeatedError` is raised, and the trace is worth nothing. Guards on what was not traced are missing: nobody may call
again what was compiled so.

Private names of Dynamo's, read against torch 2.13; with another torch nothing is copied.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch.fx import GraphModule, Node

from inductor_debug.capture.dynamo.repeats.argument_looks import given_to
from inductor_debug.capture.dynamo.repeats.call_traces import (
    CallStart,
    CallTrace,
    RepeatableCall,
    TraceMark,
    state_of_torch,
)
from inductor_debug.capture.dynamo.repeats.copied_calls import CopiedCall
from inductor_debug.capture.dynamo.repeats.equal_modules import Forms
from inductor_debug.capture.dynamo.repeats.made_objects import Event, Footprint, MadeObjects
from inductor_debug.capture.dynamo.repeats.module_sources import ModuleSources, identities_watched
from inductor_debug.capture.dynamo.repeats.replaced_methods import replaced
from inductor_debug.capture.dynamo.repeats.traced_changes import TracedChanges
from inductor_debug.capture.runtime import foreign
from inductor_debug.capture.runtime.torch_logs import VARIABLE
from inductor_debug.capture.runtime.trace_log import is_kept

_KNOWN = ("2.13.",)
_MOST_TRIED = 4
"""Of modules that are alike: where they are called with something else each time, that is not compared for long."""
_OF_TORCH = "torch.nn.modules."
_GLOBAL_HOOKS = (
    "_global_forward_hooks",
    "_global_forward_pre_hooks",
    "_global_backward_hooks",
    "_global_backward_pre_hooks",
)


class RepeatedError(BaseException):
    """Leaves a trace with copies in it that is good for nothing; no `Exception`, for Dynamo takes those for its own."""


class RepeatedCalls:
    """The calls of one trace of `model`. `copies` counts those that were not traced."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.copies = 0
        self._forms = Forms()
        self._kept: dict[Any, list[CallTrace]] = {}
        self._tried: dict[Any, int] = {}
        self._called: set[int] = set()
        self._output: Any = None
        self._awake = True
        self._mark = TraceMark()
        self._sources = ModuleSources(model)
        self._objects = MadeObjects(on_asked=self._doze)
        self._changes = TracedChanges(self._kept.clear, self._doze, self._objects.follows)
        counts: dict[type, int] = {}
        for module in foreign.parts_of(model):
            counts[type(module)] = counts.get(type(module), 0) + 1
        self._several = {kind for kind, count in counts.items() if count > 1}

    def give_up(self) -> None:
        """From now on everything is to be traced, and is to have been.

        Raises:
            RepeatedError: copies were made already.
        """
        self._awake = False
        if self.copies:
            raise RepeatedError

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Has calls repeated while it is entered; none where somebody listens to what Dynamo tells of its work."""
        if not torch.__version__.startswith(_KNOWN) or _has_global_hooks() or os.environ.get(VARIABLE) or is_kept():
            yield
            return
        from torch._dynamo.output_graph import SubgraphTracer
        from torch._dynamo.variables.nn_module import UnspecializedNNModuleVariable

        with (
            self._changes.watching(),
            self._objects.watching(),
            identities_watched(self._asked_which),
            replaced(UnspecializedNNModuleVariable, "call_function", self._calling),
            replaced(SubgraphTracer, "create_node", self._making),
            replaced(Node, "_rename", self._renaming),
        ):
            yield
        self._kept.clear()

    def _doze(self) -> None:
        """From now on everything is traced; the copies that were made are good."""
        self._awake = False

    def _asked_which(self) -> None:
        # What is asked outside of such calls is answered by Dynamo itself, and copies are what is told of.
        if self._mark.in_call:
            self._doze()

    def _calling(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call_function(tracker: Any, translator: Any, args: Any, kwargs: Any) -> Any:
            call = self._call_of(tracker, translator, args, kwargs) if self._awake else None
            if call is None:
                return original(tracker, translator, args, kwargs)
            kept = self._kept.setdefault(call.form.key, [])
            for known in kept:
                if known.fits(call):
                    return self._copied(known, call)
            tried = self._tried[call.form.key] = self._tried.get(call.form.key, 0) + 1
            if tried > _MOST_TRIED:
                return original(tracker, translator, args, kwargs)
            self._mark.begin(call)
            self._changes.begin()
            noted = self._objects.begin(call.given.objects)
            try:
                result = original(tracker, translator, args, kwargs)
            finally:
                start, changed, events = self._mark.end(), self._changes.end(), self._objects.end(noted)
            if not changed and self._awake and translator.output is self._output:
                trace = self._understood(lambda: self._traced(start, call, result, events))
                if trace is not None:
                    kept.append(trace)
            return result

        return call_function

    def _traced(self, start: CallStart, call: RepeatableCall, result: Any, events: list[Event]) -> CallTrace | None:
        if not self._sources.are_registered(call.translator.output):
            self._awake = False
            return None
        effects = call.translator.output.side_effects
        footprint = Footprint.of(call.given.objects, events, effects)
        if footprint is None or any(self._changes.has_escaped(each, effects) for each in footprint.reachable()):
            return None
        return CallTrace.of(start, self._mark, call, result, footprint)

    def _copied(self, known: CallTrace, call: RepeatableCall) -> Any:
        self.copies += 1
        try:
            copied = CopiedCall(known, call, self._mark)
            self._objects.add(copied.events())
            return copied.result()
        except Exception as error:
            raise RepeatedError from error

    def _call_of(self, tracker: Any, translator: Any, args: Any, kwargs: Any) -> RepeatableCall | None:
        """The call that begins; None where it is none to repeat, or not understood."""
        if not self._may_repeat(tracker, translator):
            return None
        form = self._understood(lambda: self._forms.of(tracker.value))
        given = None if form is None else self._understood(lambda: given_to(args, kwargs))
        if form is None or given is None:
            return None
        return RepeatableCall(form, given, tracker, translator, state_of_torch(translator))

    def _understood(self, look: Callable[[], Any]) -> Any:
        """What a look at Dynamo's or the model's objects finds; nothing more is looked at where it raises."""
        try:
            return look()
        except Exception:
            self._awake = False
            return None

    def _may_repeat(self, tracker: Any, translator: Any) -> bool:
        module, output = tracker.value, translator.output
        if output is not self._output:
            # Dynamo begins anew, and forgets what it made before.
            self._output = output
            self._kept.clear()
            self._tried.clear()
            self._called.clear()
        again = id(module) in self._called
        self._called.add(id(module))
        if not (again or type(module) in self._several) or isinstance(module, GraphModule):
            return False
        if type(module).__module__.startswith(_OF_TORCH) and not module._modules:
            return False  # a node or two, which copying makes no faster
        plain = output.current_tracer.parent is None and not output.export
        return plain and tracker.source is not None and not tracker.is_state_mutated

    def _making(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def create_node(tracer: Any, kind: str, target: Any, *args: Any, **kwargs: Any) -> Any:
            if kind != "placeholder":
                self._mark.made += 1
            if isinstance(target, HigherOrderOperator) or target is torch.autograd.grad:
                # Both look at how tensors came about, of which a copy knows less.
                self.give_up()
            return original(tracer, kind, target, *args, **kwargs)

        return create_node

    def _renaming(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def rename(node: Node, candidate: str) -> None:
            self._mark.renamed.append((node, candidate, node.graph._root._prev))
            original(node, candidate)

        return rename


def _has_global_hooks() -> bool:
    hooks: Any = torch.nn.modules.module
    return any(getattr(hooks, name, None) for name in _GLOBAL_HOOKS)
