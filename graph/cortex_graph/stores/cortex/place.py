"""Where a Cortex server is.

Rules kept here:
- `cortex://host:port` is `http://host:port`, and port 19090 unless told;
- a mapping names the server and who we are: `{cortex: ADDRESS, auth: {type: bearer, token: ${VARIABLE}}}`. There the
  address may be an `https:` one, too. A token stands in no address.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from cortex_graph.errors import invalid
from cortex_graph.stores.http import Credentials, base_url, read_credentials

_PORT = 19090
_KEYS = frozenset({"cortex", "auth"})
_HINT = "`{cortex: cortex://host:port, auth: {type: bearer, token: ${VARIABLE}}}`"


@dataclass(frozen=True)
class Place:
    """The address of a Cortex server, and who it is told that we are."""

    url: str
    credentials: Credentials | None = None


def read_place(where: str | Mapping[str, Any], env: Mapping[str, str] = os.environ) -> Place:
    """The server that an address or a mapping names.

    Raises:
        InvalidArguments: something in it is not what it must be.

    """
    if isinstance(where, str):
        return Place(_url(where, "store", ("cortex",)))
    if "cortex" not in where or not set(where) <= _KEYS:
        strange = ", ".join(sorted(map(str, set(where) - _KEYS)))
        raise invalid("store", f"does not know {strange}" if strange else "names no `cortex`", hint=_HINT)
    url = _url(where["cortex"], "store.cortex", ("cortex", "http", "https"))
    auth = where.get("auth")
    if auth is None:
        return Place(url)
    if not isinstance(auth, Mapping):
        raise invalid("store.auth", "must be a mapping", hint=_HINT)
    if auth.get("type") != "bearer":
        raise invalid("store.auth.type", "must be `bearer` for a Cortex server", hint=_HINT)
    return Place(url, read_credentials(auth, env))


def _url(address: object, field: str, schemes: tuple[str, ...]) -> str:
    checked = base_url(address, field, schemes=schemes)
    url = urlsplit(checked)
    path = url.path.rstrip("/")
    if url.scheme.lower() != "cortex":
        return f"{url.scheme.lower()}://{url.netloc}{path}"
    host = url.netloc.rstrip(":")
    return f"http://{host if url.port else f'{host}:{_PORT}'}{path}"
