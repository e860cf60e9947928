"""The address of a Cortex server.

Rules kept here:
- `cortex://host:port` is `http://host:port`, with the default port 19090;
- a mapping has the server and its credentials: `{cortex: ADDRESS, auth: {type: bearer, token: ${VARIABLE}}}`. Its
  address may also be an `https:` URL. An address contains no token.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from cortex_graph.exceptions import invalid
from cortex_graph.stores.http import Credentials, base_url, read_credentials

_PORT = 19090
_KEYS = frozenset({"cortex", "auth"})
_HINT = "`{cortex: cortex://host:port, auth: {type: bearer, token: ${VARIABLE}}}`"


@dataclass(frozen=True)
class ServerAddress:
    """The URL of a Cortex server, and the credentials for it."""

    url: str
    credentials: Credentials | None = None


def read_server_address(where: str | Mapping[str, Any], env: Mapping[str, str] = os.environ) -> ServerAddress:
    """Return the server of an address or a mapping."""
    if isinstance(where, str):
        return ServerAddress(_url(where, "store", ("cortex",)))
    if "cortex" not in where or not set(where) <= _KEYS:
        unknown = ", ".join(sorted(map(str, set(where) - _KEYS)))
        raise invalid("store", f"has unknown keys: {unknown}" if unknown else "has no `cortex`", hint=_HINT)
    url = _url(where["cortex"], "store.cortex", ("cortex", "http", "https"))
    auth = where.get("auth")
    if auth is None:
        return ServerAddress(url)
    if not isinstance(auth, Mapping):
        raise invalid("store.auth", "must be a mapping", hint=_HINT)
    if auth.get("type") != "bearer":
        raise invalid("store.auth.type", "must be `bearer` for a Cortex server", hint=_HINT)
    return ServerAddress(url, read_credentials(auth, env))


def _url(address: object, field: str, schemes: tuple[str, ...]) -> str:
    checked = base_url(address, field, schemes=schemes)
    url = urlsplit(checked)
    path = url.path.rstrip("/")
    if url.scheme.lower() != "cortex":
        return f"{url.scheme.lower()}://{url.netloc}{path}"
    host = url.netloc.rstrip(":")
    return f"http://{host if url.port else f'{host}:{_PORT}'}{path}"
