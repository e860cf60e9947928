"""Whether the store answers.

Rules kept here:
- one question is under way at a time, however many ask: a store that hangs holds one thread;
- nobody waits for longer than the patience that the question has.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError

log = logging.getLogger(__name__)

_PROBE_S = 2.0


class Probe:
    """Asks the store whether it answers, one question at a time."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="cortex-probe")
        self._asking = threading.Lock()
        self._question: Future[bool] | None = None
        self._asked = 0.0

    def ask(self, question: Callable[[], bool]) -> str:
        """`healthy`, or `degraded` when the question fails or is not answered in time."""
        with self._asking:
            if self._question is None or self._question.done():
                self._question = self._pool.submit(question)
                self._asked = time.monotonic()
            answer, patience = self._question, self._asked + _PROBE_S - time.monotonic()
        try:
            answer.result(max(patience, 0))
        except FutureTimeoutError:
            return "degraded"
        except Exception as error:
            log.warning("the store does not answer: %s", error)
            return "degraded"
        return "healthy"

    def close(self) -> None:
        """Ask nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
