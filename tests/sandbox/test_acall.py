"""`acall` of sandboxes: cancelling it stops its guest, and no other call."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cortex_sandbox import Limits, ProcessSandbox, Sandbox, SandboxError

KINDS = [Sandbox, ProcessSandbox] if sys.platform == "linux" else [Sandbox]
CODE = """
let n = 0;
export default { hold: () => hold(), next: () => ++n, loop: () => { entered(); for (;;); } };
"""
Made = tuple[Sandbox | ProcessSandbox, threading.Event, threading.Event]


@pytest.fixture(params=KINDS)
def made(request: pytest.FixtureRequest) -> Iterator[Made]:
    """A sandbox, an event that is set when its guest runs, and one that ends `hold`."""
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        leave.wait(50)

    functions: dict[str, Callable[..., Any]] = {"entered": entered.set, "hold": hold}
    with request.param(Limits(timeout_s=60), functions) as box:
        box.load_module(CODE)
        yield box, entered, leave


async def until(event: threading.Event) -> None:
    while not event.is_set():
        await asyncio.sleep(0.01)


async def cancel(call: asyncio.Task[Any]) -> None:
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


def test_cancelling_interrupts_the_guest(made: Made) -> None:
    box, entered, _leave = made

    async def main() -> None:
        call = asyncio.create_task(box.acall("loop", timeout_s=3600))
        await until(entered)
        await cancel(call)

    asyncio.run(main())  # it waits for the thread of the call
    assert not box.alive
    with pytest.raises(SandboxError, match="cannot be used any more"):
        box.call("next")


def test_a_call_cancelled_before_its_start_never_starts_and_the_running_one_goes_on(made: Made) -> None:
    box, entered, leave = made

    async def main() -> int:
        first = asyncio.create_task(box.acall("hold"))
        await until(entered)
        second = asyncio.create_task(box.acall("next"))
        await asyncio.sleep(0.05)
        await cancel(second)
        leave.set()
        await first
        return int(await box.acall("next"))

    assert asyncio.run(main()) == 1


def test_cancelling_a_call_that_has_ended_leaves_the_sandbox_alive(made: Made) -> None:
    box, _entered, _leave = made

    async def main() -> None:
        call = asyncio.create_task(box.acall("next"))
        assert await call == 1
        call.cancel()

    asyncio.run(main())
    assert box.call("next") == 2
