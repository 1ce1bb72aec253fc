"""Traces are read as data, whoever wrote them; what is none is refused in one sentence, and never taken into memory."""

from __future__ import annotations

import contextlib
import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.traces import chrome_trace
from inductor_debug.traces.chrome_trace import EventKind, TraceError, read_trace

from tests.traces.events import event, launched, written

_NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, "9" * 9000])
_ANYTHING = st.recursive(
    _NUMBERS | st.none() | st.booleans() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def test_plain_and_compressed_traces_are_the_same(tmp_path: Path) -> None:
    events = [event("cpu_op", "aten::mm", 10, 5, Sequence_number=3), *launched("gemm", 4, 12, 30, 7)]
    devices = [{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}]
    plain = read_trace(written(tmp_path / "t.json", events, deviceProperties=devices))
    packed = read_trace(written(tmp_path / "t.json.gz", events, deviceProperties=devices))
    assert plain.events == packed.events
    assert plain.devices == ["NVIDIA A100-SXM4-40GB"]
    assert [(one.kind, one.name, one.start, one.end) for one in plain.events] == [
        (EventKind.OPERATOR, "aten::mm", 10, 15),
        (EventKind.RUNTIME, "cudaLaunchKernel", 12, 14),
        (EventKind.KERNEL, "gemm", 30, 37),
    ]
    assert plain.events[0].sequence == 3


def test_the_older_spelling_and_a_bare_list_are_read_too(tmp_path: Path) -> None:
    old = event("Operator", "aten::mm", 10, 5)
    old["args"] = {"External id": "12", "Call stack": "train.py(7): step;/usr/lib/python3/site-packages/x.py(3): f"}
    path = tmp_path / "old.json"
    path.write_text(json.dumps([old, {"ph": "M", "name": "process_name"}, {"cat": None}, 3]))
    (found,) = read_trace(str(path)).events
    assert found.external == 12
    assert list(map(str, found.stack)) == ["train.py(7): step"]


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_where_a_piece_of_the_file_ends_changes_nothing(
    tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "t.json", [event("cpu_op", f"aten::op{n}", n, 1.25) for n in range(9)])
    whole = read_trace(path).events
    monkeypatch.setattr(chrome_trace, "_CHUNK", chunk)
    assert read_trace(path).events == whole


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "its end"),
        (b"import torch", "where one of {"),
        (b'{"traceEvents": [{"ph": "X"}', "its end"),
        (b'{"traceEvents": [{"ph": "X", "cat"', "ends too early"),
        (b'{"traceEvents": []}', "no operators and no kernels"),
        (b'{"nodes": [1, 2]}', "no operators and no kernels"),
        (b'{"traceEvents": 3}', "where one of ["),
        (b"[" * 100_000, "deep"),
        (gzip.compress(b'{"traceEvents": []}', mtime=0)[:-9], "damaged"),
        (b"\x1f\x8bnot compressed at all", "cannot be read"),
    ],
)
def test_what_is_no_trace_is_refused_in_a_sentence(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(content)
    with pytest.raises(TraceError, match=r"t\.json") as refused:
        read_trace(str(path))
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_huge_trace_is_refused_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "t.json", [event("cpu_op", "aten::mm", n, 1) for n in range(30)])
    monkeypatch.setattr(chrome_trace, "MOST_EVENTS", 20)
    with pytest.raises(TraceError, match=r"more than 20 events.*record fewer steps"):
        read_trace(path)
    one = written(tmp_path / "u.json", [event("cpu_op", "x" * 5000, 0, 1)])
    monkeypatch.setattr(chrome_trace, "MOST_EVENTS", 20_000)
    monkeypatch.setattr(chrome_trace, "_CHUNK", 64)
    monkeypatch.setattr(chrome_trace, "_LONGEST_VALUE", 1000)
    with pytest.raises(TraceError, match="one value is longer"):
        read_trace(one)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"none\.json cannot be read: No such file"):
        read_trace(str(tmp_path / "none.json"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


def sound() -> list[dict[str, Any]]:
    stack = "train.py(7): step"
    return [event("cpu_op", "aten::mm", 10, 5, Sequence_number=3, Call_stack=stack), *launched("gemm", 4, 12, 30, 7)]


@given(st.data())
def test_a_trace_with_any_part_replaced_is_read_or_refused(folder: Path, data: st.DataObject) -> None:
    events = sound()
    at: dict[str, Any] = data.draw(st.sampled_from(events))
    at = data.draw(st.sampled_from([at, at["args"]]))
    at[data.draw(st.sampled_from(sorted(at)))] = data.draw(_ANYTHING)
    beside = {"deviceProperties": data.draw(_ANYTHING)}
    with contextlib.suppress(TraceError):
        for found in read_trace(written(folder / "t.json", events, **beside)).events:
            assert math.isfinite(found.start)
            assert math.isfinite(found.end)


@given(st.data())
def test_a_damaged_trace_is_read_or_refused(folder: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["t.json", "t.json.gz"]))
    whole = Path(written(folder / name, sound())).read_bytes()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    (folder / name).write_bytes(whole[:start] + data.draw(st.binary(max_size=12)) + whole[end:])
    with contextlib.suppress(TraceError):
        read_trace(str(folder / name))
