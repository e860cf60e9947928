"""`oxigraph serve` for the tests, in memory, on loopback."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.ports import quiet_port


@dataclass(frozen=True)
class Oxigraph:
    """A running server."""

    url: str
    process: subprocess.Popen[bytes]


@contextmanager
def oxigraph(*options: str) -> Iterator[Oxigraph]:
    """A server until the end of the block.

    Args:
        options: more of the command line, such as `--timeout-s 1`.

    """
    program = Path(sys.executable).with_name("oxigraph")
    address = f"127.0.0.1:{quiet_port()}"
    process = subprocess.Popen(
        [program, "serve", "--bind", address, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    reading = None
    try:
        assert process.stderr
        line = process.stderr.readline()
        assert b"Listening" in line, line
        # It reports each update that it refuses; a full pipe would stop it.
        reading = threading.Thread(target=process.stderr.read, daemon=True)
        reading.start()
        yield Oxigraph(f"http://{address}", process)
    finally:
        process.kill()
        process.wait()
        if reading is not None:
            reading.join()
        if process.stderr:
            process.stderr.close()
