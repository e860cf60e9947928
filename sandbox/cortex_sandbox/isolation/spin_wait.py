"""Spinning before sleeping: to sleep and to be woken takes longer than a small call.

Rules kept here:
- a reader spins for about as long as waking up from sleep takes, then sleeps; while it spins it yields the processor to
  any other thread;
- after spinning in vain, the next reads sleep at once: each time twice as many, up to a maximum. So slow answers, rare
  calls and a busy machine rarely pay for spinning.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable

_FEWEST_ASLEEP, _MOST_ASLEEP = 8, 64


class SpinWait:
    """Reads a pipe, spinning first.

    Args:
        pipe: a stream socket.
        span_s: how long it spins, in seconds.
    """

    def __init__(self, pipe: socket.socket, span_s: float) -> None:
        self._pipe = pipe
        self._span_s = span_s
        self._asleep = 0
        self._next_asleep = _FEWEST_ASLEEP

    def read(self, most: int, sleeping: Callable[[int], bytes]) -> bytes:
        """The next bytes of the pipe; none at its end.

        Args:
            most: the maximum number of bytes.
            sleeping: reads the pipe and blocks until there is data.

        Raises:
            OSError: when the pipe cannot be read; and the errors of `sleeping`.
        """
        if self._asleep:
            self._asleep -= 1
            return sleeping(most)
        until = time.monotonic() + self._span_s
        while True:
            try:
                data = self._pipe.recv(most, socket.MSG_DONTWAIT)
            except BlockingIOError:
                if time.monotonic() >= until:
                    break
                os.sched_yield()  # the other side may run on this core
            else:
                self._next_asleep = _FEWEST_ASLEEP
                return data
        self._asleep = self._next_asleep
        self._next_asleep = min(2 * self._asleep, _MOST_ASLEEP)
        return sleeping(most)
