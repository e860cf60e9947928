"""Spinning before sleeping: available data is read at once, and after spinning in vain the next reads sleep."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator

import pytest

from cortex_sandbox.isolation import link
from cortex_sandbox.isolation.link import WorkerLink
from cortex_sandbox.isolation.spin_wait import SpinWait
from cortex_sandbox.isolation.wire import RESULT, frame

SPAN_S = 1e-4


def asleep(most: int) -> bytes:
    return b"slept for"


@pytest.fixture
def pipe() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def waits_asleep(awake: SpinWait, theirs: socket.socket) -> int:
    """The number of reads that sleep at once before one spins."""
    theirs.send(b"there")
    for count in range(10_000):
        if awake.read(100, asleep) == b"there":
            return count
    raise AssertionError("it never looks again")


def test_available_data_is_read_without_sleeping(pipe):
    ours, theirs = pipe
    awake = SpinWait(ours, SPAN_S)
    for number in range(50):
        theirs.send(str(number).encode())
        assert awake.read(100, asleep) == str(number).encode()


def test_at_most_the_requested_number_of_bytes_is_read(pipe):
    ours, theirs = pipe
    theirs.send(b"abcdef")
    awake = SpinWait(ours, SPAN_S)
    assert [awake.read(4, asleep), awake.read(4, asleep)] == [b"abcd", b"ef"]


def test_after_spinning_in_vain_it_sleeps_with_the_same_size(pipe):
    asked = []
    SpinWait(pipe[0], SPAN_S).read(77, lambda most: asked.append(most) or b"")
    assert asked == [77]


def test_after_each_failure_it_spins_half_as_often_until_data_arrives(pipe):
    ours, theirs = pipe
    awake = SpinWait(ours, SPAN_S)
    assert awake.read(100, asleep) == b"slept for"
    assert waits_asleep(awake, theirs) == 8
    for expected in (8, 16, 32):
        assert awake.read(100, asleep) == b"slept for"
        if expected < 32:
            for _ in range(expected):
                assert awake.read(100, asleep) == b"slept for"
    assert waits_asleep(awake, theirs) == 32
    assert awake.read(100, asleep) == b"slept for"
    assert waits_asleep(awake, theirs) == 8


def test_it_never_stops_spinning_completely(pipe):
    ours, theirs = pipe
    awake = SpinWait(ours, SPAN_S)
    for _ in range(3000):
        awake.read(100, asleep)
    assert waits_asleep(awake, theirs) <= 64


def test_the_end_is_empty_and_errors_of_the_pipe_are_raised(pipe):
    ours, theirs = pipe
    awake = SpinWait(ours, SPAN_S)
    ours.send(b"never read")
    theirs.close()
    with pytest.raises(ConnectionResetError):
        awake.read(100, asleep)
    assert awake.read(100, asleep) == b""


def test_errors_of_sleeping_are_raised(pipe):
    def late(most: int) -> bytes:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        SpinWait(pipe[0], SPAN_S).read(100, late)


def test_several_waiting_threads_do_not_spin(pipe, monkeypatch):
    ours, theirs = pipe
    waiting = WorkerLink(ours, os.pidfd_open(os.getpid()), 100)
    looked = []
    monkeypatch.setattr(waiting._spin_wait, "read", lambda most, sleeping: looked.append(most) or sleeping(most))
    try:
        for others in (set(), {object()}, set()):
            monkeypatch.setattr(link, "_receiving", others)
            theirs.send(frame(RESULT, b"an answer"))
            assert waiting.receive(time.monotonic() + 600) == (RESULT, b"an answer")
    finally:
        waiting.let_go()
    assert len(looked) == 2
