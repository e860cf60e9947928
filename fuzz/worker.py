"""Runs hostile scripts, each in its own process: `python -m fuzz.worker STACK_BYTES NAME…`.

Rules kept here:
- one line of JSON per script: its name, its outcome, the run time, and the growth of its memory;
- a process that dies is an outcome too: `died` and the status.

The engine is started and warmed up in the parent process, as for the workers of the sandbox: starting it takes longer
than most scripts.
"""

from __future__ import annotations

import json
import logging
import os
import sys

from .harness import SCRIPTS, make_sandbox, read_script, run, still_sound


def main(stack_bytes: int, names: list[str]) -> None:
    """Run the named scripts, one after another."""
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
            reported = pipe.read()
        _, status = os.waitpid(child, 0)
        if status or not reported:
            reported = json.dumps({"name": name, "ended": f"died {status}", "sound": False}).encode()
        print(reported.decode(), flush=True)  # noqa: T201


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
