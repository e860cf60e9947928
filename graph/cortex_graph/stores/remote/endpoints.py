"""The query and update endpoints of a SPARQL server.

Rules kept here:
- `http://host:7878` (no path) is Oxigraph: queries at `/query`, updates at `/update`;
- an address that ends with `/query` has its updates at `/update` (Oxigraph, Fuseki);
- any other address is used for both: `…/sparql`, `…/sparql-auth` (Virtuoso), `…/dataset` (Fuseki);
- a mapping names them separately: `{query: URL, update: URL, auth: {type, user, password | token}}`. Without `update`
  the rules above apply.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from cortex_graph.exceptions import invalid
from cortex_graph.stores.http import Credentials, base_url, read_credentials

_KEYS = frozenset({"query", "update", "auth"})
_HINT = "`{query: URL, update: URL, auth: {type, user, password}}`; only `query` is required"


@dataclass(frozen=True)
class Endpoints:
    """The addresses of a SPARQL server, and the credentials for it."""

    query: str
    update: str
    credentials: Credentials | None = None


def read_endpoints(where: str | Mapping[str, Any], env: Mapping[str, str] = os.environ) -> Endpoints:
    """Return the endpoints of an address or a mapping."""
    if isinstance(where, str):
        return Endpoints(*_both(base_url(where, "store")))
    if "query" not in where or not set(where) <= _KEYS:
        unknown = ", ".join(sorted(map(str, set(where) - _KEYS)))
        raise invalid("store", f"has unknown keys: {unknown}" if unknown else "has no `query`", hint=_HINT)
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
