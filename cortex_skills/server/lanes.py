"""Where blocking work is done, so that the event loop never waits.

Rules kept here:
- a lane has so many threads, and so many calls may wait for one; what comes beyond that is refused at once;
- what is quick and what may take long have lanes of their own: slow calls only ever wait for slow calls.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from cortex_skills.server.errors import HttpError

Answer = TypeVar("Answer")


class Lane:
    """Some threads, and a line of calls that wait for one.

    Args:
        name: of its threads.
        threads: how many calls run at once.
        waiting: how many more may wait.

    """

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"cortex-{name}")
        self._places = threading.BoundedSemaphore(threads + waiting)

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """Do some work in a thread.

        Raises:
            HttpError: `server_busy`: too many wait already.

        """
        if not self._places.acquire(blocking=False):
            raise HttpError("server_busy", "too many requests wait already", hint="try again in a while")
        try:
            future = self._pool.submit(work)
        except RuntimeError:  # closed
            self._places.release()
            raise HttpError("server_busy", "the server is about to end", hint="try again in a while") from None
        # Not when the caller stops waiting: the thread is taken until it has done its work.
        future.add_done_callback(lambda _: self._places.release())
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Begin nothing more; what has begun goes on."""
        self._pool.shutdown(wait=False, cancel_futures=True)
