"""Frames and errors of the worker protocol, valid and malformed."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_sandbox import Frame, SandboxError, SandboxMemoryError, SandboxTimeout
from cortex_sandbox.isolation.protection import protections_from
from cortex_sandbox.isolation.wire import (
    ERROR,
    HOST_CALL,
    LOG,
    RESULT,
    Frames,
    WireError,
    error_from_json,
    error_to_json,
    frame,
    split_head,
    with_head,
)

KINDS = (RESULT, ERROR, HOST_CALL, LOG)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=10,
)


def drained(frames: Frames) -> list[tuple[bytes, bytes]]:
    found = []
    while (taken := frames.take()) is not None:
        found.append(taken)
    return found


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.binary(max_size=300))), st.integers(1, 50))
def test_frames_round_trip_however_the_stream_is_cut(sent, step):
    stream = b"".join(frame(kind, payload[:7], payload[7:]) for kind, payload in sent)
    frames = Frames(KINDS, 300)
    found = []
    for at in range(0, len(stream), step):
        frames.feed(stream[at : at + step])
        found += drained(frames)
    assert found == sent


@given(st.binary(min_size=5, max_size=200))
def test_any_bytes_are_an_error_or_incomplete_and_never_exceed_the_limit(garbage):
    frames = Frames(KINDS, 64)
    frames.feed(garbage)
    with contextlib.suppress(WireError):
        assert all(kind in KINDS and len(payload) <= 64 for kind, payload in drained(frames))


def test_a_length_over_the_limit_is_refused_before_the_payload_arrives():
    frames = Frames(KINDS, 64)
    frames.feed((66).to_bytes(4, "big") + RESULT)
    with pytest.raises(WireError):
        frames.take()


@pytest.mark.parametrize("start", [b"\0\0\0\0R", b"\0\0\0\1C", b"\xff\xff\xff\xffR", b"HTTP/1.1"])
def test_bytes_that_are_not_a_frame_are_refused(start):
    frames = Frames(KINDS, 64)
    frames.feed(start)
    with pytest.raises(WireError):
        frames.take()


@given(json_values, st.binary())
def test_head_and_body_round_trip(head, body):
    if "__proto__" not in json.dumps(head):
        assert split_head(with_head(head, body)) == (head, body)


frames_of_a_stack = st.builds(
    Frame,
    st.text(st.characters(codec="utf-8"), max_size=50),
    st.text(st.characters(codec="utf-8"), max_size=50),
    st.integers(0, 10**9),
    st.integers(0, 10**9),
)


@given(
    st.sampled_from([SandboxError, SandboxTimeout, SandboxMemoryError]),
    st.text(st.characters(codec="utf-8"), max_size=100),
    st.text(st.characters(codec="utf-8"), max_size=100),
    st.lists(frames_of_a_stack, max_size=5),
)
def test_an_error_round_trips(kind, message, name, frames):
    error = error_from_json(error_to_json(kind(message, name, tuple(frames))))
    assert (type(error), error.message, error.name, error.frames) == (kind, message, name, tuple(frames))


def test_a_long_error_is_truncated():
    reported = {"code": "skill_error", "name": "n" * 9999, "message": "m" * 9999, "frames": []}
    reported["frames"] = [{"function": "f" * 9999, "file": "f", "line": 1, "column": 1}] * 99
    error = error_from_json(json.dumps(reported).encode())
    assert (len(error.name), len(error.message), len(error.frames)) == (1000, 4096, 50)
    assert len(error.frames[0].function) == 1000


@given(json_values)
def test_a_malformed_error_is_refused(reported):
    with pytest.raises(WireError):
        error_from_json(json.dumps(reported).encode())


@pytest.mark.parametrize(
    "reported",
    [
        b"",
        b"nonsense",
        b"[" * 100_000,
        b'{"code":"config_invalid","name":"a","message":"b","frames":[]}',
        b'{"code":"skill_error","name":1,"message":"b","frames":[]}',
        b'{"code":"skill_error","name":"a","message":"b","frames":[[]]}',
        b'{"code":"skill_error","name":"a","message":"b","frames":[{"function":"","file":"","line":"1","column":1}]}',
        b'{"__proto__":1}',
    ],
)
def test_an_error_with_invalid_json_is_refused(reported):
    with pytest.raises(WireError):
        error_from_json(reported)


@pytest.mark.parametrize("reported", [[None], [["a", 1, "b"]], [["a", True]], ["abc"]])
def test_a_malformed_report_of_protections_is_refused(reported):
    with pytest.raises(WireError):
        protections_from(reported)
