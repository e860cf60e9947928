"""One process that evaluates queries, seen from here.

Rules kept here:
- it is asked one thing at a time; what it answers comes in frames (`worker.py`);
- it is killed, never asked to stop; whoever is reading then learns why;
- it gets no environment but where Python finds its modules.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, cast

from cortex_graph.errors import GraphError, GraphUnavailable, InvalidArguments, QueryLimit, QueryTimeout
from cortex_graph.sparql.worker import FRAME, LENGTH

_PROGRAM = Path(__file__).with_name("worker.py")
_OWN_SESSION = {"start_new_session": True} if os.name == "posix" else {}  # Ctrl-C in a terminal is not for it


class QuerySyntax(InvalidArguments):
    """The engine does not read the text as SPARQL."""


class Process:
    """A process that evaluates queries.

    Args:
        memory_bytes: how much memory it may take.

    Raises:
        GraphUnavailable: no process can be started.

    """

    def __init__(self, memory_bytes: int) -> None:
        self.memory_bytes = memory_bytes
        self.timed_out = False
        self.was_killed = False
        self.is_free = True
        paths = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path if entry)
        environment = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        if "SYSTEMROOT" in os.environ:  # Windows starts no program without it
            environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-P", "-s", str(_PROGRAM), str(memory_bytes), str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                bufsize=0,
                **cast(Any, _OWN_SESSION),
            )
        except OSError as error:
            raise GraphUnavailable(
                f"no process for queries can be started: {error.strerror or error}",
                hint="see whether the machine allows more processes and open files",
            ) from error
        self._input = cast(IO[bytes], self._process.stdin)
        self._output = cast(IO[bytes], self._process.stdout)

    @property
    def pid(self) -> int:
        """Its id."""
        return self._process.pid

    def ask(self, request: dict[str, Any]) -> None:
        """Send a request.

        Raises:
            BrokenPipeError: it has ended.

        """
        self.is_free = False
        content = json.dumps(request).encode()
        left = memoryview(LENGTH.pack(len(content)) + content)
        while left:  # a signal may cut a long write short
            left = left[self._input.write(left) :]

    def read(self) -> tuple[bytes, bytes]:
        """The kind and the content of the next frame.

        Raises:
            GraphError: the query failed, or the process ended; why it did.

        """
        try:
            kind, length = FRAME.unpack(self._take(FRAME.size))
            content = self._take(length)
        except EOFError:
            raise self._ended() from None
        if kind == b"E":
            error = self._error(**json.loads(content))
            self.is_free = not isinstance(error, QueryLimit)
            raise error
        self.is_free = kind == b"F"
        return kind, content

    def kill(self, *, timed_out: bool = False) -> None:
        """End it; to be called from any thread, any number of times."""
        self.timed_out = self.timed_out or timed_out
        self.was_killed = True
        self._process.kill()

    def close(self) -> None:
        """End it and let go of what belongs to it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._input, self._output):
            with contextlib.suppress(OSError):
                pipe.close()

    def abandon(self) -> None:
        """Let go of it without ending it: this is a fork of the process that it belongs to."""
        self._process.returncode = 0
        for pipe in (self._input, self._output):
            with contextlib.suppress(OSError):
                pipe.close()

    def _take(self, length: int) -> bytes:
        pieces = []
        while length:
            piece = self._output.read(min(length, 1 << 20))
            if not piece:
                raise EOFError
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)

    def _ended(self) -> GraphError:
        """Why it has ended."""
        status = self._process.wait()
        if self.timed_out or -status == getattr(signal, "SIGXCPU", None):
            return too_slow()
        if -status == signal.SIGABRT:
            return self._too_large()
        if -status == signal.SIGSEGV:
            return InvalidArguments(
                "the query is too long a chain for the engine", hint="join fewer parts with operators or in a pattern"
            )
        return GraphUnavailable(
            f"the process that evaluated the query has ended (status {status})",
            hint="ask again; the machine may be out of memory",
        )

    def _error(self, kind: str, message: str) -> GraphError:
        if kind == "SyntaxError":
            return QuerySyntax(message)
        if kind == "MemoryError":
            return self._too_large()
        if kind == "RuntimeError":
            return InvalidArguments(f"the query cannot be evaluated: {message}", details={"field": "query"})
        return GraphUnavailable(f"the query failed: {message}", hint="see whether the disk is full")

    def _too_large(self) -> QueryLimit:
        return QueryLimit(
            f"the query needs more than {self.memory_bytes >> 20} MiB of memory",
            hint="bind more of its patterns, or sort and group less",
            details={"memoryBytes": self.memory_bytes},
        )


def too_slow() -> QueryTimeout:
    """The error for a query whose time is over."""
    return QueryTimeout("the query took longer than it may", hint="bind more of its patterns, or give it more time")
