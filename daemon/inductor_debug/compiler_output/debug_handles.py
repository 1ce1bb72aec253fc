"""Handles of Spyre's compiler, from its sidecar or its OpSpecs, tied to expressions of the source as it is now."""

from __future__ import annotations

from collections.abc import Iterable

from inductor_debug_schema import Location

from inductor_debug.compiler_output.files.spyre_sidecar import Handle, Sidecar
from inductor_debug.compiler_output.source_places import SourcePlaces


class DebugHandles:
    """The handles of one compile.

    Args:
        sidecar: handles by their ids, wherever they were read.
        sources: where lines are looked up.
        written: when the handles were written (seconds since 1970); sources that are younger may say something else.
    """

    def __init__(self, sidecar: Sidecar, sources: SourcePlaces, written: float) -> None:
        self._sidecar = sidecar
        self._sources = sources
        self._written = written
        self._places: dict[str, Location | None] = {}
        self.newer: set[str] = set()
        """Paths of sources that were changed after the handles were written."""

    def chain_of(self, handle: str) -> list[str]:
        """The compiler's names for what a handle and its parts stand for."""
        return list(dict.fromkeys(name for leaf in self._under(handle) for name in leaf.chain))

    def place_of(self, handle: str) -> Location | None:
        """The expression of a handle; the first of its parts' where it has none of its own."""
        return next(iter(self.places_of([handle])), None)

    def places_of(self, handles: Iterable[str]) -> list[Location]:
        """The expressions that handles come from, each once."""
        found = (self._place(leaf) for handle in handles for leaf in self._sidecar.leaves([handle]))
        return list(dict.fromkeys(place for place in found if place is not None))

    def node_places(self) -> dict[str, Location]:
        """For each of the compiler's names that one handle alone has, its expression."""
        owners: dict[str, list[Handle]] = {}
        for handle in self._sidecar.handles.values():
            if not handle.parts:
                for name in handle.chain:
                    owners.setdefault(name, []).append(handle)
        places = {name: self._place(found[0]) for name, found in owners.items() if len(found) == 1}
        return {name: place for name, place in places.items() if place is not None}

    def _under(self, handle: str) -> list[Handle]:
        own = self._sidecar.handles.get(handle)
        return [*([own] if own is not None else []), *self._sidecar.leaves([handle])]

    def _place(self, handle: Handle) -> Location | None:
        if handle.id not in self._places:
            self._places[handle.id] = self._look(handle)
        return self._places[handle.id]

    def _look(self, handle: Handle) -> Location | None:
        source = handle.source
        found = self._sources.line(source.file, source.line, "") if source is not None else None
        if source is None or found is None:
            return None
        if found.file.modified > self._written:
            self.newer.add(found.file.path)
        lines = found.file.lines
        if source.end_line is not None and source.end_column is not None and source.end_line < len(lines):
            return Location(
                found.file.path, lines.range_of(source.line, source.column, source.end_line, source.end_column)
            )
        name = handle.op.split(".")[1] if handle.op.count(".") else handle.op
        expression = found.line.named([name]) if name else None
        return Location(found.file.path, expression.range) if expression is not None else found.statement
