"""The process that owns a folder for another process; see `owner_process.py`.

It is started with the folder as its argument and prints `ready` on standard output. Each line on its standard input
makes it look for the owner of the folder, and become the owner when there is none.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from cortex_graph.exceptions import GraphError
from cortex_graph.stores.shared.shared_store import open_shared


def main(folder: str) -> None:
    """Own a folder until standard input ends."""
    store = open_shared(Path(folder))
    print("ready", flush=True)  # noqa: T201 - for the process that started this one
    for _ in sys.stdin:
        with contextlib.suppress(GraphError):
            store.flush()
    store.close()
