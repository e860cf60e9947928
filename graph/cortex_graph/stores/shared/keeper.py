"""A process that does nothing but own a folder, for one that must not.

Rules kept here:
- it ends when whoever started it closes its standard input, or ends;
- it takes part in the election as any other process does.

Run as `python -m cortex_graph.stores.shared.keeper FOLDER`; it says `ready` on its standard output. Each line on its
standard input makes it look for the owner, and become it when there is none.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from cortex_graph.errors import GraphError, GraphUnavailable

_END_S = 15.0
_START = (
    "import sys; sys.path[:0] = sys.argv[2:]; from cortex_graph.stores.shared.keeper import main; main(sys.argv[1])"
)


class Keeper:
    """Such a process, as seen by the one that starts it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def wake(self) -> None:
        """See that it runs, and that it looks after the folder."""
        if self._process is not None and self._process.poll() is None and self._process.stdin is not None:
            try:
                self._process.stdin.write(b"\n")
                self._process.stdin.flush()
            except OSError:
                self.end()
            else:
                return
        if not sys.executable or getattr(sys, "frozen", False):
            raise self._refused("there is no Python interpreter to start")
        package = Path(__file__).parents[3]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and a folder as its argument
                [sys.executable, "-c", _START, os.fspath(self._folder.absolute()), os.fspath(package)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise self._refused(str(error)) from error

    def end(self) -> None:
        """Let it end."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _refused(self, problem: str) -> GraphUnavailable:
        return GraphUnavailable(
            f"nobody owns the store in {self._folder}, and a forked process cannot: {problem}",
            hint="open the store in a process that was not forked from one that had it open",
            details={"folder": str(self._folder)},
        )


def main(folder: str) -> None:
    """Own a folder until standard input ends."""
    from cortex_graph.stores.shared.handle import open_shared

    store = open_shared(Path(folder))
    print("ready", flush=True)  # noqa: T201 - for whoever waits for it
    for _ in sys.stdin:
        with contextlib.suppress(GraphError):
            store.flush()
    store.close()


if __name__ == "__main__":
    main(sys.argv[1])
