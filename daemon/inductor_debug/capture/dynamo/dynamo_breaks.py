"""Listens to Dynamo's graph breaks where they happen, with the exact expressions that caused them.

Torch tells of a break in three places that disagree (its counters, `graph_break_reasons`, a log artifact), none with a
column before 2.13, all in sentences. This wraps `exc.format_graph_break_message`, which is given the parts of such a
sentence, `exc.Unsupported.__init__`, where the inlined frames and what they call are still known, and
`InstructionTranslatorBase.log_graph_break`, through which every break passes once. Private names, read against torch
2.11 to 2.13; where the last is gone, `graph_break_reasons` is read afterwards, which has lines.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import CodeType, FrameType
from typing import Any, Protocol

from inductor_debug.capture.dynamo.asked_sizes import AskedSize, asked_by
from inductor_debug.capture.dynamo.breaks.callees import Callee, callee_at
from inductor_debug.capture.dynamo.breaks.constructions import constructors_among, constructors_below
from inductor_debug.capture.dynamo.breaks.torch_kinds import RECOMPILE_LIMIT, id_of
from inductor_debug.capture.dynamo.breaks.torch_words import TorchWords, torch_words
from inductor_debug.capture.dynamo.dynamo_positions import (
    TracedFrame,
    TracedStack,
    chain_of,
    current_translator,
    stack_of_translator,
)
from inductor_debug.capture.dynamo.graph_borders import NO_FUNCTION, Function, function_of
from inductor_debug.capture.expressions.instruction_expressions import RESUMED, SourcePositions
from inductor_debug.capture.expressions.spans import name_of

_RAISED = "_inductor_debug_raised"
_GIVES_UP = frozenset({"run", "step"})
"""Methods of the translator that tell of a break after which Dynamo leaves the function's rest to Python."""


@dataclass(frozen=True, slots=True)
class RawBreak:
    """One graph break as Dynamo reports it: what torch says of it and the traced stack that led to it.

    `callee` is what the innermost function was calling, `modules` the names of the modules that the functions of the
    stack belong to, one for each; `constructors` are those of the functions that run which make a `torch.nn.Module`.
    `gives_up` says that the rest of the function which was to be compiled runs eagerly. `caller` is the Python frame
    that tells, below which the code stands that called the traced function; `resumed` says that this function is the
    rest of one that broke before. `function` is the function, as `graph_borders` knows it. `asked` is what the function
    of each frame of the stack has asked of sizes.
    """

    words: TorchWords
    stack: TracedStack
    callee: Callee | None = None
    modules: tuple[str, ...] = ()
    constructors: frozenset[str] = frozenset()
    gives_up: bool = False
    resumed: bool = False
    caller: FrameType | None = None
    function: Function = NO_FUNCTION
    asked: tuple[tuple[AskedSize, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class RawLimit:
    """Dynamo gave up on a function that it compiled too often; `caller` is the Python frame that entered it again.

    `resumed` as in `RawBreak`, `path` is the file of the function, empty where it is not known, and `lines` are its
    lines there; `compiled` as `function` in `RawBreak`.
    """

    function: str
    resumed: bool
    caller: FrameType | None
    path: str = ""
    compiled: Function = NO_FUNCTION
    lines: range = range(0)


@dataclass
class _Listening:
    """What is known of the exceptions of one run.

    `said` holds the words of the newest sentence that torch has put together; `raised` what led to each stack of
    torch's, which a break that is raised again for its caller keeps.
    """

    said: tuple[str, TorchWords] | None = None
    raised: dict[int, tuple[Any, RawBreak]] = field(default_factory=dict)

    def words_of(self, error: Any) -> TorchWords:
        if self.said is not None and str(getattr(error, "msg", "")).endswith(self.said[0]):
            return self.said[1]
        # A `UserError` is of no kind of the registry's, but of a type of its own.
        kind = getattr(error, "gb_type", None) or getattr(getattr(error, "error_type", None), "name", None)
        return torch_words(str(kind or type(error).__name__), str(error).strip().partition("\n")[0], [])

    def note(self, error: Any) -> None:
        """Notes on a new exception what led to it."""
        stack = error.real_stack
        if id(stack) not in self.raised:
            self.raised[id(stack)] = (stack, _raised(self.words_of(error), sys._getframe(2)))
        setattr(error, _RAISED, self.raised[id(stack)][1])


@contextmanager
def listen(on_break: Callable[[RawBreak], None], on_limit: Callable[[RawLimit], None]) -> Iterator[None]:
    """Calls `on_break` for every graph break and `on_limit` for every function given up, until it is left."""
    from torch._dynamo import exc, symbolic_convert, utils

    translator = symbolic_convert.InstructionTranslatorBase
    original_log = getattr(translator, "log_graph_break", None)
    original_init = exc.Unsupported.__init__
    original_format = getattr(exc, "format_graph_break_message", None)
    known = len(utils.graph_break_reasons)
    listening = _Listening()

    def formatted(gb_type: str, context: str, explanation: str, hints: list[str]) -> str:
        text: str = original_format(gb_type, context, explanation, hints)  # type: ignore[misc]
        listening.said = text, torch_words(gb_type, explanation, hints)
        return text

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original_init(self, *args, **kwargs)
        listening.note(self)
        if id_of(getattr(self, "gb_type", None) or "") == RECOMPILE_LIMIT:
            on_limit(_limit(sys._getframe(1)))

    def log(self: Any, *args: Any, **kwargs: Any) -> Any:
        error = kwargs.get("exc") or (args[-1] if args else None)
        if error is None or not getattr(error, "logged", False):
            raised = getattr(error, _RAISED, None)
            if raised is None or not raised.stack:  # nothing says which translator runs where an exception is made
                raised = _raised(listening.words_of(error) if raised is None else raised.words, None, self)
            origin = _origin(getattr(error, "__cause__", None))
            if origin is not None:
                raised = _raised(raised.words, None, origin)
            teller = sys._getframe(1)
            gives_up = teller.f_code.co_name in _GIVES_UP
            constructors = raised.constructors | constructors_below(teller)
            on_break(
                replace(
                    raised,
                    constructors=constructors,
                    gives_up=gives_up,
                    resumed=_is_resumed(self),
                    caller=teller,
                    function=function_of(_root(self).f_code, teller),
                )
            )
        return original_log(self, *args, **kwargs)  # type: ignore[misc]

    replaced: list[tuple[Any, str, Any, Any]] = [(exc.Unsupported, "__init__", original_init, init)]
    if original_format is not None:
        replaced.append((exc, "format_graph_break_message", original_format, formatted))
    if original_log is not None:
        replaced.append((translator, "log_graph_break", original_log, log))
    for owner, name, _, ours in replaced:
        setattr(owner, name, ours)
    try:
        yield
    finally:
        for owner, name, original, _ in replaced:
            setattr(owner, name, original)
        if original_log is None:
            for reason in utils.graph_break_reasons[known:]:
                on_break(RawBreak(torch_words("", reason.reason, []), stack_of_summaries(reason.user_stack)))


def stack_of_error(error: BaseException) -> TracedStack:
    """What was being traced when an exception of Dynamo's was raised, as far as it was noted."""
    raised = break_of_error(error)
    return raised.stack if raised is not None else ()


def break_of_error(error: BaseException) -> RawBreak | None:
    """The break that an exception of Dynamo's is, as far as it was noted."""
    raised: RawBreak | None = getattr(error, _RAISED, None)
    return raised


class Suspendable(Protocol):
    """Something that must not watch Dynamo at work."""

    def suspend(self) -> None:
        """Called before Dynamo compiles a function."""

    def resume(self) -> None:
        """Called when it is done."""


@dataclass(slots=True)
class Compilations:
    """How many functions Dynamo has begun to compile."""

    count: int = 0


@contextmanager
def suspended_while_compiling(observer: Suspendable) -> Iterator[Compilations]:
    """Suspends `observer` whenever Dynamo compiles, until it is left; counts how often that was."""
    from torch._dynamo import callback

    compilations = Compilations()

    def start(_: Any) -> None:
        compilations.count += 1
        observer.suspend()

    def end(_: Any) -> None:
        observer.resume()

    callback.on_compile_start(start)
    callback.on_compile_end(end)
    try:
        yield compilations
    finally:
        callback.callback_handler.remove_start_callback(start)
        callback.callback_handler.remove_end_callback(end)


def stack_of_summaries(summaries: Any) -> TracedStack:
    """A traced stack from `traceback.FrameSummary` objects (outermost first), which may know columns."""
    frames = []
    for summary in summaries or ():
        place = [getattr(summary, name, None) for name in ("end_lineno", "colno", "end_colno")]
        # Half a place is none: torch 2.13 leaves out the last line, for which Python 3.13 then gives the first.
        positions = SourcePositions(summary.lineno, *([None] * 3 if None in place else place))
        frames.append(TracedFrame(summary.filename, summary.name, positions))
    frames.reverse()
    return tuple(frames)


def _raised(words: TorchWords, frame: FrameType | None, translator: Any = None) -> RawBreak:
    """What led to a break that is told from `frame`, while `translator` (or the running one) traced."""
    translator = translator or current_translator()
    if translator is None:
        return RawBreak(words, ())
    known = [each.f_globals for each in chain_of(translator)]
    modules = tuple(str(names.get("__name__", "")) for names in known)
    stack = stack_of_translator(translator)
    functions = zip((frame.function for frame in stack), known, strict=True)
    asked = tuple(map(asked_by, chain_of(translator)))
    constructors = constructors_among(functions)
    return RawBreak(words, stack, callee_at(frame, translator), modules, constructors, asked=asked)


def _origin(exception: BaseException | None) -> Any:
    """The translator of the function that raised what Dynamo saw the traced code raise, and found nobody to catch.

    None for anything else. Dynamo tells of it where the function begins that is compiled, and anew for each that this
    one calls on the way, though all of them end for one expression.
    """
    from torch._dynamo import exc, symbolic_convert

    observed = getattr(exc, "ObservedException", None)
    if observed is None or not isinstance(exception, observed):
        return None
    owners = (frame.f_locals.get("self") for frame, _ in traceback.walk_tb(exception.__traceback__))
    translators = [owner for owner in owners if isinstance(owner, symbolic_convert.InstructionTranslatorBase)]
    return translators[-1] if translators else None


def _is_resumed(translator: Any) -> bool:
    """Whether the function that is compiled is the rest of one that broke before."""
    return RESUMED.match(_root(translator).f_code.co_name) is not None


def _root(translator: Any) -> Any:
    """The translator of the function that is compiled."""
    *_, root = chain_of(translator)
    return root


def compiled_function() -> Function:
    """The function that Dynamo compiles now."""
    translator = current_translator()
    return NO_FUNCTION if translator is None else function_of(_root(translator).f_code, sys._getframe(1))


def _lines_of(code: CodeType) -> range:
    """The lines of a file that a code object is made of, from 1."""
    lines = [line for _, _, line in code.co_lines() if line]
    return range(min(lines), max(lines) + 1) if lines else range(0)


def _limit(frame: FrameType | None) -> RawLimit:
    while frame is not None:
        code = frame.f_locals.get("code") if frame.f_code.co_name == "_compile" else None
        if code is not None:
            return RawLimit(
                name_of(code),
                RESUMED.match(code.co_name) is not None,
                frame,
                code.co_filename,
                function_of(code, frame),
                _lines_of(code),
            )
        frame = frame.f_back
    return RawLimit("", False, None)
