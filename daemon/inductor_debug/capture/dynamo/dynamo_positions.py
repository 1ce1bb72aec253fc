"""Exact positions in Dynamo's graphs: a hook that notes, for every node, the expressions that were being traced.

Torch keeps no more than lines (2.11, 2.12) or start columns (2.13) of them. The hook wraps
`torch._dynamo.output_graph.SubgraphTracer.create_proxy`, walks the chain of inlined translators and reads each one's
`current_instruction.positions`; all of these are private names, read against torch 2.11 to 2.13. Where one is gone, the
hook stays away, and `stack_of_node` falls back to the lines of the public `stack_trace`. Nodes carry plain tuples only,
under a key of their own in `node.meta["custom"]`, and `strip` takes them out again.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, NamedTuple

from inductor_debug.capture.dynamo.line_tables import true_line_tables
from inductor_debug.capture.expressions.instruction_expressions import SourcePositions, positions_at
from inductor_debug.capture.expressions.spans import name_of

KEY = "inductor_debug_stack"
NODE_KEY = "inductor_debug_node"
"""Under this name `node.meta["custom"]` says which node of Dynamo's graph a later one comes from (`graph_tables`)."""
_HAS_COLUMNS = sys.version_info >= (3, 11)
_TRACE_LINE = re.compile(r'^\s*File "(?P<file>.+)", line (?P<line>\d+), in (?P<name>.+)$', re.MULTILINE)

_OF_TORCH = "torch/"
"""How torch names its own files in what it writes for nodes that `torch.export` makes (`torch/_export/utils.py`)."""


class TracedFrame(NamedTuple):
    """One frame of the code that Dynamo traces; plain data, so that graphs with it can be copied and pickled."""

    filename: str
    function: str
    positions: SourcePositions


TracedStack = tuple[TracedFrame, ...]
"""Frames from the innermost inlined function outwards."""


@dataclass
class _Hook:
    """The process's one hook: how many use it, what it replaced, and what it saw last."""

    users: int = 0
    original: Callable[..., Any] | None = None
    last: TracedStack = ()
    names: dict[int, tuple[CodeType, str]] = field(default_factory=dict)


_HOOK = _Hook()


def install() -> bool:
    """Installs the hook, or counts one more user of it; False where this torch has no place for it."""
    if _HOOK.users == 0:
        tracer = _tracer_class()
        if tracer is None:
            return False
        _HOOK.original = tracer.create_proxy
        tracer.create_proxy = _hooked(tracer.create_proxy)
    _HOOK.users += 1
    return True


def uninstall() -> None:
    """Takes the hook out again when its last user is gone."""
    if _HOOK.users == 0:
        return
    _HOOK.users -= 1
    if _HOOK.users == 0:
        tracer = _tracer_class()
        if tracer is not None and _HOOK.original is not None:
            tracer.create_proxy = _HOOK.original
        _HOOK.original, _HOOK.last = None, ()
        _HOOK.names.clear()


@contextmanager
def hooked_positions(*, replacing: bool = False) -> Iterator[None]:
    """Has the hook installed while it is entered.

    Args:
        replacing: keeps Dynamo from formatting a stack for every node itself, which the hook makes superfluous.
    """
    installed = install()
    try:
        with _without_stack_traces() if installed and replacing else nullcontext(), true_line_tables():
            yield
    finally:
        if installed:
            uninstall()


@contextmanager
def _without_stack_traces() -> Iterator[None]:
    """Dynamo leaves out of a node's stack the frames that this method owns up to, and asks it for nothing else."""
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase

    original: Any = getattr(InstructionTranslatorBase, "is_co_filename_from_nn_modules", None)
    if original is None:
        yield
        return
    InstructionTranslatorBase.is_co_filename_from_nn_modules = lambda self: True  # type: ignore[method-assign]
    try:
        yield
    finally:
        InstructionTranslatorBase.is_co_filename_from_nn_modules = original  # type: ignore[method-assign]


def last_stack() -> TracedStack:
    """Where the newest node of the running or last trace came from."""
    return _HOOK.last


def stack_of_translator(translator: Any) -> TracedStack:
    """The stack of an `InstructionTranslatorBase` and those that inline it."""
    frames = []
    for each in chain_of(translator):
        code = each.f_code
        known = _HOOK.names.get(id(code))
        if known is None:
            known = _HOOK.names[id(code)] = (code, name_of(code))
        frames.append(TracedFrame(code.co_filename, known[1], _positions(each, code)))
    return tuple(frames)


def chain_of(translator: Any) -> Iterator[Any]:
    """A translator and those that inline it, from the inside outwards."""
    while translator is not None:
        yield translator
        translator = getattr(translator, "parent", None)


def current_translator() -> Any:
    """The innermost translator that runs now; None outside of a trace."""
    from torch._dynamo import symbolic_convert

    try:
        return symbolic_convert.InstructionTranslator.current_tx().output.current_tx
    except AttributeError:
        return None


def current_stack() -> TracedStack:
    """The stack of the translator that runs now; empty outside of a trace."""
    return stack_of_translator(current_translator())


def stack_of_node(node: Any) -> TracedStack:
    """Where `node` came from: the hook's word, or the lines of its `stack_trace`."""
    custom = node.meta.get("custom")
    if custom and KEY in custom:
        stack: TracedStack = custom[KEY]
        return stack
    lines = [
        TracedFrame(match["file"], match["name"], SourcePositions(int(match["line"]), None, None, None))
        for match in _TRACE_LINE.finditer(node.meta.get("stack_trace") or "")
        if not match["file"].startswith(_OF_TORCH)
    ]
    return tuple(reversed(lines))


def strip(graph_module: Any) -> None:
    """Takes our entries out of a graph and its subgraphs."""
    for module in graph_module.modules():
        graph = getattr(module, "graph", None)
        for node in getattr(graph, "nodes", ()):
            custom = node.meta.get("custom")
            if custom and (KEY in custom or NODE_KEY in custom):
                kept = {key: value for key, value in custom.items() if key not in (KEY, NODE_KEY)}
                if kept:
                    node.meta["custom"] = kept
                else:
                    del node.meta["custom"]


def _tracer_class() -> Any:
    try:
        from torch._dynamo.output_graph import SubgraphTracer
    except ImportError:
        return None
    return SubgraphTracer if hasattr(SubgraphTracer, "create_proxy") else None


def _hooked(original: Callable[..., Any]) -> Callable[..., Any]:
    def create_proxy(self: Any, kind: str, *args: Any, **kwargs: Any) -> Any:
        proxy = original(self, kind, *args, **kwargs)
        if kind.startswith("call_"):
            try:
                _HOOK.last = stack_of_translator(self.output_graph.current_tx)
                meta = proxy.node.meta
                meta["custom"] = {**meta.get("custom", {}), KEY: _HOOK.last}
            except AttributeError:
                # A torch whose translators are built differently: the graph is as good without.
                pass
        return proxy

    return create_proxy


def position_of(translator: Any) -> SourcePositions:
    """Where the instruction stands that a translator is at."""
    return _positions(translator, translator.f_code)


def _positions(translator: Any, code: CodeType) -> SourcePositions:
    instruction = translator.current_instruction
    if _HAS_COLUMNS:
        found = _tested(translator, instruction) or instruction.positions
        if found is not None and found.lineno is not None:
            return SourcePositions(found.lineno, found.end_lineno, found.col_offset, found.end_col_offset)
    elif instruction.offset is not None:
        located = positions_at(code, instruction.offset)
        if located is not None:
            return located
    return SourcePositions(getattr(translator, "lineno", None) or code.co_firstlineno, None, None, None)


def _tested(translator: Any, instruction: Any) -> Any:
    """Where the value is made that a jump looks at, if the jump stands before it; None elsewhere.

    Python 3.11 has all jumps of `if a and b` stand at `a` (python/cpython, `compiler_jump_if`).
    """
    if "_IF_" not in instruction.opname:
        return None
    before = translator.instructions[translator.instruction_pointer - 2].positions
    here = instruction.positions
    if before is None or here is None or None in (*before, *here):
        return None
    return before if (before.lineno, before.col_offset) >= (here.end_lineno, here.end_col_offset) else None
