"""Worker pools: blocking work outside the event loop, with limits and cancellation."""

from __future__ import annotations

import asyncio
import threading

import pytest

from cortex_sandbox import Limits, Sandbox
from cortex_sandbox.engine.threads import stack_size
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.http.worker_pools import WorkerPool
from tests.server.serving import WAIT_S


async def until(condition) -> None:
    async with asyncio.timeout(WAIT_S):
        while not condition():
            await asyncio.sleep(0.001)


def test_results_and_exceptions_are_returned():
    async def check() -> None:
        pool = WorkerPool("it", 2, 2)
        assert await pool.run(lambda: 42) == 42
        with pytest.raises(KeyError, match="absent"):
            await pool.run(lambda: {}["absent"])
        assert await pool.run(threading.get_ident) != threading.get_ident()
        pool.close()

    asyncio.run(check())


def test_calls_beyond_the_limit_are_refused_and_the_others_run():
    async def check() -> None:
        pool, go = WorkerPool("it", 1, 2), threading.Event()
        waiting = [asyncio.create_task(pool.run(lambda: go.wait(WAIT_S))) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(HttpError) as caught:
            await pool.run(lambda: None)
        assert caught.value.code == "server_busy"
        go.set()
        assert await asyncio.gather(*waiting) == [True] * 3
        assert await asyncio.gather(*(pool.run(lambda: 1) for _ in range(3))) == [1] * 3
        pool.close()

    asyncio.run(check())


def test_cancelled_work_that_has_not_begun_never_runs_and_frees_its_place():
    async def check() -> None:
        pool, go, begun = WorkerPool("it", 1, 1), threading.Event(), list[str]()
        first = asyncio.create_task(pool.run(lambda: (begun.append("first"), go.wait(WAIT_S))))
        await until(lambda: begun)
        second = asyncio.create_task(pool.run(lambda: begun.append("second")))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        third = asyncio.create_task(pool.run(lambda: begun.append("third")))
        await asyncio.sleep(0)
        assert not third.done()
        go.set()
        await asyncio.gather(first, third)
        assert begun == ["first", "third"]
        pool.close()

    asyncio.run(check())


def test_cancelled_work_that_has_begun_keeps_its_place_until_it_ends():
    async def check() -> None:
        pool, go, begun = WorkerPool("it", 1, 0), threading.Event(), threading.Event()
        first = asyncio.create_task(pool.run(lambda: (begun.set(), go.wait(WAIT_S))))
        await until(begun.is_set)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        with pytest.raises(HttpError):
            await pool.run(lambda: None)
        go.set()
        async with asyncio.timeout(WAIT_S):
            while True:
                try:
                    assert await pool.run(lambda: 5) == 5
                    break
                except HttpError:
                    await asyncio.sleep(0.001)
        pool.close()

    asyncio.run(check())


def test_a_closed_pool_completes_running_work_and_starts_no_more():
    async def check() -> None:
        pool, go, begun = WorkerPool("it", 1, 4), threading.Event(), list[str]()
        first = asyncio.create_task(pool.run(lambda: (begun.append("first"), go.wait(WAIT_S))[1]))
        await until(lambda: begun)
        second = asyncio.create_task(pool.run(lambda: begun.append("second")))
        await asyncio.sleep(0)
        pool.close()
        with pytest.raises(HttpError) as caught:
            await pool.run(lambda: None)
        assert caught.value.code == "server_busy"
        go.set()
        assert await first is True
        with pytest.raises(asyncio.CancelledError):
            await second
        assert begun == ["first"]

    asyncio.run(check())


def test_a_sandbox_runs_on_the_calling_thread_of_a_deep_pool():
    def work() -> tuple[int, int]:
        seen: list[int] = []
        with Sandbox(Limits(stack_bytes=512 << 10), {"here": lambda: seen.append(threading.get_ident())}) as box:
            box.evaluate("here()")
        return threading.get_ident(), seen[0]

    async def check() -> None:
        for deep in (True, False):
            pool = WorkerPool("it", 1, 1, deep=deep)
            caller, guest = await pool.run(work)
            assert (caller == guest) == (await pool.run(stack_size) >= 32 << 20)
            assert not deep or caller == guest or await pool.run(stack_size) == 0
            pool.close()
        assert threading.stack_size() == 0

    asyncio.run(check())
