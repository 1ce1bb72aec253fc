"""The provenance sidecar of torch-spyre, `spyre_provenance.json`: kernels and where they come from.

Read against the published schema of version 1. Another version is refused, a field that the schema does not have is
told, and what refers to something that is not there is left out and told as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from inductor_debug.compiler_output.files.confined_files import FileFaultError
from inductor_debug.compiler_output.files.node_mappings import NodeMappings, name_map

VERSION = 1
MARKS = ("schemaVersion", "kernelIdentities", "handles")
"""Fields by which the file is known whatever it is called."""
_FIELDS = {
    "schemaVersion",
    "eventKey",
    "mergeGeneration",
    "status",
    "diagnostics",
    "handles",
    "kernelIdentities",
    "kernelOccurrences",
    "upstreamProjections",
}
_HANDLE_FIELDS = {"id", "source", "aten_op", "ir_chain", "fused_from", "transform_history"}
_SOURCE_FIELDS = {"file", "start_line", "start_col", "end_line", "end_col"}
_JOIN_OK = "ok"
_MOST_CONSTITUENTS = 10_000


@dataclass(frozen=True, slots=True)
class HandleSource:
    """A stretch of source: zero-based lines, columns as the compiler counts them, its end None where it said none."""

    file: str
    line: int
    column: int
    end_line: int | None
    end_column: int | None


@dataclass(frozen=True, slots=True)
class Handle:
    """What kernels come from; `parts` are the handles it was fused from, `chain` the compiler's names for it."""

    id: str
    source: HandleSource | None
    op: str
    chain: list[str]
    parts: list[str]
    history: list[str]


@dataclass(frozen=True, slots=True)
class SidecarKernel:
    """A kernel of one compile: its name in the wrapper, the handles of its operations, and its name in profiles."""

    name: str
    handles: list[str]
    event: str
    ops: list[str]


@dataclass(frozen=True, slots=True)
class SidecarCompile:
    """One compile: its kernels, and what Inductor said of nodes; `notes` say what the writer could not collect."""

    id: str
    torch: str
    kernels: list[SidecarKernel]
    mappings: NodeMappings
    notes: list[str]


@dataclass
class Sidecar:
    """All that a sidecar tells; `faults` are parts that do not fit."""

    handles: dict[str, Handle] = field(default_factory=dict)
    compiles: list[SidecarCompile] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def leaves(self, ids: list[str]) -> list[Handle]:
        """The handles with nothing under them that these come from, each once, in their order."""
        found: dict[str, Handle] = {}
        seen: set[str] = set()
        pending = list(reversed(ids))
        while pending and len(seen) < _MOST_CONSTITUENTS:
            handle = self.handles.get(pending.pop())
            if handle is None or handle.id in seen:
                continue
            seen.add(handle.id)
            if handle.parts:
                pending += reversed(handle.parts)
            if handle.source is not None or not handle.parts:
                found[handle.id] = handle
        return list(found.values())


def read_sidecar(said: Any) -> Sidecar:
    """Reads a sidecar.

    Raises:
        FileFaultError: it is of another version, or has no kernels.
    """
    if not isinstance(said, dict):
        raise FileFaultError("it is no object")
    version = said.get("schemaVersion")
    if isinstance(version, bool) or version != VERSION:
        age = "newer than" if isinstance(version, int) and version > VERSION else "not"
        raise FileFaultError(f"its schemaVersion is {str(version)[:40]}, {age} the version {VERSION} that can be read")
    sidecar = Sidecar()
    _tell_unknown(said, _FIELDS, "", sidecar)
    for name, handle in _objects(said, "handles", sidecar).items():
        _tell_unknown(handle, _HANDLE_FIELDS, f"handles.{name}", sidecar)
        sidecar.handles[name] = _handle(name, handle, sidecar)
    dangling = sorted({part for handle in sidecar.handles.values() for part in handle.parts} - sidecar.handles.keys())
    if dangling:
        sidecar.faults.append(f"handles are made of others that are not there: {', '.join(dangling[:5])}")
    identities = _objects(said, "kernelIdentities", sidecar)
    occurrences = _objects(said, "kernelOccurrences", sidecar)
    for compile_id, projection in _objects(said, "upstreamProjections", sidecar).items():
        sidecar.compiles.append(_compile(compile_id, projection, identities, occurrences, sidecar))
    for counted, number in _objects(said, "diagnostics", sidecar, values=int).items():
        sidecar.faults.append(f"its writer reports {counted}: {number}")
    if not sidecar.compiles:
        raise FileFaultError("it names no compile")
    return sidecar


def _handle(name: str, said: dict[str, Any], sidecar: Sidecar) -> Handle:
    steps = [step for step in _list(said.get("transform_history")) if isinstance(step, dict)]
    return Handle(
        name,
        _source(said.get("source"), name, sidecar),
        str(said.get("aten_op") or ""),
        [str(each) for each in _list(said.get("ir_chain"))],
        [str(each) for each in _list(said.get("fused_from"))],
        [": ".join(str(step.get(key)) for key in ("kind", "pass_name", "reason") if step.get(key)) for step in steps],
    )


def _source(said: Any, name: str, sidecar: Sidecar) -> HandleSource | None:
    if said is None:
        return None
    if (
        not isinstance(said, dict)
        or not isinstance(said.get("file"), str)
        or not _is_at_least(said.get("start_line"), 1)
    ):
        sidecar.faults.append(f"handles.{name}.source is damaged")
        return None
    _tell_unknown(said, _SOURCE_FIELDS, f"handles.{name}.source", sidecar)
    return handle_source(
        said["file"], said["start_line"], said.get("start_col"), said.get("end_line"), said.get("end_col")
    )


def handle_source(file: str, line: int, column: Any, end_line: Any, end_column: Any) -> HandleSource:
    """A source as the compiler counts it, lines from one, of which the end may be missing or of no use."""
    start = column if _is_at_least(column, 0) else 0
    if _is_at_least(end_line, line) and _is_at_least(end_column, 0):
        return HandleSource(file, max(line - 1, 0), start, end_line - 1, end_column)
    return HandleSource(file, max(line - 1, 0), start, None, None)


def _compile(
    compile_id: str, said: dict[str, Any], identities: dict[str, Any], occurrences: dict[str, Any], sidecar: Sidecar
) -> SidecarCompile:
    kernels = []
    for occurrence in occurrences.values():
        if occurrence.get("compileId") != compile_id:
            continue
        name, identity = (
            str(occurrence.get("compilerKernelName", "")),
            identities.get(str(occurrence.get("identityKey"))),
        )
        if identity is None:
            sidecar.faults.append(f"kernel {name[:80]} has an identity that is not there")
            continue
        bound = [
            binding.get("handleId")
            for binding in _list(identity.get("specHandleBindings"))
            if isinstance(binding, dict)
        ]
        ops = [str(op) for op in _list(identity.get("atenOps"))]
        kernels.append(SidecarKernel(name, [str(each) for each in bound], str(identity.get("eventNameBase", "")), ops))
    order = [entry.get("compilerKernelName") for entry in _list(said.get("kernels")) if isinstance(entry, dict)]
    kernels.sort(key=lambda kernel: order.index(kernel.name) if kernel.name in order else len(order))
    producer = found if isinstance(found := said.get("producer"), dict) else {}
    return SidecarCompile(
        compile_id,
        str(producer.get("torchVersion", ""))[:60],
        kernels,
        _mappings(said, sidecar),
        _notes(said, producer),
    )


def _mappings(said: dict[str, Any], sidecar: Sidecar) -> NodeMappings:
    try:
        before, lowered, kernels = (
            name_map(said.get(name, {}), name) for name in ("postToPre", "preToPost", "cppCodeToPost")
        )
    except FileFaultError as error:
        sidecar.faults.append(str(error))
        return NodeMappings()
    return NodeMappings(before, lowered, kernels)


def _notes(said: dict[str, Any], producer: dict[str, Any]) -> list[str]:
    notes = [f"Compiled by torch-spyre {str(producer.get('torchSpyreVersion', '?'))[:60]}."]
    join, missing = said.get("upstreamJoin"), [str(name) for name in _list(said.get("uncollectedKernels"))]
    if join != _JOIN_OK:
        notes.append(f"torch-spyre could not join its kernels with all of Inductor's nodes ({str(join)[:60]}).")
    if missing:
        notes.append(f"torch-spyre could not collect where these kernels come from: {', '.join(missing[:20])}.")
    return notes


def _tell_unknown(said: dict[str, Any], known: set[str], where: str, sidecar: Sidecar) -> None:
    unknown = sorted(str(key)[:80] for key in said if key not in known)
    if unknown:
        at = f"{where}: " if where else ""
        sidecar.faults.append(f"{at}fields that this version does not know were left out: {', '.join(unknown[:10])}")


def _objects(said: dict[str, Any], name: str, sidecar: Sidecar, values: type = dict) -> dict[str, Any]:
    found = said.get(name)
    if not isinstance(found, dict):
        sidecar.faults.append(f"`{name}` is missing or no object")
        return {}
    bad = [key for key, value in found.items() if not isinstance(value, values)]
    if bad:
        sidecar.faults.append(f"`{name}` has entries that are damaged: {', '.join(bad[:5])}")
    return {key: value for key, value in found.items() if isinstance(value, values)}


def _list(said: Any) -> list[Any]:
    return said if isinstance(said, list) else []


def _is_at_least(said: Any, least: int) -> bool:
    return isinstance(said, int) and not isinstance(said, bool) and least <= said < 1 << 31
