"""Rows of a first start: the first `initialize` over stdio with an empty code cache, beside an empty server.

Rules kept here:
- each start has a new, empty code cache and a new store; Python's own bytecode is warm for both sides;
- a start is measured from the new process to the first line that it answers; then its processes are killed, the
  compiler included, so that it does not run into the next start.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from itertools import count
from pathlib import Path

from bench.mcp_rows import COMMAND, constant_server, environment, new_skill
from bench.measure import Row, measured_in_turn_s

ROUNDS = 7
GOAL = 2
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


def rows() -> list[Row]:
    """All rows."""
    numbers = count()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        settings = environment(folder)

        def ours(*words: str) -> float:
            new = folder / f"start-{next(numbers)}"
            places = {"CORTEX_SANDBOX_CACHE": str(new / "cache"), "CORTEX_STORE": str(new / "store")}
            return _initialize_s([COMMAND, "mcp", *words], settings | places)

        empty = [sys.executable, str(constant_server(folder)), str(folder / "none.json")]
        measures = [ours, partial(ours, "--skills", str(new_skill(folder))), partial(_initialize_s, empty, settings)]
        notebook, skill, reference = measured_in_turn_s(measures, rounds=ROUNDS)
    figure, name = "the first `initialize` over stdio with an empty code cache", "an empty server of the same SDK"
    return [
        Row(f"{figure}, the notebook", notebook, name, reference, GOAL),
        Row(f"{figure}, a skill with code", skill, name, reference, GOAL),
    ]


def _initialize_s(command: list[str], settings: dict[str, str]) -> float:
    """Seconds from the start of a server until it has answered `initialize`."""
    start = time.perf_counter()
    with subprocess.Popen(
        command,
        env=settings,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a group of its own, which is killed with the compilers that it started
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(HELLO).encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            taken = time.perf_counter() - start
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    if "serverInfo" not in json.loads(answer)["result"]:
        raise RuntimeError(f"{command[0]} does not answer: {answer!r}")
    return taken
