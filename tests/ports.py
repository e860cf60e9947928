"""Ports that another process is unlikely to bind while a test does not listen on them."""

from __future__ import annotations

import random
import socket
from contextlib import suppress

_CHOICES = range(10_000, 32_000)  # below the ephemeral ports that systems assign
_RANDOM = random.SystemRandom()


def quiet_port() -> int:
    """A free port of 127.0.0.1 outside the ephemeral range."""
    for _ in range(100):
        port = _RANDOM.choice(_CHOICES)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("no port is free")
