"""Everything that a folder, a log or a sidecar tells, as graph documents, and every file of it that was not understood.

Documents are per compile: a frame of a trace, or a model of a debug folder with its forward and backward graphs. What
torch-spyre says of a compile is joined with what Inductor says of it by the names of kernels.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from inductor_debug_schema import GraphDocument

from inductor_debug.compiler_output.compiled_graph import Compile
from inductor_debug.compiler_output.debug_folders import DebugFolders
from inductor_debug.compiler_output.debug_handles import DebugHandles
from inductor_debug.compiler_output.device_specs import device_specs
from inductor_debug.compiler_output.files.confined_files import ConfinedFile, ConfinedFolder, FileFaultError, Unread
from inductor_debug.compiler_output.files.node_mappings import NodeMappings
from inductor_debug.compiler_output.files.op_specs import op_specs
from inductor_debug.compiler_output.files.spyre_sidecar import MARKS, Handle, Sidecar, SidecarCompile, read_sidecar
from inductor_debug.compiler_output.graph_documents import ToldPlaces, document_of
from inductor_debug.compiler_output.sidecar_graphs import sidecar_document
from inductor_debug.compiler_output.source_places import SourcePlaces
from inductor_debug.compiler_output.trace_logs import StructuredTrace, is_log

_LARGEST_GUESS = 8 << 20
"""Of a JSON file whose name says nothing; a sidecar may be called anything."""


class NothingFoundError(Exception):
    """There is nothing of a compiler's there; the message says what was looked at."""


@dataclass(frozen=True, slots=True)
class ImportedArtifacts:
    """What was read: documents by compile, and files that were not understood, or not in all parts."""

    documents: list[GraphDocument]
    unread: list[Unread]


@dataclass(frozen=True, slots=True)
class _FoundSidecar:
    sidecar: Sidecar
    file: ConfinedFile


def read_artifacts(path: str, roots: Sequence[str]) -> ImportedArtifacts:
    """Reads a folder, a log, or a sidecar.

    Args:
        path: of the folder or file.
        roots: folders where sources are looked for that are not where the compiler saw them.

    Raises:
        NothingFoundError: nothing of a compiler's is there.
    """
    try:
        folder = ConfinedFolder.at(path)
    except FileFaultError as error:
        raise NothingFoundError(f"{path}: {error}") from None
    reading = _Reading(folder, SourcePlaces(roots))
    documents = reading.documents()
    unread = sorted(set(folder.unread))
    if not documents:
        raise NothingFoundError(_nothing(path, folder, unread))
    return ImportedArtifacts(documents, unread)


def _nothing(path: str, folder: ConfinedFolder, unread: list[Unread]) -> str:
    if unread:
        first = "; ".join(f"{each.path or '.'}: {each.why}" for each in unread[:5])
        return f"{path} holds nothing of a compiler's that could be read: {first}"
    what = "is empty" if not folder.files else "holds nothing that a compiler has written"
    return (
        f"{path} {what}: a folder of TORCH_COMPILE_DEBUG=1, a log of TORCH_TRACE or a spyre_provenance.json is wanted"
    )


class _Reading:
    def __init__(self, folder: ConfinedFolder, sources: SourcePlaces) -> None:
        self._folder = folder
        self._sources = sources

    def documents(self) -> list[GraphDocument]:
        """All documents, each with a name of its own."""
        folders = DebugFolders(self._folder)
        compiles = folders.read()
        for file in self._folder.files:
            if is_log(file):
                compiles += StructuredTrace(self._folder, file).read()
        sidecars = [found for file in self._folder.files if (found := self._sidecar(file, folders.taken)) is not None]
        used: set[str] = set()
        made = [(self._document(compiled, sidecars, used), compiled.where) for compiled in compiles]
        for found in sidecars:
            rest = [each for each in found.sidecar.compiles if each.id not in used]
            made += [(self._of_sidecar(found, each, number), found.file.folder) for number, each in enumerate(rest)]
        names = _own_names([(document.target, where) for document, where in made])
        return [replace(document, target=name) for (document, _), name in zip(made, names, strict=True)]

    def _sidecar(self, file: ConfinedFile, taken: set[str]) -> _FoundSidecar | None:
        """A sidecar by what is in it: its name is the user's choice."""
        if not file.name.endswith(".json") or file.path in taken:
            return None
        named = "provenance" in file.name
        try:
            if not named and file.bytes > _LARGEST_GUESS:
                return None
            said = self._folder.json(file)
            if not isinstance(said, dict) or not any(mark in said for mark in MARKS):
                if named:
                    raise FileFaultError("it is no provenance sidecar")
                return None
            sidecar = read_sidecar(said)
        except FileFaultError as error:
            self._folder.fault(file.path, str(error))
            return None
        for fault in sidecar.faults:
            self._folder.fault(file.path, fault)
        return _FoundSidecar(sidecar, file)

    def _document(self, compiled: Compile, sidecars: list[_FoundSidecar], used: set[str]) -> GraphDocument:
        handles, kernels, written = _handles_in_wrappers(compiled), _kernels_in_wrappers(compiled), float("inf")
        matched = _matching(compiled, sidecars)
        if matched is not None:
            found, told = matched
            used.add(told.id)
            handles = {**handles, **found.sidecar.handles}
            kernels.update({kernel.name: kernel.handles for kernel in told.kernels})
            written = found.file.modified
            compiled.notes += told.notes
            for graph in compiled.graphs:
                if graph.mappings == NodeMappings():
                    graph.mappings = told.mappings
        sources = self._sources.afresh()
        tied = DebugHandles(Sidecar(handles), sources, written)
        places = ToldPlaces(tied.node_places(), {name: tied.places_of(ids) for name, ids in kernels.items()})
        compiled.notes += [
            f"{path} was changed after Spyre's compiler had read it; its lines may have moved."
            for path in sorted(tied.newer)
        ]
        made = document_of(compiled, str(self._folder.root), sources, places, device_specs(compiled.graphs, tied))
        return replace(made, notes=[*made.notes, *sources.notes()])

    def _of_sidecar(self, found: _FoundSidecar, compiled: SidecarCompile, number: int) -> GraphDocument:
        name = f"{found.file.path.rpartition('/')[2].removesuffix('.json')} {number}"
        sources = self._sources.afresh()
        tied = DebugHandles(found.sidecar, sources, found.file.modified)
        made = sidecar_document(name, compiled, found.sidecar, tied, str(self._folder.root))
        newer = [
            f"{path} was changed after Spyre's compiler had read it; its lines may have moved."
            for path in sorted(tied.newer)
        ]
        return replace(made, notes=[*made.notes, *newer, *sources.notes()])


def _handles_in_wrappers(compiled: Compile) -> dict[str, Handle]:
    found: dict[str, Handle] = {}
    for graph in compiled.graphs:
        for kernel in graph.wrapper.kernels.values() if graph.wrapper is not None else ():
            found.update(op_specs(kernel)[1])
    return found


def _kernels_in_wrappers(compiled: Compile) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for graph in compiled.graphs:
        for kernel in graph.wrapper.kernels.values() if graph.wrapper is not None else ():
            ids = [spec.handle for spec in op_specs(kernel)[0] if spec.handle]
            if ids:
                found[kernel.name] = ids
    return found


def _matching(compiled: Compile, sidecars: list[_FoundSidecar]) -> tuple[_FoundSidecar, SidecarCompile] | None:
    """The compile of a sidecar whose kernels a wrapper here defines; None where there is none, or more than one."""
    names = [set(graph.wrapper.kernels) for graph in compiled.graphs if graph.wrapper is not None]
    fitting = [
        (found, each)
        for found in sidecars
        for each in found.sidecar.compiles
        if each.kernels and any({kernel.name for kernel in each.kernels} <= wrapper for wrapper in names)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _own_names(compiles: list[tuple[str, str]]) -> list[str]:
    """For names and where they are, names of which no two are alike: a place is told where several have one name."""
    names = Counter(name for name, _ in compiles)
    folders = [where for _, where in compiles]
    common = os.path.commonpath(folders) if all(folders) and len(folders) > 1 else ""
    found: Counter[str] = Counter()
    unique = []
    for name, where in compiles:
        place = os.path.relpath(where, common) if common and where != common else where
        told = name if names[name] == 1 else f"{place}: {name}"
        found[told] += 1
        unique.append(told if found[told] == 1 else f"{told} ({found[told]})")
    return unique
