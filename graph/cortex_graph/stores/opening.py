"""The store that a word of a configuration names.

Rules kept here:
- `memory:` is a store that ends with the process; a path or a `file:` URL is a folder; other schemes are servers; a
  mapping is a SPARQL server whose endpoints are named apart, or a Cortex server with a token;
- the code of a kind of store is imported when one of that kind is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cortex_graph.errors import GraphUnavailable
from cortex_graph.store import GraphStore
from cortex_graph.stores.folders import folder_of


def open_store(where: str | Path | Mapping[str, Any]) -> GraphStore:
    """Open a store.

    Args:
        where: `memory:` for one that ends with the process; a folder (a path or a `file:` URL), which is made if it is
            missing, for one on the disk. Several processes may have a folder open at once. The address of a SPARQL
            server, or a mapping `{query, update?, auth?}`; see `stores/remote/endpoints.py`. The address of a Cortex
            server (`cortex://host:port`), or a mapping `{cortex, auth?}`; see `stores/cortex/place.py`. Nothing is
            asked of a server before the first operation.

    Raises:
        InvalidArguments: an address is malformed, or holds what belongs into `auth`.
        StoreLocked: something else than this library has the folder open.
        GraphBusy: the process that owns the folder does not answer.
        GraphUnavailable: the folder cannot be used, or there is no such kind of store.

    """
    from cortex_graph.stores.embedded import OxigraphStore
    from cortex_graph.stores.shared import open_shared

    if isinstance(where, Mapping):
        return _cortex(where) if "cortex" in where else _remote(where)
    if where == "memory:":
        return OxigraphStore()
    folder = folder_of(where)
    if folder is not None:
        return open_shared(folder)
    where = str(where)
    scheme = where.partition(":")[0].lower()
    if scheme in ("http", "https"):
        return _remote(where)
    if scheme == "cortex":
        return _cortex(where)
    raise GraphUnavailable(
        f"{where} is of an unknown kind: {scheme}",
        hint="use `memory:`, a folder, an http(s) URL or a `cortex:` one",
        details={"store": where},
    )


def _cortex(where: str | Mapping[str, Any]) -> GraphStore:
    from cortex_graph.stores.cortex import read_place
    from cortex_graph.stores.cortex.store import CortexStore

    return CortexStore(read_place(where))


def _remote(where: str | Mapping[str, Any]) -> GraphStore:
    from cortex_graph.stores.remote.endpoints import read_endpoints
    from cortex_graph.stores.remote.store import RemoteStore

    return RemoteStore(read_endpoints(where))
