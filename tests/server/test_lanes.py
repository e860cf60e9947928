"""Lanes: blocking work beside the event loop, bounded, and let go of when nobody waits."""

from __future__ import annotations

import asyncio
import threading

import pytest

from cortex_sandbox import Limits, Sandbox
from cortex_sandbox.threads import stack_size
from cortex_skills.server.errors import HttpError
from cortex_skills.server.lanes import Lane
from tests.server.serving import WAIT_S


async def until(condition) -> None:
    async with asyncio.timeout(WAIT_S):
        while not condition():
            await asyncio.sleep(0.001)


def test_what_work_comes_to_comes_back():
    async def check() -> None:
        lane = Lane("it", 2, 2)
        assert await lane.run(lambda: 42) == 42
        with pytest.raises(KeyError, match="absent"):
            await lane.run(lambda: {}["absent"])
        assert await lane.run(threading.get_ident) != threading.get_ident()
        lane.close()

    asyncio.run(check())


def test_what_comes_when_all_places_are_taken_is_refused_and_the_rest_is_done():
    async def check() -> None:
        lane, go = Lane("it", 1, 2), threading.Event()
        waiting = [asyncio.create_task(lane.run(lambda: go.wait(WAIT_S))) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(HttpError) as caught:
            await lane.run(lambda: None)
        assert caught.value.code == "server_busy"
        go.set()
        assert await asyncio.gather(*waiting) == [True] * 3
        assert await asyncio.gather(*(lane.run(lambda: 1) for _ in range(3))) == [1] * 3
        lane.close()

    asyncio.run(check())


def test_work_that_nobody_waits_for_never_begins_and_gives_its_place_back_at_once():
    async def check() -> None:
        lane, go, begun = Lane("it", 1, 1), threading.Event(), list[str]()
        first = asyncio.create_task(lane.run(lambda: (begun.append("first"), go.wait(WAIT_S))))
        await until(lambda: begun)
        second = asyncio.create_task(lane.run(lambda: begun.append("second")))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        third = asyncio.create_task(lane.run(lambda: begun.append("third")))
        await asyncio.sleep(0)
        assert not third.done()
        go.set()
        await asyncio.gather(first, third)
        assert begun == ["first", "third"]
        lane.close()

    asyncio.run(check())


def test_work_that_has_begun_keeps_its_place_when_nobody_waits_any_more():
    async def check() -> None:
        lane, go, begun = Lane("it", 1, 0), threading.Event(), threading.Event()
        first = asyncio.create_task(lane.run(lambda: (begun.set(), go.wait(WAIT_S))))
        await until(begun.is_set)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        with pytest.raises(HttpError):
            await lane.run(lambda: None)
        go.set()
        async with asyncio.timeout(WAIT_S):
            while True:
                try:
                    assert await lane.run(lambda: 5) == 5
                    break
                except HttpError:
                    await asyncio.sleep(0.001)
        lane.close()

    asyncio.run(check())


def test_a_closed_lane_ends_what_has_begun_and_begins_nothing_more():
    async def check() -> None:
        lane, go, begun = Lane("it", 1, 4), threading.Event(), list[str]()
        first = asyncio.create_task(lane.run(lambda: (begun.append("first"), go.wait(WAIT_S))[1]))
        await until(lambda: begun)
        second = asyncio.create_task(lane.run(lambda: begun.append("second")))
        await asyncio.sleep(0)
        lane.close()
        with pytest.raises(HttpError) as caught:
            await lane.run(lambda: None)
        assert caught.value.code == "server_busy"
        go.set()
        assert await first is True
        with pytest.raises(asyncio.CancelledError):
            await second
        assert begun == ["first"]

    asyncio.run(check())


def test_a_guest_runs_on_the_thread_of_a_deep_lane_that_calls_it():
    def work() -> tuple[int, int]:
        seen: list[int] = []
        with Sandbox(Limits(stack_bytes=512 << 10), {"here": lambda: seen.append(threading.get_ident())}) as box:
            box.evaluate("here()")
        return threading.get_ident(), seen[0]

    async def check() -> None:
        for deep in (True, False):
            lane = Lane("it", 1, 1, deep=deep)
            caller, guest = await lane.run(work)
            assert (caller == guest) == (await lane.run(stack_size) >= 32 << 20)
            assert not deep or caller == guest or await lane.run(stack_size) == 0
            lane.close()
        assert threading.stack_size() == 0

    asyncio.run(check())
