"""Whether the store answers, and whether it can be written to.

Rules kept here:
- one question is under way at a time, so that a store that hangs blocks one thread;
- a caller waits for at most `_TIMEOUT_S` after the question began;
- the answer names no path and no address: it is given to whoever asks. The log has the error.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from functools import partial
from typing import TYPE_CHECKING

from pyoxigraph import Quad

from cortex_graph import GraphCorrupt
from cortex_graph.naming.vocabulary import TYPE
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.plugin import Plugin

log = logging.getLogger(__name__)

_TIMEOUT_S = 2.0
SILENT = "the store does not answer"
DAMAGED = "the store has lost acknowledged writes, and is read-only until it is restored from a backup"
READ_ONLY = "the store cannot be written to: its folder is read-only, or its disk is full"

WITHHELD = "the store does not have the list of whom its hosts trust, as their owner signed it: every call is refused"


class StoreHealth:
    """Asks the store whether it answers."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="cortex-store-health")
        self._asking = threading.Lock()
        self._question: Future[str] | None = None
        self._deadline = 0.0

    def wrong_with(self, plugin: Plugin) -> str:
        """What is wrong with the store of a plugin, or with the list of the owner in it: a sentence, or nothing."""
        return self.ask(partial(_fault, plugin))

    def ask(self, question: Callable[[], str]) -> str:
        """The answer to a question, or `SILENT` if it fails or is not answered in time."""
        with self._asking:
            if self._question is None or self._question.done():
                self._question = self._pool.submit(question)
                self._deadline = time.monotonic() + _TIMEOUT_S
            answer, left = self._question, self._deadline - time.monotonic()
        try:
            return answer.result(max(left, 0))
        except FutureTimeoutError:
            return SILENT
        except Exception as error:
            log.warning("the store does not answer: %s", error)
            return SILENT

    def close(self) -> None:
        """Ask no more questions."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _fault(plugin: Plugin) -> str:
    graph = plugin.graph
    graph.store.contains(Quad(TYPE, TYPE, TYPE, graph.names.graph))
    if isinstance(getattr(graph.store, "damage", None), GraphCorrupt):
        return DAMAGED
    try:
        plugin.host_of(graph).fleet.look()
    except CortexError:  # which the log has
        return WITHHELD
    return READ_ONLY if getattr(graph.store, "is_read_only", False) is True else ""
