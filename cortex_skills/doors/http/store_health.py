"""Whether the store answers.

Rules kept here:
- one question is under way at a time, so that a store that hangs blocks one thread;
- a caller waits for at most `_TIMEOUT_S` after the question began.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError

log = logging.getLogger(__name__)

_TIMEOUT_S = 2.0


class StoreHealth:
    """Asks the store whether it answers."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="cortex-store-health")
        self._asking = threading.Lock()
        self._question: Future[bool] | None = None
        self._deadline = 0.0

    def ask(self, question: Callable[[], bool]) -> str:
        """`healthy`, or `degraded` if the question fails or is not answered in time."""
        with self._asking:
            if self._question is None or self._question.done():
                self._question = self._pool.submit(question)
                self._deadline = time.monotonic() + _TIMEOUT_S
            answer, left = self._question, self._deadline - time.monotonic()
        try:
            answer.result(max(left, 0))
        except FutureTimeoutError:
            return "degraded"
        except Exception as error:
            log.warning("the store does not answer: %s", error)
            return "degraded"
        return "healthy"

    def close(self) -> None:
        """Ask no more questions."""
        self._pool.shutdown(wait=False, cancel_futures=True)
