"""Frames come out as they went in, and nothing else is taken for one."""

from __future__ import annotations

import os
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.worker import frames, protocol
from inductor_debug_schema import (
    FileStatus,
    Finished,
    JobRequest,
    Loaded,
    Stage,
    StageStarted,
    TargetFound,
    TargetSetting,
    WireError,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
MESSAGES = st.lists(st.dictionaries(st.text(), VALUES, max_size=5), max_size=5)


@given(MESSAGES, st.integers(1, 9))
def test_messages_survive_any_cut(messages: list[frames.Message], step: int) -> None:
    data = b"".join(map(frames.encode, messages))
    reader = frames.FrameReader()
    received = [message for at in range(0, len(data), step) for message in reader.feed(data[at : at + step])]
    assert received == messages


@given(MESSAGES)
def test_messages_survive_a_pipe(messages: list[frames.Message]) -> None:
    read_end, write_end = os.pipe()
    try:
        for message in messages:
            frames.write_frame(write_end, message)
            assert frames.read_frame(read_end) == message
    finally:
        os.close(write_end)
        assert frames.read_frame(read_end) is None
        os.close(read_end)


@pytest.mark.parametrize(
    "data",
    [
        b"Traceback (most recent call last):",
        b"\xff" * 8,
        b"\x00\x00\x00\x01\x07",
        b"\x00\x00\x00\x02\x81\x01",
        b"\x00\x00\x00\x03\x81\x01\x02",
        b"\x00\x00\x00\x01\xc1",
        b"\x00\x00\x00\x00",
    ],
)
def test_anything_else_is_an_error(data: bytes) -> None:
    with pytest.raises(frames.FrameError):
        frames.FrameReader().feed(data)


def test_a_frame_that_is_too_large_is_neither_sent_nor_read() -> None:
    with pytest.raises(frames.FrameError):
        frames.encode({"blob": b"x" * (frames.MAX_FRAME + 1)})
    with pytest.raises(frames.FrameError):
        frames.body_length(struct.pack("!I", frames.MAX_FRAME + 1))


def test_a_stream_that_ends_inside_a_frame_is_an_error() -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, frames.encode({"kind": "end"})[:-1])
    os.close(write_end)
    with pytest.raises(frames.FrameError):
        frames.read_frame(read_end)
    os.close(read_end)


def test_text_with_lone_surrogates_gets_through() -> None:
    assert frames.FrameReader().feed(frames.encode({"text": "a\udc80b"})) == [{"text": "a\udc80b"}]


@pytest.mark.parametrize(
    "event",
    [
        Loaded([TargetFound("Model", 3, "directive")], ["/a.py"], ["numpy"], 0.5, ["note"]),
        StageStarted("Model", Stage.MOCK),
        Finished(FileStatus.CLEAN),
    ],
    ids=lambda event: type(event).__name__,
)
def test_events_survive_the_wire(event: Loaded | StageStarted | Finished) -> None:
    [message] = frames.FrameReader().feed(frames.encode(protocol.event_message(event)))
    assert protocol.read_event(message) == event


def test_jobs_survive_the_wire() -> None:
    request = JobRequest(7, "/m.py", "x = 1", "/", [Stage.PREVIEW], {"name": "mock"}, [TargetSetting("M", "()", None)])
    [message] = frames.FrameReader().feed(frames.encode(protocol.job_message(request)))
    assert protocol.read_job(message) == request


@pytest.mark.parametrize(
    "message",
    [{"kind": "event"}, {"kind": "event", "type": 3}, {"kind": "event", "type": "Finished", "event": {"status": "?"}}],
)
def test_a_message_with_the_wrong_shape_is_an_error(message: frames.Message) -> None:
    with pytest.raises(WireError):
        protocol.read_event(message)
