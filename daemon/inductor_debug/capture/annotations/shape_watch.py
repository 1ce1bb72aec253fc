"""Runs a target once more and notes the shapes of what its code states shapes of; only where it states any.

Python calls us for every function that it enters (`sys.settrace`), which would slow a recorded run down. What somebody
else traces already, a debugger or a coverage tool, is left alone: then nothing is noted.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

import torch
from inductor_debug_schema import Position, Range, StatedBy

from inductor_debug.capture.expressions.spans import SourceMap
from inductor_debug.capture.inference.guessing.written_shapes import definite_shape
from inductor_debug.capture.running.modules import Snapshot
from inductor_debug.capture.running.target import BuiltTarget
from inductor_debug.capture.runtime.quiet import quiet
from inductor_debug.source.shape_notes import FunctionNotes, ShapeNote, StatementNote, are_sizes, function_notes
from inductor_debug.source.text_lines import utf16_length

_MOST_CALLS = 64
"""Calls of a function that are looked at; the layers of a stack run the same code."""
_STOPS_AND_GOES_ON = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True, slots=True)
class ShapeSeen:
    """What a note is about, as it was: the sizes of a tensor, a number where it is known, and its dtype.

    `sizes` are the function's own names for sizes; `line` tells it from others of its name, and `call` its calls apart.
    `entered` says that it is an argument of the target's own call, `guessed` that nobody gave the inputs of this run.
    """

    path: str
    function: str
    line: int
    note: ShapeNote
    shape: tuple[Any, ...]
    dtype: torch.dtype
    sizes: dict[str, int]
    call: int
    target: str
    entered: bool = False
    guessed: bool = False


@dataclass
class ShapeWatch:
    """Knows what the files of a project state, and looks at targets."""

    sources: SourceMap
    _functions: dict[str, dict[tuple[str, int], FunctionNotes]] = field(default_factory=dict)

    def states_shapes(self, paths: Iterable[str]) -> bool:
        """Whether any of these files states a shape."""
        own = filter(self.sources.in_project, paths)
        return any(not notes.says_nothing for path in own for notes in self._notes(path).values())

    def seen_in(self, target: BuiltTarget, around: contextlib.AbstractContextManager[Any]) -> list[ShapeSeen]:
        """What is seen while the target runs; nothing where it does not come to its end."""
        if sys.gettrace() is not None:
            return []
        tracer = _Tracer(self.notes_of, target)
        snapshot = Snapshot(target)
        args, kwargs = target.calls[0]
        with quiet(), around, target.fake_mode or contextlib.nullcontext():
            try:
                with torch.compiler.set_stance("force_eager"), tracer.watching():
                    target.function(*args, **kwargs)
            except (Exception, SystemExit):
                tracer.seen.clear()
        snapshot.restore()
        return tracer.seen

    def notes_of(self, code: CodeType) -> FunctionNotes | None:
        """The notes of a function of the project's; None where there are none."""
        if not self.sources.in_project(code.co_filename):
            return None
        notes = self._notes(code.co_filename).get((code.co_name, code.co_firstlineno))
        return None if notes is None or notes.says_nothing else notes

    def _notes(self, path: str) -> dict[tuple[str, int], FunctionNotes]:
        known = self._functions.get(path)
        if known is None:
            text = self.sources.text(path)
            lines = text.lines if text is not None else []
            known = self._functions[path] = {}
            for notes in function_notes("\n".join(lines)):
                notes.arguments += _documented(notes, lines)
                known[notes.name, notes.line] = notes
        return known


def _documented(notes: FunctionNotes, lines: Sequence[str]) -> Iterator[ShapeNote]:
    """What the docstring of a function states of arguments of which nothing else does."""
    node = notes.node
    first = node.body[0] if node is not None and node.body else None
    value = first.value if isinstance(first, ast.Expr) else None
    document = value.value if isinstance(value, ast.Constant) else None
    if node is None or value is None or not isinstance(document, str):
        return
    known = {note.named for note in notes.arguments}
    for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
        dims = definite_shape(argument.arg, document, None) if argument.arg not in known else None
        surely = dims is not None and are_sizes(dims, notes.sizes)
        place = _written_at(argument.arg, dims, lines, value) if dims is not None and surely else None
        if dims is not None and place is not None:
            yield ShapeNote(StatedBy.DOCSTRING, argument.arg, dims, f"({', '.join(dims)})", place)


def _written_at(name: str, dims: Sequence[str], lines: Sequence[str], document: ast.expr) -> Range | None:
    """Where a docstring writes a shape, in the line that names the argument or in one of the two below."""
    words = r"\s*,\s*".join(re.escape(dim).replace("_", "[ _]?") for dim in dims)
    shape = re.compile(rf"[(\[<]\s*{words}\s*,?\s*[)\]>]")
    last = document.end_lineno or document.lineno
    for number in range(document.lineno - 1, last):
        if re.search(rf"(?<![\w.]){re.escape(name)}\b", lines[number]) is None:
            continue
        for at in range(number, min(number + 3, last)):
            found = shape.search(lines[at])
            if found is not None:
                start, end = (utf16_length(lines[at][:column]) for column in found.span())
                return Range(Position(at, start), Position(at, end))
    return None


class _Tracer:
    """Notes shapes in the functions that have notes."""

    def __init__(self, notes_of: Callable[[CodeType], FunctionNotes | None], target: BuiltTarget) -> None:
        self._notes_of = notes_of
        self._name, self._guessed = target.name, target.inference is not None and not target.given
        self._known: dict[CodeType, FunctionNotes | None] = {}
        self._calls: dict[CodeType, int] = {}
        self._entered = False
        self.seen: list[ShapeSeen] = []

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Notes what runs inside, in this thread."""
        sys.settrace(self)
        try:
            yield
        finally:
            sys.settrace(None)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        if code not in self._known:
            self._known[code] = self._notes_of(code)
        notes = self._known[code]
        if notes is None or code.co_flags & _STOPS_AND_GOES_ON:
            return None
        call = self._calls[code] = self._calls.get(code, 0) + 1
        if call > _MOST_CALLS:
            return None
        first, self._entered = not self._entered, True
        for note in notes.arguments:
            self.note(frame, note, frame.f_locals.get(note.named), notes, call, entered=first)
        return _Steps(self, notes, call).step

    def note(
        self, frame: FrameType, note: ShapeNote, value: Any, notes: FunctionNotes, call: int, *, entered: bool = False
    ) -> None:
        if not isinstance(value, torch.Tensor) or value.is_nested:
            return
        values = frame.f_locals
        sizes = {name: values[name] for name in notes.sizes if type(values.get(name)) is int}
        shape = tuple(size if type(size) is int else str(size) for size in value.shape)
        path = frame.f_code.co_filename
        seen = ShapeSeen(
            path, notes.name, notes.line, note, shape, value.dtype, sizes, call, self._name, entered, self._guessed
        )
        self.seen.append(seen)


class _Steps:
    """One call of a function: what is assigned is looked at once the statement has ended."""

    def __init__(self, tracer: _Tracer, notes: FunctionNotes, call: int) -> None:
        self._tracer, self._notes, self._call = tracer, notes, call
        self._by_line = {line: each for each in notes.statements for line in range(each.first, each.last + 1)}
        self._pending: StatementNote | None = None

    def step(self, frame: FrameType, event: str, argument: Any) -> Any:
        """What Python calls for each line of the function, and where it raises or returns."""
        if event == "exception":
            self._pending = None
            return self.step
        here = self._by_line.get(frame.f_lineno)
        pending = self._pending
        if pending is not None and (event == "return" or here is not pending):
            if not pending.returns:
                value = frame.f_locals.get(pending.note.named)
                self._tracer.note(frame, pending.note, value, self._notes, self._call)
            elif event == "return":
                self._tracer.note(frame, pending.note, argument, self._notes, self._call)
            self._pending = None
        if event == "line":
            self._pending = here
        elif event == "return" and self._notes.returned is not None:
            self._tracer.note(frame, self._notes.returned, argument, self._notes, self._call)
        return self.step
