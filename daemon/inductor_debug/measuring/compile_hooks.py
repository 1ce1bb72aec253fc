"""Has torch tell a clock what its compiler does: its timed events, instructions that Dynamo traces, nodes of graphs.

Nodes are what an interpreter of graphs runs: AOTAutograd's tracing and Inductor's lowering are such. Read against torch
2.11 to 2.14, and private but for `torch.fx.Interpreter`: `log_event_start` and `log_event_end` of
`torch._dynamo.utils.ChromiumEventLogger`, `torch._dynamo.symbolic_convert.InstructionTranslatorBase.step` with
`nn_module_stack`, and `torch._inductor.graph.GraphLowering.run_node`. Where one is gone, its intervals are missing and
their time belongs to what surrounds them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from inductor_debug.capture.dynamo.dynamo_positions import position_of, stack_of_node
from inductor_debug.capture.running.modules import NodeModules
from inductor_debug.measuring.compile_clock import CompileClock, TorchEvent, TracedInstruction, Work, WorkedNode
from inductor_debug.rules.recording.compiler_phases import phase_of

Method = Callable[..., Any]


@contextmanager
def watched(clock: CompileClock, names: dict[int, str]) -> Iterator[None]:
    """Has torch tell the clock what it does, until it is left.

    Args:
        clock: is told.
        names: identity of a module to its dotted path in the target.
    """
    hooks = _Hooks(clock, names)
    patched = [(owner, name, getattr(owner, name), instead) for owner, name, instead in hooks.places()]
    for owner, name, original, instead in patched:
        setattr(owner, name, instead(original))
    try:
        yield
    finally:
        for owner, name, original, _ in patched:
            setattr(owner, name, original)


class _Hooks:
    def __init__(self, clock: CompileClock, names: dict[int, str]) -> None:
        self._clock = clock
        self._modules = NodeModules(names)
        self._known: dict[Hashable, str] = {}

    def places(self) -> list[tuple[Any, str, Callable[[Method], Method]]]:
        """The methods of this torch that are replaced, and what makes the replacement of each."""
        from torch._dynamo import symbolic_convert, utils
        from torch._inductor import graph

        logger = getattr(utils, "ChromiumEventLogger", None)
        wanted: list[tuple[Any, str, Callable[[Method], Method]]] = [
            (logger, "log_event_start", self._event_start),
            (logger, "log_event_end", self._event_end),
            (getattr(symbolic_convert, "InstructionTranslatorBase", None), "step", self._stepping),
            (torch.fx.Interpreter, "run_node", self._working),
            (getattr(graph, "GraphLowering", None), "run_node", self._working),
        ]
        return [place for place in wanted if hasattr(place[0], place[1])]

    def _event_start(self, original: Method) -> Method:
        def log_event_start(logger: Any, event_name: str, *args: Any, **kwargs: Any) -> Any:
            result = original(logger, event_name, *args, **kwargs)
            # Other events may end inside of an instruction that began after them, as `bytecode_tracing` does.
            if phase_of(event_name) is not None:
                self._clock.begin(event_name)
            return result

        return log_event_start

    def _event_end(self, original: Method) -> Method:
        def log_event_end(logger: Any, event_name: str, *args: Any, **kwargs: Any) -> Any:
            self._clock.end_event(event_name)
            return original(logger, event_name, *args, **kwargs)

        return log_event_end

    def _stepping(self, original: Method) -> Method:
        def step(translator: Any) -> Any:
            begun = self._clock.begin()
            try:
                return original(translator)
            finally:  # only now: a step begins by going on to its instruction
                self._clock.end(begun, self._instruction(translator))

        return step

    def _working(self, original: Method) -> Method:
        def run_node(interpreter: Any, node: Any, *args: Any, **kwargs: Any) -> Any:
            begun = self._clock.begin()
            try:
                return original(interpreter, node, *args, **kwargs)
            finally:
                self._clock.end(begun, WorkedNode(stack_of_node(node), self._modules.path(node)))

        return run_node

    def _instruction(self, translator: Any) -> Work:
        try:
            module = self._module(translator.nn_module_stack)
            return TracedInstruction(translator.f_code, position_of(translator), module)
        except AttributeError:  # a torch whose translators are built differently: it is tracing, nobody knows of what
            return TorchEvent("step")

    def _module(self, stack: dict[str, tuple[str, Any]] | None) -> str:
        innermost = next(reversed(stack), None) if stack else None
        known = self._known.get(innermost)
        if known is None:
            known = self._known[innermost] = self._modules.of_stack(stack) or ""
        return known
