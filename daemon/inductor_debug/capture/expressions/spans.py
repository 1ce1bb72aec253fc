"""From running code to places in the user's source: exact expressions, in the editor's units.

Everything is interned: the same instruction always gives the same `Frame` object, because a model with 80 layers asks
for the same few expressions thousands of times. Nothing here imports torch or reads a frame's variables.
"""

from __future__ import annotations

import ast
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec
from types import CodeType, FrameType, TracebackType

from inductor_debug_schema import Location, Position, Range

from inductor_debug.capture.expressions.instruction_expressions import (
    RESUMED,
    SourcePositions,
    positions_at,
    qualified_name,
)
from inductor_debug.rules.recording.ops import Frame
from inductor_debug.source.source_text import SourceText
from inductor_debug.source.syntax_tree import tree_of
from inductor_debug.system.own_files import OWN_PACKAGE

_RESUMED_NAMES = ("torch_dynamo_resume_in_", "__resume_at_")

_NOT_PROJECT = frozenset({"site-packages", "dist-packages", ".venv", "venv", "node_modules", ".tox", ".nox"})
_HAS_COLUMNS = sys.version_info >= (3, 11)


@lru_cache(maxsize=1)
def _machinery() -> tuple[str, ...]:
    """Folders whose frames never help a user: torch, this package, the standard library."""
    roots = [OWN_PACKAGE]
    spec = find_spec("torch")
    if spec is not None and spec.origin is not None:
        roots.append(os.path.dirname(spec.origin) + os.sep)
    roots += [os.path.abspath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib")]
    return tuple(dict.fromkeys(roots))


class SourceMap:
    """Turns code objects, frames and tracebacks into `Frame`s and `Location`s.

    Args:
        project_root: absolute folder of the user's project; frames below it (libraries apart) are `in_project`.
        overlays: absolute path to text that stands in for what is on disk (the editor's buffer).
    """

    def __init__(self, project_root: str, overlays: Mapping[str, str] | None = None) -> None:
        self.project_root = os.path.abspath(project_root)
        self._overlays = {os.path.abspath(path): text for path, text in (overlays or {}).items()}
        self._texts: dict[str, SourceText | None] = {}
        self._in_project: dict[str, bool] = {}
        self._visible: dict[str, bool] = {}
        self._frames: dict[tuple[int, int], Frame | None] = {}
        self._frames_by_position: dict[tuple[str, str, SourcePositions], Frame | None] = {}
        self._positions: dict[int, list[SourcePositions]] = {}
        self._codes: dict[int, CodeType] = {}
        self._stacks_by_key: dict[tuple[int, ...], tuple[Frame, ...]] = {}

    def in_project(self, path: str) -> bool:
        """Whether `path` is the user's own: an overlay, or below the project root and no installed library."""
        known = self._in_project.get(path)
        if known is None:
            # Such as `<frozen os>`, which is no file.
            known = not path.startswith("<") and self._decide_in_project(os.path.abspath(path))
            self._in_project[path] = known
        return known

    def text(self, path: str) -> SourceText | None:
        """The text that runs as `path`: the overlay, or the file; None where there is none."""
        path = os.path.abspath(path)
        if path not in self._texts:
            overlay = self._overlays.get(path)
            self._texts[path] = SourceText(overlay) if overlay is not None else SourceText.read(path)
        return self._texts[path]

    def tree(self, path: str) -> ast.Module | None:
        """The tree of the text that runs as `path`; None where there is no text, or it cannot be parsed."""
        text = self.text(path)
        if text is None:
            return None
        try:
            return tree_of("\n".join(text.lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def location(
        self,
        path: str,
        lineno: int,
        end_lineno: int | None = None,
        col_offset: int | None = None,
        end_col_offset: int | None = None,
    ) -> Location:
        """The place of an expression given as Python gives it: one-based lines, UTF-8 columns.

        Where any part is missing, the place is the whole line `lineno` without its indentation.
        """
        path = os.path.abspath(path)
        text = self.text(path)
        if end_lineno is None or col_offset is None or end_col_offset is None:
            line = max(lineno - 1, 0)
            return Location(path, (text or SourceText("")).line_range(line))
        if text is None:
            start, end = col_offset, end_col_offset
        else:
            start = text.character(lineno - 1, col_offset)
            end = text.character(end_lineno - 1, end_col_offset)
        return Location(path, Range(Position(lineno - 1, start), Position(end_lineno - 1, end)))

    def location_of(self, path: str, node: ast.expr | ast.stmt) -> Location:
        """The place of a node of the syntax tree of `path`."""
        return self.location(path, node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)

    def may_be_one(self, first: Location, second: Location) -> bool:
        """Whether two places are one, as far as Python tells: before 3.11 a line may be any expression in it."""
        if first == second or _HAS_COLUMNS or first.path != second.path:
            return first == second
        return self._is_line_of(first, second) or self._is_line_of(second, first)

    def excerpt(self, place: Location) -> str:
        """What stands at a place, cut where it is long; empty where its text is not known."""
        text = self.text(place.path)
        return text.excerpt(place.range) if text is not None else ""

    def frame_at(self, code: CodeType, offset: int) -> Frame | None:
        """The frame of the instruction at byte `offset` of `code`; None for torch's, the library's and our own."""
        key = (id(code), offset)
        try:
            return self._frames[key]
        except KeyError:
            pass
        # The cache is keyed by identity, so the code object must not be replaced by another at the same address.
        self._codes[id(code)] = code
        frame = None
        if self._is_visible(code.co_filename):
            name = name_of(code, None if _HAS_COLUMNS else self._joined(code.co_filename))
            frame = self.frame_from_positions(code.co_filename, name, self._positions_at(code, offset))
        self._frames[key] = frame
        return frame

    def frame_from_positions(self, filename: str, function: str, positions: SourcePositions) -> Frame | None:
        """The frame of an expression whose positions are already known (Dynamo's instructions, a syntax tree)."""
        key = (filename, function, positions)
        try:
            return self._frames_by_position[key]
        except KeyError:
            pass
        frame = None
        if positions.lineno is not None and self._is_visible(filename):
            location = self.location(filename, *positions)  # type: ignore[arg-type]
            frame = Frame(location, function, self.in_project(filename))
        self._frames_by_position[key] = frame
        return frame

    def stack(self, frame: FrameType | None, boundary: CodeType | None = None) -> tuple[Frame, ...]:
        """The visible frames from `frame` outwards, innermost first, up to the frame that runs `boundary`."""
        frames, cache = [], self._frames
        resumed = False
        while frame is not None:
            code = frame.f_code
            if code is boundary:
                break
            try:
                found = cache[id(code), frame.f_lasti]
            except KeyError:
                found = self.frame_at(code, frame.f_lasti)
            if found is not None:
                if not resumed:
                    frames.append(found)
                # What resumes a function after a graph break is called from where that function broke off.
                resumed = code.co_name.startswith(_RESUMED_NAMES)
            frame = frame.f_back
        return self.intern(frames)

    def intern(self, frames: list[Frame]) -> tuple[Frame, ...]:
        """One tuple for each distinct stack of interned frames."""
        key = tuple(map(id, frames))
        stack = self._stacks_by_key.get(key)
        if stack is None:
            stack = self._stacks_by_key[key] = tuple(frames)
        return stack

    def frames_of_traceback(self, traceback: TracebackType | None) -> tuple[Frame, ...]:
        """The visible frames of an exception's traceback, innermost (where it was raised) first."""
        frames: list[Frame] = []
        while traceback is not None:
            code = traceback.tb_frame.f_code
            found = self.frame_at(code, traceback.tb_lasti)
            if found is not None:
                if frames and code.co_name.startswith(_RESUMED_NAMES):
                    frames.pop()
                frames.append(found)
            traceback = traceback.tb_next
        frames.reverse()
        return self.intern(frames)

    def _is_line_of(self, whole: Location, part: Location) -> bool:
        return whole == self.location(whole.path, whole.range.start.line + 1) and whole.range.encloses(part.range)

    def _positions_at(self, code: CodeType, offset: int) -> SourcePositions:
        if _HAS_COLUMNS:
            table = self._positions.get(id(code))
            if table is None:
                table = self._positions[id(code)] = _position_table(code)
            index = offset // 2
            if 0 <= index < len(table) and table[index].lineno is not None:
                return table[index]
        else:
            found = positions_at(code, offset, self._joined(code.co_filename))
            if found is not None:
                return found
        return SourcePositions(_line_at(code, offset), None, None, None)

    def _joined(self, path: str) -> str:
        text = self.text(path)
        return "\n".join(text.lines) if text else ""

    def _is_visible(self, filename: str) -> bool:
        known = self._visible.get(filename)
        if known is None:
            known = not filename.startswith("<") and (self.in_project(filename) or not _is_machinery(filename))
            self._visible[filename] = known
        return known

    def _decide_in_project(self, path: str) -> bool:
        if path in self._overlays:
            return True
        if not path.startswith(self.project_root.rstrip(os.sep) + os.sep) or path.startswith(_machinery()):
            return False
        folder = os.path.dirname(os.path.relpath(path, self.project_root))
        parts = folder.split(os.sep) if folder else []
        if not _NOT_PROJECT.isdisjoint(parts):
            return False
        steps = (os.path.join(self.project_root, *parts[: depth + 1]) for depth in range(len(parts)))
        return not any(os.path.exists(os.path.join(step, "pyvenv.cfg")) for step in steps)


def _position_table(code: CodeType) -> list[SourcePositions]:
    entries: Iterator[tuple[int | None, int | None, int | None, int | None]] = getattr(code, "co_positions")()  # noqa: B009
    return [SourcePositions(*entry) for entry in entries]


def name_of(code: CodeType, text: str | None = None) -> str:
    """The function's qualified name, without what Dynamo puts around it.

    Args:
        code: the function's code.
        text: the file's text where it is known; only Python 3.10 needs it.
    """
    match = RESUMED.match(code.co_name)
    if match is not None:
        return match.group("name") or "forward"
    if _HAS_COLUMNS:
        name: str = getattr(code, "co_qualname", code.co_name)
        return name
    return qualified_name(code, text)


def _is_machinery(filename: str) -> bool:
    if "site-packages" in filename or "dist-packages" in filename:
        # Libraries live inside the standard library's folder; of these only torch and this package are machinery.
        return filename.startswith(_machinery()[:2])
    return filename.startswith(_machinery())


def _line_at(code: CodeType, offset: int) -> int:
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= offset < end and number is not None:
            line = number
    return line
