"""Snapshots of CUDA's memory open as memory documents tied to lines, and nothing in one ever runs."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
from pathlib import Path
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.artifacts.errors import ArtifactError
from inductor_debug.engine.live_tensors.memory_snapshot import read_snapshot
from inductor_debug_schema import to_wire

LIBRARY = {"filename": "/env/lib/python3.11/site-packages/torch/nn/functional.py", "line": 5, "name": "linear"}
MODEL = "import torch\n\n\ndef forward(x):\n    h = x @ x\n    return h.relu()\n"
_SIMPLE = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=8)
_ANYTHING = st.recursive(
    _SIMPLE | st.sampled_from([1 << 64, -1, 1e308, float("inf")]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_SIMPLE, inner, max_size=4),
    max_leaves=8,
)


def event(action: str, address: int, size: int, *lines: int) -> dict[str, Any]:
    frames = [LIBRARY, *({"filename": "/work/net.py", "line": line, "name": "forward"} for line in lines)]
    return {"action": action, "addr": address, "size": size, "stream": 0, "frames": frames}


def written(folder: Path, content: Any) -> str:
    path = folder / "snapshot.pickle"
    path.write_bytes(content if isinstance(content, bytes) else pickle.dumps(content))
    return str(path)


def test_what_was_alive_is_tied_to_the_lines_that_allocated_it(tmp_path: Path) -> None:
    events = [
        {"action": "segment_alloc", "addr": 0, "size": 1 << 20, "stream": 0, "frames": []},
        event("alloc", 0, 1000, 5),
        event("alloc", 1000, 500, 6),
        event("free_requested", 0, 1000),
        {"action": "free_completed", "addr": 0, "size": 1000, "stream": 0, "frames": []},
        event("alloc", 0, 200),
        event("free_requested", 77, 1),
    ]
    path = written(tmp_path, {"segments": [], "device_traces": [events, []]})
    (document,) = read_snapshot(path, {"/work/net.py": MODEL}.get)
    assert (document.operations, document.peak, document.peak_bytes) == (5, 1, 1500)
    assert document.kinds[0].bytes == [1000, 1500, 500, 700, 700]
    assert [(place.range.start.line, place.text) for place in document.places] == [
        (4, "h = x @ x"),
        (5, "return h.relu()"),
    ]
    assert [(piece.first, piece.end, piece.bytes, piece.place) for piece in document.pieces] == [
        (0, 2, 1000, 0), (1, 5, 500, 1), (3, 5, 200, -1),
    ]  # fmt: skip
    assert [held.bytes for held in document.held] == [1000, 500]
    assert document.operation_places == [0, 1, -1, -1, -1]


class Evil:
    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (self.mark,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_would_run_code_is_refused_and_runs_none(tmp_path: Path, protocol: int) -> None:
    mark = tmp_path / "ran"
    content = pickle.dumps({"device_traces": [[Evil(str(mark))]]}, protocol)
    with pytest.raises(ArtifactError, match=r"it names (posix|nt|os)\.mkdir"):
        read_snapshot(written(tmp_path, content), lambda path: None)
    assert not mark.exists()
    pickle.loads(content)
    assert mark.exists(), "it would have"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no pickle",
        pickle.dumps([1]),
        pickle.dumps({"device_traces": []}),
        pickle.dumps({"device_traces": [[1]]}),
        pickle.dumps({"device_traces": [[{"action": "alloc"}]]}),
        b"(S'other'\nP1\n.",
        b"\x80\x04Pother\n.",
    ],
)
def test_what_is_no_snapshot_is_an_error_that_names_the_file(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ArtifactError, match=r"snapshot\.pickle"):
        read_snapshot(written(tmp_path, content), lambda path: None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


def snapshot() -> Any:
    return copy.deepcopy({"device_traces": [[event("alloc", 0, 1000, 5), event("free_requested", 0, 1000)]]})


@given(st.data())
def test_a_snapshot_with_any_part_replaced_is_read_or_refused(folder: Path, data: st.DataObject) -> None:
    said = at = snapshot()
    while True:
        key = data.draw(st.sampled_from(list(at) if isinstance(at, dict) else range(len(at))))
        if not isinstance(at[key], (dict, list)) or not at[key] or data.draw(st.booleans()):
            at[key] = data.draw(_ANYTHING)
            break
        at = at[key]
    with contextlib.suppress(ArtifactError):
        for document in read_snapshot(written(folder, said), {"/work/net.py": MODEL}.get):
            msgpack.packb(to_wire(document))


@given(st.data())
def test_a_damaged_pickle_is_read_or_refused(folder: Path, data: st.DataObject) -> None:
    whole = pickle.dumps(snapshot(), data.draw(st.sampled_from([0, 2, 4])))
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    content = whole[:start] + data.draw(st.binary(max_size=12)) + whole[end:]
    with contextlib.suppress(ArtifactError):
        for document in read_snapshot(written(folder, content), lambda path: None):
            msgpack.packb(to_wire(document))
