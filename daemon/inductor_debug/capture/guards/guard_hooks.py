"""Listens to Dynamo's guards: when one is made and by which expression, and when a call breaks those of earlier graphs.

Private names, read against torch 2.11 to 2.13: `torch._guards.GuardsSet.add` (through which every guard passes),
`get_and_maybe_log_recompilation_reasons` in `torch._dynamo.convert_frame` (called with the cache entries that did not
fit: a list in 2.13, before it the first of a chain by `next`), `CompileContext.current_compile_id`,
`InstructionTranslator.current_tx`, `_debug_get_cache_entry_list`, and the guard managers of cache entries (`root`,
`get_leaf_guards`, `get_child_managers`, `get_key_value_managers`, `get_source`, `verbose_code_parts`). Where one is
gone, that much is not told; the compilation itself goes on undisturbed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType
from typing import Any

from inductor_debug.capture.dynamo.dynamo_breaks import stack_of_summaries
from inductor_debug.capture.dynamo.dynamo_positions import TracedStack, current_stack


@dataclass(frozen=True, slots=True)
class RawGuard:
    """A guard as it was made: for which compilation, of which kind (`TENSOR_MATCH`), on what (`L['x']`), and where."""

    compilation: str
    kind: str
    source: str
    stack: TracedStack


@dataclass(frozen=True, slots=True)
class GuardCheck:
    """One guard of a finished graph, as code that is true or false: `kind` as the guard manager calls it."""

    kind: str
    source: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """An earlier version of a function: its checks, and the scope in which their code is evaluated.

    `first` is the one that torch says failed first, "" where it does not say.
    """

    compilation: str
    checks: tuple[GuardCheck, ...]
    scope: dict[str, Any]
    first: str


@dataclass(frozen=True, slots=True)
class RawRecompile:
    """A function is compiled again, though there are `entries`, which the call does not fit."""

    compilation: str
    code: CodeType
    entries: tuple[CacheEntry, ...]


@contextmanager
def listening(on_guard: Callable[[RawGuard], None], on_recompile: Callable[[RawRecompile], None]) -> Iterator[None]:
    """Calls `on_guard` for every guard that is made and `on_recompile` before every recompilation, until it is left."""
    import torch._guards
    from torch._dynamo import convert_frame

    guards: Any = torch._guards
    frames: Any = convert_frame
    add = getattr(getattr(guards, "GuardsSet", None), "add", None)
    explain = getattr(frames, "get_and_maybe_log_recompilation_reasons", None)

    def added(self: Any, guard: Any, *args: Any, **kwargs: Any) -> Any:
        known = guard in self.inner
        result = add(self, guard, *args, **kwargs)  # type: ignore[misc]
        if not known:
            on_guard(_raw(guard))
        return result

    def explained(entries: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
        on_recompile(_recompile(entries, frame))
        return explain(entries, frame, *args, **kwargs)  # type: ignore[misc]

    if add is not None:
        guards.GuardsSet.add = added
    if explain is not None:
        frames.get_and_maybe_log_recompilation_reasons = explained
    try:
        yield
    finally:
        if add is not None:
            guards.GuardsSet.add = add
        if explain is not None:
            frames.get_and_maybe_log_recompilation_reasons = explain


def compilation() -> str:
    """The number of the compilation that runs now, as torch writes it (`0/1`: the second version of function 0)."""
    from torch._guards import CompileContext

    return str(CompileContext.current_compile_id() or "")


def compiled_code() -> CodeType | None:
    """The code object that Dynamo compiles now."""
    from torch._dynamo import symbolic_convert

    try:
        code = symbolic_convert.InstructionTranslator.current_tx().output.root_tx.f_code
    except AttributeError:
        return None
    return code if isinstance(code, CodeType) else None


def _raw(guard: Any) -> RawGuard:
    stack = current_stack() or stack_of_summaries(guard.user_stack)
    name = guard.name
    return RawGuard(compilation(), str(guard.create_fn_name()), str(name() if callable(name) else name), stack)


def cached(code: CodeType) -> list[tuple[str, tuple[GuardCheck, ...]]]:
    """All versions of a function that torch keeps: their compilations and checks."""
    try:
        from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list

        entries = list(_debug_get_cache_entry_list(code))
        return [(str(entry.compile_id), tuple(_checks(entry.guard_manager.root))) for entry in entries]
    except (ImportError, AttributeError, TypeError):
        return []


def _recompile(entries: Any, frame: Any) -> RawRecompile:
    found = tuple(_entry_or_name(entry, frame.f_locals) for entry in _listed(entries))
    return RawRecompile(compilation(), frame.f_code, found)


def _listed(entries: Any) -> Iterator[Any]:
    """A function's cache entries: a list from torch 2.13, before it the first of a chain; of neither form, nothing."""
    if isinstance(entries, list | tuple):
        yield from entries
        return
    while getattr(entries, "guard_manager", None) is not None:
        yield entries
        entries = getattr(entries, "next", None)


def _entry_or_name(entry: Any, local: dict[str, Any]) -> CacheEntry:
    try:
        return _entry(entry, local)
    except (AttributeError, TypeError, KeyError):
        # A torch whose guard managers are built differently.
        return CacheEntry(str(getattr(entry, "compile_id", "")), (), {}, "")


def _entry(entry: Any, local: dict[str, Any]) -> CacheEntry:
    manager = entry.guard_manager
    scope = {**(manager.closure_vars or {}), "L": local, "G": (manager.global_scope or {}).get("G", {})}
    failed = manager.check_verbose(local)
    parts = [] if failed.result else list(failed.verbose_code_parts)
    return CacheEntry(str(entry.compile_id), tuple(_checks(manager.root)), scope, parts[0] if parts else "")


def _checks(manager: Any) -> Iterator[GuardCheck]:
    for leaf in manager.get_leaf_guards():
        yield _check(leaf, manager)
    for child in manager.get_child_managers():
        yield from _checks(child)
    for pair in getattr(manager, "get_key_value_managers", dict)().values():
        for child in pair:
            if child is not None:
                yield from _checks(child)
    for leaf in getattr(manager, "get_epilogue_lambda_guards", list)():
        yield _check(leaf, manager)


def _check(leaf: Any, manager: Any) -> GuardCheck:
    source = getattr(manager, "get_source", str)()
    return GuardCheck(type(leaf).__name__, str(source), tuple(str(part) for part in leaf.verbose_code_parts()))
