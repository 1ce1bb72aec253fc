"""Graph documents as columns: small on disk, quick to write, and quick to read in a browser.

A file is one msgpack map. `strings` is the table of all strings that may repeat (names of nodes, ops, modules, paths);
every "string" below is an index into it. Columns are byte strings, little-endian: `i4` are 32-bit integers, `f8` 64-bit
floats; -1 stands for None. A column of lists is two columns: `x_at`, the offsets (one more than there are lists), and
`x`, their items one after the other; both are empty where all lists are. The columns of a graph have one value a node.

    format       "inductor-debug-graph"
    schema       1
    target, stage, path, digest, accelerator, torch    str
    notes        [str]
    modules      {dotted path: class name}
    strings      [str]
    shapes_at    i4, into `shapes`; the table of all shapes
    shapes       f8, sizes; a symbolic one is -1 - the index of its string
    place_path, place_line, place_character, place_end_line, place_end_character
                 i4 each: the table of all places (path is a string)
    graphs       [{name, kind, made_from: str,
                   names, ops, details, modules: i4 strings; dtypes: i4 strings or -1;
                   roles: i4, in the order of `NodeRole`; kinds: i4, in the order of `OperationKind`, or -1;
                   shapes, places: i4 into the tables or -1; bytes, flops, written: f8 or -1;
                   seconds: f8 or -1, missing from files of older versions;
                   seq_nrs: i4 or -1; inputs_at, inputs, origins_at, origins, forward_at, forward, kernels_at, kernels:
                   i4 lists of strings}]
    kernels      [{name, language, source, graph: str, nodes: i4 strings, places: i4;
                   build: `KernelBuild` as on the wire, or null; unfused: `UnfusedKernel`s likewise;
                   lines, line_places: i4, missing from files of older versions}]
    listings     [{title, language, text, graph: str, lines: i4, places: i4}]
    marks        [{rule, graph: str, place: i4, nodes: i4 strings}]
    specs        `DeviceSpecs` as on the wire, or null

Readers ignore keys that they do not know; a change that they would misread gets a new `schema`. The TypeScript twin is
`vscode-extension/webview/graph`; both read `shared_schema/golden/GraphColumns.graph`.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import msgpack
from inductor_debug_schema import (
    DeviceSpecs,
    Graph,
    GraphDocument,
    GraphKind,
    GraphNode,
    Kernel,
    KernelBuild,
    LinePlace,
    Listing,
    Location,
    Mark,
    NodeRole,
    OperationKind,
    Position,
    Range,
    Stage,
    UnfusedKernel,
    from_wire,
    to_wire,
)

from inductor_debug.artifacts.columns import NONE, integers, numbers, read_integers, read_lists, read_numbers
from inductor_debug.artifacts.errors import ArtifactError
from inductor_debug.artifacts.tables import PLACE_ENDS, ColumnTables

FORMAT = "inductor-debug-graph"
SCHEMA = 1
MEDIA_TYPE = "application/vnd.inductor-debug.graph+msgpack"
SUFFIX = ".graph"
_HEAD = ("target", "path", "digest", "accelerator", "torch")
_LISTS = ("inputs", "origins", "forward", "kernels")
_ROLES = list(NodeRole)
_KINDS = list(OperationKind)


def encode(document: GraphDocument) -> bytes:
    """The document as the content of a file.

    Raises:
        ArtifactError: a number in it is too large for the format.
    """
    with _no_collection():
        tables = ColumnTables()
        graphs = [_graph(graph, tables) for graph in document.graphs]
        kernels = [_kernel(kernel, tables) for kernel in document.kernels]
        listings = [_listing(listing, tables) for listing in document.listings]
        marks = [_mark(mark, tables) for mark in document.marks]
        content = {
            "format": FORMAT,
            "schema": SCHEMA,
            "stage": document.stage.value,
            **{name: getattr(document, name) for name in _HEAD},
            "notes": document.notes,
            "modules": document.modules,
            "graphs": graphs,
            "kernels": kernels,
            "listings": listings,
            "marks": marks,
            "specs": to_wire(document.specs),
            **tables.columns(),
        }
        return bytes(msgpack.packb(content, use_bin_type=True, unicode_errors="replace"))


def decode(content: bytes) -> GraphDocument:
    """The document that `encode` was given.

    Raises:
        ArtifactError: the content is damaged, foreign, or of a schema that this version does not know.
    """
    with _no_collection():
        try:
            said = msgpack.unpackb(content, raw=False, strict_map_key=False)
        except (ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:
            raise ArtifactError(f"no graph of ours, or a damaged one: {error}") from None
        if not isinstance(said, dict) or said.get("format") != FORMAT:
            raise ArtifactError("no graph of ours")
        if said.get("schema") != SCHEMA:
            raise ArtifactError(f"a graph of schema {said.get('schema')!r}, which this version does not know")
        try:
            return _document(said)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ArtifactError(f"a damaged graph: {type(error).__name__}: {error}") from None


def _graph(graph: Graph, tables: ColumnTables) -> dict[str, Any]:
    nodes = graph.nodes
    roles = {id(role): number for number, role in enumerate(_ROLES)}  # an enumeration's own hash is slow
    kinds = {id(kind): number for number, kind in enumerate(_KINDS)} | {id(None): NONE}
    op, op_role = _ROLES.index(NodeRole.OP), NodeRole.OP
    return {
        "name": graph.name,
        "kind": graph.kind.value,
        "made_from": graph.made_from,
        "names": tables.new_strings([node.name for node in nodes]),
        "ops": tables.strings([node.op for node in nodes]),
        "details": tables.strings([node.detail for node in nodes]),
        "modules": tables.strings([node.module for node in nodes]),
        "dtypes": tables.optional_strings([node.dtype for node in nodes]),
        "roles": integers([op if (role := node.role) is op_role else roles[id(role)] for node in nodes]),
        "kinds": integers([kinds[id(node.kind)] for node in nodes]),
        "shapes": tables.shapes([node.shape for node in nodes]),
        "places": tables.places([node.place for node in nodes]),
        "bytes": numbers([NONE if node.bytes is None else node.bytes for node in nodes]),
        "flops": numbers([NONE if node.flops is None else node.flops for node in nodes]),
        "written": numbers([NONE if node.written is None else node.written for node in nodes]),
        "seconds": numbers([NONE if node.seconds is None else node.seconds for node in nodes]),
        "seq_nrs": integers([NONE if node.seq_nr is None else node.seq_nr for node in nodes]),
        **tables.lists("inputs", [node.inputs for node in nodes]),
        **tables.lists("origins", [node.origins for node in nodes]),
        **tables.lists("forward", [node.forward for node in nodes]),
        **tables.lists("kernels", [node.kernels for node in nodes]),
    }


def _kernel(kernel: Kernel, tables: ColumnTables) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "language": kernel.language,
        "source": kernel.source,
        "graph": kernel.graph,
        "nodes": tables.strings(kernel.nodes),
        "places": tables.places(kernel.places),
        "build": to_wire(kernel.build),
        "unfused": to_wire(kernel.unfused),
        "lines": integers([known.line for known in kernel.lines]),
        "line_places": tables.places([known.place for known in kernel.lines]),
    }


def _listing(listing: Listing, tables: ColumnTables) -> dict[str, Any]:
    return {
        "title": listing.title,
        "language": listing.language,
        "text": listing.text,
        "graph": listing.graph,
        "lines": integers([known.line for known in listing.places]),
        "places": tables.places([known.place for known in listing.places]),
    }


def _mark(mark: Mark, tables: ColumnTables) -> dict[str, Any]:
    return {
        "rule": mark.rule,
        "graph": mark.graph,
        "place": tables.places([mark.place]),
        "nodes": tables.strings(mark.nodes),
    }


def _document(said: dict[str, Any]) -> GraphDocument:
    strings = said["strings"]
    if not all(isinstance(string, str) for string in strings):
        raise ArtifactError("the table of strings has something else in it")
    places = _read_places(said, strings)
    shapes = _read_shapes(said, strings)
    return GraphDocument(
        target=_text(said["target"]),
        stage=Stage(said["stage"]),
        path=_text(said["path"]),
        digest=_text(said["digest"]),
        accelerator=_text(said["accelerator"]),
        torch=_text(said["torch"]),
        graphs=[_read_graph(graph, strings, shapes, places) for graph in said["graphs"]],
        kernels=[
            Kernel(
                **{name: _text(kernel[name]) for name in ("name", "language", "source", "graph")},
                nodes=_read_strings(kernel["nodes"], strings),
                places=[places[number] for number in read_integers(kernel["places"], below=len(places))],
                build=from_wire(KernelBuild, kernel["build"]) if kernel.get("build") is not None else None,
                unfused=[from_wire(UnfusedKernel, one) for one in kernel.get("unfused", ())],
                lines=_read_lines(kernel["lines"], kernel["line_places"], places) if "lines" in kernel else [],
            )
            for kernel in said["kernels"]
        ],
        listings=[_read_listing(listing, places) for listing in said["listings"]],
        modules={_text(path): _text(name) for path, name in said["modules"].items()},
        notes=[_text(note) for note in said["notes"]],
        marks=[
            Mark(_text(mark["rule"]), place, _text(mark["graph"]), _read_strings(mark["nodes"], strings))
            for mark in said["marks"]
            for place in _chosen(mark["place"], places)
        ],
        specs=from_wire(DeviceSpecs, said["specs"]) if said.get("specs") is not None else None,
    )


def _read_graph(
    said: dict[str, Any], strings: list[str], shapes: list[list[int | str]], places: list[Location]
) -> Graph:
    names = _read_strings(said["names"], strings)
    total = len(names)
    lists = [read_lists(said[f"{name}_at"], total, _read_strings(said[name], strings)) for name in _LISTS]
    columns: list[Sequence[Any]] = [
        names,
        _read_strings(said["ops"], strings),
        [_ROLES[number] for number in read_integers(said["roles"], below=len(_ROLES))],
        lists[0],
        [list(shape) if shape is not None else None for shape in _chosen(said["shapes"], shapes)],
        _chosen(said["dtypes"], strings),
        [None if value < 0 else int(value) for value in read_numbers(said["bytes"])],
        _read_strings(said["details"], strings),
        _chosen(said["places"], places),
        _read_strings(said["modules"], strings),
        [None if value == NONE else value for value in read_integers(said["seq_nrs"], lowest=NONE)],
        *lists[1:],
        [None if value < 0 else int(value) for value in read_numbers(said["flops"])],
        _chosen(said["kinds"], _KINDS),
        [None if value < 0 else int(value) for value in read_numbers(said["written"])],
        _seconds(said, total),
    ]
    if any(len(column) != total for column in columns):
        raise ArtifactError("the columns of a graph differ in length")
    nodes = list(map(GraphNode, *columns))
    return Graph(_text(said["name"]), GraphKind(said["kind"]), nodes, _text(said["made_from"]))


def _seconds(said: dict[str, Any], total: int) -> list[float | None]:
    """Files of older versions do not know any."""
    if "seconds" not in said:
        return [None] * total
    return [None if value < 0 else value for value in read_numbers(said["seconds"])]


def _read_listing(said: dict[str, Any], places: list[Location]) -> Listing:
    return Listing(
        **{name: _text(said[name]) for name in ("title", "language", "text", "graph")},
        places=_read_lines(said["lines"], said["places"], places),
    )


def _read_lines(lines: Any, known: Any, places: list[Location]) -> list[LinePlace]:
    numbers_of_lines, found = read_integers(lines), read_integers(known, below=len(places))
    if len(numbers_of_lines) != len(found):
        raise ArtifactError("a text has lines without places")
    return [LinePlace(line, places[number]) for line, number in zip(numbers_of_lines, found, strict=True)]


def _read_places(said: dict[str, Any], strings: list[str]) -> list[Location]:
    paths = _read_strings(said["place_path"], strings)
    columns = [read_integers(said[f"place_{end}"]) for end in PLACE_ENDS]
    if any(len(column) != len(paths) for column in columns):
        raise ArtifactError("the columns of places differ in length")
    return [
        Location(path, Range(Position(line, character), Position(end_line, end_character)))
        for path, line, character, end_line, end_character in zip(paths, *columns, strict=True)
    ]


def _read_shapes(said: dict[str, Any], strings: list[str]) -> list[list[int | str]]:
    sizes = [strings[-1 - int(size)] if size < 0 else int(size) for size in read_numbers(said["shapes"])]
    at = said["shapes_at"]
    return read_lists(at, max(len(at) // 4 - 1, 0), sizes)


def _read_strings(column: Any, strings: list[str]) -> list[str]:
    return [strings[number] for number in read_integers(column, below=len(strings))]


def _chosen(column: Any, table: Sequence[Any]) -> list[Any]:
    """The entries of a table that a column names, None where it names none."""
    return [None if n == NONE else table[n] for n in read_integers(column, lowest=NONE, below=len(table))]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ArtifactError(f"{type(value).__name__} stands where a string should")
    return value


def _no_collection() -> AbstractContextManager[Any]:
    """No garbage is collected meanwhile: it would look at every node again and again, and there is none."""
    stack = ExitStack()
    if gc.isenabled():
        gc.disable()
        stack.callback(gc.enable)
    return stack
