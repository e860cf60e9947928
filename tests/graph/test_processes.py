"""Worker processes: frames, deadlines, memory bounds, and the pool that reuses them."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from cortex_graph import GraphBusy, GraphUnavailable
from cortex_graph.workers.processes import ProcessPool, WorkerProcess

WORKER = "tests.graph.echo_worker"
MEMORY = 512 << 20
WAIT_S = 100  # generous: only so that a test ends


@pytest.fixture
def process() -> Iterator[WorkerProcess]:
    process = WorkerProcess(WORKER, MEMORY)
    yield process
    process.close()


@pytest.fixture
def pool() -> Iterator[ProcessPool]:
    pool = ProcessPool(WORKER, "tests", memory_bytes=MEMORY, size=1, waiting=0)
    yield pool
    pool.close()


def acquired(pool: ProcessPool) -> WorkerProcess:
    return pool.acquire(time.monotonic() + WAIT_S)


@pytest.mark.parametrize("length", [0, 1, 5_000_000])
def test_a_frame_arrives_unchanged(process: WorkerProcess, length: int) -> None:
    content = os.urandom(length)
    process.send(b"X", content)
    assert process.receive() == (b"X", content)


def test_a_frame_beyond_the_limit_is_an_error(process: WorkerProcess) -> None:
    process.send(b"X", b"12345")
    with pytest.raises(ValueError, match="longer than 4"):
        process.receive(4)


def test_a_process_is_killed_at_its_deadline(process: WorkerProcess) -> None:
    process.kill_at(time.monotonic() + 0.1)
    process.send(b"S", b"1000")
    with pytest.raises(EOFError):
        process.receive()
    assert process.timed_out
    assert process.wait() == -signal.SIGKILL


def test_a_deadline_can_be_extended_and_removed(process: WorkerProcess) -> None:
    process.kill_at(time.monotonic() + 0.2)
    process.kill_at(time.monotonic() + WAIT_S)
    process.send(b"S", b"0.4")
    assert process.receive()[0] == b"S"
    process.kill_at(None)
    assert process.is_alive
    assert not process.timed_out


def test_an_earlier_deadline_than_one_that_was_removed_is_kept(process: WorkerProcess) -> None:
    process.kill_at(time.monotonic() + WAIT_S)
    process.kill_at(None)
    process.kill_at(time.monotonic() + 0.1)
    process.send(b"S", b"1000")
    with pytest.raises(EOFError):
        process.receive()
    assert process.timed_out


def test_calls_one_after_the_other_share_a_timer(process: WorkerProcess) -> None:
    before = set(threading.enumerate())
    for _ in range(5):
        process.kill_at(time.monotonic() + WAIT_S)
        process.send(b"X", b"1")
        process.receive()
        process.kill_at(None)
    assert len([each for each in threading.enumerate() if each not in before]) == 1
    process.close()
    assert not process.timed_out


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA bounds anonymous memory on Linux only")
def test_more_memory_than_allowed_ends_the_process(process: WorkerProcess) -> None:
    process.send(b"M", str(MEMORY * 2).encode())
    with pytest.raises(EOFError):
        process.receive()
    assert process.wait() == 1


def test_a_process_gets_only_the_environment_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEX_TOKEN", "secret")
    process = WorkerProcess(WORKER, MEMORY, environment={"GIVEN": "1"})
    process.send(b"E")
    environment = json.loads(process.receive()[1])
    process.close()
    assert environment["GIVEN"] == "1"
    assert "CORTEX_TOKEN" not in environment


def test_a_process_that_was_released_as_reusable_is_used_again(pool: ProcessPool) -> None:
    first = acquired(pool)
    pool.release(first, reusable=True)
    assert acquired(pool) is first
    pool.release(first, reusable=False)
    assert not first.is_alive
    assert pool.pids() == []


def test_an_idle_process_that_has_ended_is_replaced(pool: ProcessPool) -> None:
    first = acquired(pool)
    pool.release(first, reusable=True)
    first.kill()
    first.wait()
    second = acquired(pool)
    second.send(b"X", b"answer")
    assert second.receive() == (b"X", b"answer")
    pool.release(second, reusable=True)


def test_a_killed_process_is_not_used_again(pool: ProcessPool) -> None:
    first = acquired(pool)
    first.kill()
    pool.release(first, reusable=True)
    assert pool.pids() == []


def test_a_process_past_its_deadline_frees_its_place_before_it_is_released(pool: ProcessPool) -> None:
    first = acquired(pool)
    first.kill_at(time.monotonic())
    end = time.monotonic() + WAIT_S
    while True:
        try:
            second = pool.acquire(time.monotonic() + 1)
            break
        except GraphBusy:
            assert time.monotonic() < end
    assert second is not first
    pool.release(first, reusable=True)
    pool.release(second, reusable=True)
    assert pool.pids() == [second.pid]


def test_all_processes_busy_is_an_error(pool: ProcessPool) -> None:
    process = acquired(pool)
    with pytest.raises(GraphBusy, match="all 1 processes for tests are busy"):
        pool.acquire(time.monotonic() + WAIT_S)
    pool.release(process, reusable=True)


def test_a_process_that_cannot_be_prepared_is_ended() -> None:
    started: list[WorkerProcess] = []

    def prepare(process: WorkerProcess) -> None:
        started.append(process)
        raise GraphUnavailable("not ready")

    pool = ProcessPool(WORKER, "tests", memory_bytes=MEMORY, prepare=prepare)
    with pytest.raises(GraphUnavailable, match="not ready"):
        acquired(pool)
    assert not started[0].is_alive
    assert pool.pids() == []
    pool.close()


def test_a_closed_pool_ends_its_processes_and_starts_no_other(pool: ProcessPool) -> None:
    process = acquired(pool)
    pool.close()
    assert process.wait() == -signal.SIGKILL
    pool.release(process, reusable=True)
    with pytest.raises(GraphUnavailable, match="closed"):
        acquired(pool)
