"""`bench artifacts`: how long a large graph takes to become a file, how large that is, and how long listing many takes.

Makes its own graph and its own store in a temporary folder. Needs neither torch nor a worker.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from inductor_debug.artifacts.graph_columns import decode, encode
from inductor_debug.artifacts.store import ArtifactStore
from inductor_debug_schema import (
    ArtifactKind,
    ArtifactMade,
    Graph,
    GraphDocument,
    GraphKind,
    GraphNode,
    Location,
    Position,
    Range,
    Stage,
)

from inductor_debug_benchmarks.outcome import BenchmarkOutcome, Promise

NODES = 20_000
ENTRIES = 10_000
ENCODE_SECONDS, LARGEST_BYTES, LISTING_SECONDS = 0.020, 3_000_000, 0.3
_OPS = ("aten.mm.default", "aten.add.Tensor", "aten.view.default", "aten._to_copy.default", "aten.relu.default")
_LAYERS = 48


@dataclass(frozen=True, slots=True)
class MeasuredStore:
    """Best times in seconds, and the file's size in bytes."""

    encode: float
    decode: float
    bytes: int
    put: float
    listing: float


def run() -> BenchmarkOutcome:
    """Measures everything once."""
    measured = measure()
    told = f"decoding in Python: {measured.decode * 1e3:.0f} ms; keeping one: {measured.put * 1e6:.0f} µs"
    return BenchmarkOutcome(asdict(measured), _promises(measured), [told])


def measure() -> MeasuredStore:
    """Runs everything once."""
    document = large_document(NODES)
    content = encode(document)
    with tempfile.TemporaryDirectory() as folder:
        store = ArtifactStore(Path(folder))
        put = _seconds(lambda: _fill(store), times=1) / ENTRIES
        listing = _seconds(store.entries, times=5)
    return MeasuredStore(
        encode=_seconds(lambda: encode(document), times=40),
        decode=_seconds(lambda: decode(content), times=3),
        bytes=len(content),
        put=put,
        listing=listing,
    )


def _promises(measured: MeasuredStore) -> list[Promise]:
    return [
        (
            measured.encode <= ENCODE_SECONDS,
            f"a graph of {NODES} nodes is encoded in {measured.encode * 1e3:.1f} ms (at most {ENCODE_SECONDS * 1e3:g})",
        ),
        (
            measured.bytes <= LARGEST_BYTES,
            f"its file has {measured.bytes / 1e6:.2f} MB (at most {LARGEST_BYTES / 1e6:g})",
        ),
        (
            measured.listing <= LISTING_SECONDS,
            f"{ENTRIES} artifacts are listed in {measured.listing:.3f} s (at most {LISTING_SECONDS:g})",
        ),
    ]


def large_document(count: int) -> GraphDocument:
    """The graphs of a training step with `count` nodes: before autograd, forward and backward, tied to each other."""
    before, names = _graph("0", GraphKind.FX, count * 2 // 5)
    forward, forward_names = _graph("0.forward", GraphKind.FORWARD, count * 3 // 10, made_from=names)
    backward, _ = _graph("0.backward", GraphKind.BACKWARD, count * 3 // 10, forward=forward_names)
    graphs = [before, forward, backward]
    return GraphDocument("Model", Stage.INDUCTOR, "/project/model.py", "0123456789abcdef", "mock", "2.13.0", graphs)


def _graph(
    name: str, kind: GraphKind, count: int, made_from: list[str] | None = None, forward: list[str] | None = None
) -> tuple[Graph, list[str]]:
    names = [f"{kind.value}_{number}" for number in range(count)]
    kernels = [f"cpp_fused_add_mul_relu_{number}" for number in range(count // 8 + 1)]
    places = [Location("/project/model.py", Range(Position(line, 15), Position(line, 47))) for line in range(300)]
    nodes = [
        GraphNode(
            name=names[number],
            op=_OPS[number % len(_OPS)],
            inputs=[names[max(number - 1, 0)], names[max(number - 7, 0)]],
            shape=[8, 128 + number % 256, 768],
            dtype="float32",
            bytes=number * 768 * 4,
            detail="" if number % 3 else f"[0, {number % 11}]",
            place=places[number % len(places)],
            module=f"encoder.layer.{number % _LAYERS}.attention.self",
            seq_nr=number,
            origins=[made_from[number % len(made_from)]] if made_from else [],
            forward=[forward[number % len(forward)]] if forward else [],
            kernels=[kernels[number // 8]] if kind is not GraphKind.FX else [],
        )
        for number in range(count)
    ]
    return Graph(name, kind, nodes, "" if kind is GraphKind.FX else "0"), names


def _fill(store: ArtifactStore) -> None:
    for number in range(ENTRIES):
        made = ArtifactMade(
            ArtifactKind.INDUCTOR_KERNELS, f"kernel_{number % 40}", ".cpp", "text/x-c++", b"%d" % number, "Model"
        )
        if store.put(made, source="/project/model.py") is None:
            raise OSError(store.trouble)


def _seconds(work: Callable[[], Any], *, times: int) -> float:
    """The best of several runs: the one that other processes disturbed least."""
    best = float("inf")
    for _ in range(times):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best
