"""Reads again what was read in the middle of a change.

Rules kept here:
- some servers (Virtuoso) show a change of another writer while it is made: a value is missing, or is there twice, or a
  row lacks its object. What was read so contradicts itself, and is read again, in all for three seconds (a busy server
  took more than one); what still does then was changed otherwise;
- a store that shows whole changes only is read once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from cortex_graph.store import GraphStore
from cortex_graph.store_access.read_ahead import reading_now

READS, PAUSE_S = 40, 0.075

T = TypeVar("T")


def read_whole(store: GraphStore, read: Callable[[], T], broken: type[Exception]) -> T:
    """Return what `read` returns.

    Args:
        store: what it reads.
        read: reads, and checks what it has read.
        broken: what it raises for something that contradicts itself.
    """
    try:
        return read()
    except broken:
        if getattr(store, "shows_whole_changes", True):
            raise
    with reading_now(store):
        for left in reversed(range(READS - 1)):
            time.sleep(PAUSE_S)
            try:
                return read()
            except broken:
                if not left:
                    raise
    raise AssertionError("READS is at least two")
