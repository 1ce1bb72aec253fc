from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inductor_debug.server.rpc.framing import LARGEST_HEADER, LspFrameError, LspFrameReader, frame


@given(st.lists(st.binary(max_size=60), max_size=6), st.integers(1, 40))
def test_bodies_come_out_as_they_went_in_however_the_bytes_arrive(bodies: list[bytes], step: int) -> None:
    reader = LspFrameReader()
    stream = b"".join(map(frame, bodies))
    found = [body for start in range(0, len(stream), step) for body in reader.feed(stream[start : start + step])]
    assert found == bodies
    assert not reader.pending


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\n\r\n",
        b"content-length:2\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\n\n",
        b"X-Unknown: 1\r\nCONTENT-LENGTH:  2 \r\n\r\n",
    ],
)
def test_every_spelling_of_a_header_is_understood(header: bytes) -> None:
    assert LspFrameReader().feed(header + b"{}") == [b"{}"]


@pytest.mark.parametrize(
    "bad",
    [
        b"Content-Length: two\r\n\r\n{}",
        b"Content-Length: -1\r\n\r\n{}",
        b"Content-Length: 99999999999999999999999999\r\n\r\n",
        b"Content-Type: text/plain\r\n\r\n{}",
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: here\r\n\r\n",
    ],
)
def test_a_bad_header_is_told_once_and_the_next_message_is_read(bad: bytes) -> None:
    frames = LspFrameReader().feed(bad + frame(b'{"next": 1}'))
    assert [type(found) for found in frames] == [LspFrameError, bytes]
    assert frames[-1] == b'{"next": 1}'


def test_a_length_that_is_too_small_costs_one_message_only() -> None:
    frames = LspFrameReader().feed(b'Content-Length: 3\r\n\r\n{"a": 1}' + frame(b"{}") + frame(b"[]"))
    assert frames == [b'{"a', b"{}", b"[]"]


def test_endless_input_without_a_header_is_thrown_away() -> None:
    reader = LspFrameReader()
    frames = [found for _ in range(40) for found in reader.feed(b"x" * (LARGEST_HEADER // 8))]
    assert frames
    assert all(isinstance(found, LspFrameError) for found in frames)
    assert reader.feed(b"y\r\n\r\n" + frame(b"{}"))[-1] == b"{}"
