"""Whether an address is one of this machine."""

from __future__ import annotations

import socket

_ALWAYS = frozenset({"127.0.0.1", "localhost", "::1", "0.0.0.0", "::"})  # noqa: S104 - not bound here


def is_local(host: str) -> bool:
    """Whether a server could listen at a host name or an address: a name is looked up, an address is tried."""
    if host in _ALWAYS:
        return True
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        return False
    return any(_can_bind(family, address) for family, _, _, _, address in found)


def _can_bind(family: int, address: object) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as one:
            one.bind(address)  # type: ignore[arg-type]
    except OSError:
        return False
    return True
