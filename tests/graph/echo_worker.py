"""A worker process for the tests of `cortex_graph.workers.processes`: answers requests that the tests name."""

from __future__ import annotations

import json
import os
import time

from cortex_graph.workers.worker_channel import WorkerChannel


def main() -> None:
    channel = WorkerChannel()
    print("standard output is discarded")  # noqa: T201
    channel.watch_parent()
    while True:
        kind, content = channel.receive()
        if kind == b"S":
            time.sleep(float(content))
        elif kind == b"M":
            content = str(len(bytes(int(content)))).encode()
        elif kind == b"E":
            content = json.dumps(dict(os.environ)).encode()
        channel.send(kind, content)
