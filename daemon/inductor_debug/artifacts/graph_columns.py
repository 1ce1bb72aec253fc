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
                   roles: i4, in the order of `NodeRole`; shapes, places: i4 into the tables or -1; bytes: f8 or -1;
                   seq_nrs: i4 or -1; inputs_at, inputs, origins_at, origins, forward_at, forward, kernels_at, kernels:
                   i4 lists of strings}]
    kernels      [{name, language, source, graph: str, nodes: i4 strings, places: i4}]
    listings     [{title, language, text, graph: str, lines: i4, places: i4}]

Readers ignore keys that they do not know; a change that they would misread gets a new `schema`. The TypeScript twin is
`vscode-extension/webview/graph`; both read `shared_schema/golden/GraphColumns.graph`.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from itertools import count
from typing import Any

import msgpack
from inductor_debug_schema import (
    Graph,
    GraphDocument,
    GraphKind,
    GraphNode,
    Kernel,
    LinePlace,
    Listing,
    Location,
    NodeRole,
    Position,
    Range,
    Stage,
)

from inductor_debug.artifacts.columns import NONE, integers, numbers, offsets, read_integers, read_lists, read_numbers
from inductor_debug.artifacts.errors import ArtifactError

FORMAT = "inductor-debug-graph"
SCHEMA = 1
MEDIA_TYPE = "application/vnd.inductor-debug.graph+msgpack"
SUFFIX = ".graph"
_HEAD = ("target", "path", "digest", "accelerator", "torch")
_LISTS = ("inputs", "origins", "forward", "kernels")
_ROLES = list(NodeRole)


def encode(document: GraphDocument) -> bytes:
    """The document as the content of a file.

    Raises:
        ArtifactError: a number in it is too large for the format.
    """
    with _no_collection():
        tables = _Tables()
        graphs = [_graph(graph, tables) for graph in document.graphs]
        kernels = [_kernel(kernel, tables) for kernel in document.kernels]
        listings = [_listing(listing, tables) for listing in document.listings]
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


class _Tables:
    """The strings, shapes and places of one document, each kept once and numbered as they come.

    Comprehensions over plain dictionaries, because they run once for every node and column.
    """

    def __init__(self) -> None:
        self._strings: defaultdict[str, int] = defaultdict(count().__next__)
        self._shapes: defaultdict[tuple[Any, ...], int] = defaultdict(count().__next__)
        self._places: dict[Location, int] = {}

    def strings(self, values: Iterable[str]) -> bytes:
        numbers_of = self._strings
        return integers([numbers_of[value] for value in values])

    def optional_strings(self, values: Iterable[str | None]) -> bytes:
        numbers_of = self._strings
        return integers([NONE if value is None else numbers_of[value] for value in values])

    def shapes(self, values: Iterable[Sequence[int | str] | None]) -> bytes:
        numbers_of = self._shapes
        return integers([NONE if value is None else numbers_of[tuple(value)] for value in values])

    def places(self, values: Sequence[Location | None]) -> bytes:
        """Equal places are mostly one object, so that is looked at first; `values` keeps all of them alive."""
        identities = list(map(id, values))
        objects = dict(zip(identities, values, strict=True))
        numbers_of = {
            identity: NONE if place is None else self._places.setdefault(place, len(self._places))
            for identity, place in objects.items()
        }
        return integers([numbers_of[identity] for identity in identities])

    def lists(self, name: str, values: list[list[str]]) -> dict[str, bytes]:
        """Both columns of a column of lists."""
        numbers_of = self._strings
        flat = integers([numbers_of[item] for items in values for item in items])
        return {name: flat, f"{name}_at": offsets(map(len, values)) if flat else b""}

    def columns(self) -> dict[str, Any]:
        shapes, places = list(self._shapes), list(self._places)
        numbers_of = self._strings
        sizes = [-1 - numbers_of[size] if isinstance(size, str) else size for shape in shapes for size in shape]
        return {
            "shapes_at": offsets(map(len, shapes)),
            "shapes": numbers(sizes),
            "place_path": self.strings([place.path for place in places]),
            "place_line": integers([place.range.start.line for place in places]),
            "place_character": integers([place.range.start.character for place in places]),
            "place_end_line": integers([place.range.end.line for place in places]),
            "place_end_character": integers([place.range.end.character for place in places]),
            "strings": list(self._strings),
        }


def _graph(graph: Graph, tables: _Tables) -> dict[str, Any]:
    nodes = graph.nodes
    roles = {id(role): number for number, role in enumerate(_ROLES)}
    return {
        "name": graph.name,
        "kind": graph.kind.value,
        "made_from": graph.made_from,
        "names": tables.strings([node.name for node in nodes]),
        "ops": tables.strings([node.op for node in nodes]),
        "details": tables.strings([node.detail for node in nodes]),
        "modules": tables.strings([node.module for node in nodes]),
        "dtypes": tables.optional_strings([node.dtype for node in nodes]),
        "roles": integers([roles[id(node.role)] for node in nodes]),
        "shapes": tables.shapes([node.shape for node in nodes]),
        "places": tables.places([node.place for node in nodes]),
        "bytes": numbers([NONE if node.bytes is None else node.bytes for node in nodes]),
        "seq_nrs": integers([NONE if node.seq_nr is None else node.seq_nr for node in nodes]),
        **tables.lists("inputs", [node.inputs for node in nodes]),
        **tables.lists("origins", [node.origins for node in nodes]),
        **tables.lists("forward", [node.forward for node in nodes]),
        **tables.lists("kernels", [node.kernels for node in nodes]),
    }


def _kernel(kernel: Kernel, tables: _Tables) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "language": kernel.language,
        "source": kernel.source,
        "graph": kernel.graph,
        "nodes": tables.strings(kernel.nodes),
        "places": tables.places(kernel.places),
    }


def _listing(listing: Listing, tables: _Tables) -> dict[str, Any]:
    return {
        "title": listing.title,
        "language": listing.language,
        "text": listing.text,
        "graph": listing.graph,
        "lines": integers([known.line for known in listing.places]),
        "places": tables.places([known.place for known in listing.places]),
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
            )
            for kernel in said["kernels"]
        ],
        listings=[_read_listing(listing, places) for listing in said["listings"]],
        modules={_text(path): _text(name) for path, name in said["modules"].items()},
        notes=[_text(note) for note in said["notes"]],
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
    ]
    if any(len(column) != total for column in columns):
        raise ArtifactError("the columns of a graph differ in length")
    nodes = list(map(GraphNode, *columns))
    return Graph(_text(said["name"]), GraphKind(said["kind"]), nodes, _text(said["made_from"]))


def _read_listing(said: dict[str, Any], places: list[Location]) -> Listing:
    lines = read_integers(said["lines"])
    known = [places[number] for number in read_integers(said["places"], below=len(places))]
    if len(lines) != len(known):
        raise ArtifactError("a listing has lines without places")
    return Listing(
        **{name: _text(said[name]) for name in ("title", "language", "text", "graph")},
        places=list(map(LinePlace, lines, known)),
    )


def _read_places(said: dict[str, Any], strings: list[str]) -> list[Location]:
    paths = _read_strings(said["place_path"], strings)
    ends = ("line", "character", "end_line", "end_character")
    columns = [read_integers(said[f"place_{end}"]) for end in ends]
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
