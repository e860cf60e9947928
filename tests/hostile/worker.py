"""Runs hostile scripts, each in a process of its own: `python -m tests.hostile.worker STACK_BYTES NAME…`.

Rules kept here:
- one line of JSON a script: its name, how it ended, seconds, and how far its memory grew;
- a process that dies is an outcome too: `died` and the signal.

The engine is started, and tried, in the process that they are forked from, as the sandbox's own workers have it: to
start it takes longer than most scripts.
"""

from __future__ import annotations

import json
import logging
import os
import sys

from .harness import SCRIPTS, make_sandbox, read_script, run, still_sound


def main(stack_bytes: int, names: list[str]) -> None:
    """Run the named scripts, one after the other."""
    logging.disable(logging.CRITICAL)
    with make_sandbox(stack_bytes, timeout_s=60.0) as box:
        box.evaluate("1")
        box.load_module("export const run = () => 1")
    still_sound()
    for name in names:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _answer(stack_bytes, name, writing)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            told = pipe.read()
        _, status = os.waitpid(child, 0)
        if status or not told:
            told = json.dumps({"name": name, "ended": f"died {status}", "sound": False}).encode()
        print(told.decode(), flush=True)  # noqa: T201


def _answer(stack_bytes: int, name: str, writing: int) -> None:
    outcome = run(read_script(SCRIPTS / f"{name}.js"), stack_bytes)
    answer = {
        "name": name,
        "ended": outcome.ended[:1000],
        "seconds": outcome.seconds,
        "grown": outcome.grown_bytes,
        "sound": still_sound(),
    }
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(json.dumps(answer).encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
