"""Ports that nobody else is likely to take between two times that a test needs them."""

from __future__ import annotations

import random
import socket
from contextlib import suppress

_CHOICES = range(10_000, 32_000)  # systems hand out higher ones to whoever asks for any, and to whoever connects
_RANDOM = random.SystemRandom()


def quiet_port() -> int:
    """A port of 127.0.0.1 on which nobody listens now, and which no system gives to those who name none."""
    for _ in range(100):
        port = _RANDOM.choice(_CHOICES)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("no port is free")
