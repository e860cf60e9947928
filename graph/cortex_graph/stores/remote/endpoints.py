"""Where a SPARQL server takes queries, and where updates.

Rules kept here:
- `http://host:7878` (no path) is Oxigraph: queries at `/query`, updates at `/update`;
- an address that ends with `/query` has its updates at `/update` beside it (Oxigraph, Fuseki);
- any other takes both: `…/sparql`, `…/sparql-auth` (Virtuoso), `…/dataset` (Fuseki);
- a mapping names them apart: `{query: URL, update: URL, auth: {type, user, password | token}}`. Without `update` the
  rules above say where it is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from cortex_graph.errors import invalid
from cortex_graph.stores.http import Credentials, base_url, read_credentials

_KEYS = frozenset({"query", "update", "auth"})
_HINT = "`{query: URL, update: URL, auth: {type, user, password}}`; only `query` must be there"


@dataclass(frozen=True)
class Endpoints:
    """The addresses of a SPARQL server, and who it is told that we are."""

    query: str
    update: str
    credentials: Credentials | None = None


def read_endpoints(where: str | Mapping[str, Any], env: Mapping[str, str] = os.environ) -> Endpoints:
    """The endpoints that an address or a mapping names.

    Raises:
        InvalidArguments: something in it is not what it must be.

    """
    if isinstance(where, str):
        return Endpoints(*_both(base_url(where, "store")))
    if "query" not in where or not set(where) <= _KEYS:
        strange = ", ".join(sorted(map(str, set(where) - _KEYS)))
        raise invalid("store", f"does not know {strange}" if strange else "names no `query`", hint=_HINT)
    query, update = _both(base_url(where["query"], "store.query"))
    if where.get("update") is not None:
        update = base_url(where["update"], "store.update")
    auth = where.get("auth")
    if auth is not None and not isinstance(auth, Mapping):
        raise invalid("store.auth", "must be a mapping", hint=_HINT)
    return Endpoints(query, update, None if auth is None else read_credentials(auth, env))


def _both(url: str) -> tuple[str, str]:
    path = urlsplit(url).path
    if path in ("", "/"):
        return url.rstrip("/") + "/query", url.rstrip("/") + "/update"
    if path.endswith("/query"):
        return url, url.removesuffix("query") + "update"
    return url, url
