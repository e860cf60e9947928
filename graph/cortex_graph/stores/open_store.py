"""Opens a store by its address.

Rules kept here:
- `memory:` is a store that ends with the process; a path or a `file:` URL is a folder; other schemes are servers; a
  mapping is a SPARQL server with separate endpoints, or a Cortex server with a token;
- the code of a kind of store is imported when one of that kind is opened;
- an installed distribution adds a scheme with an entry point of the group `cortex_graph.stores`: its name is the
  scheme, its value a function that opens a `GraphStore` from the URL. It cannot replace a scheme above.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from cortex_graph.exceptions import GraphError, GraphUnavailable
from cortex_graph.store import GraphStore
from cortex_graph.stores.location import folder_of


def open_store(where: str | Path | Mapping[str, Any]) -> GraphStore:
    """Open a store.

    Args:
        where: `memory:` for a store that ends with the process; a folder (a path or a `file:` URL), which is made if it
            is missing, and which several processes may have open; the URL of a SPARQL server, or a mapping
            `{query, update?, auth?}` (see `stores/remote/endpoints.py`); the address of a Cortex server
            (`cortex://host:port`), or a mapping `{cortex, auth?}` (see `stores/cortex/server_address.py`). A server is
            not contacted before the first operation.

    Raises:
        InvalidArguments: an address is malformed, or contains what belongs into `auth`.
        StoreLocked: another program has the folder open.
        GraphBusy: the process that owns the folder does not answer.
        GraphUnavailable: the folder cannot be used, or the kind of store is unknown.
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
    for entry in entry_points(group="cortex_graph.stores", name=scheme):
        return _added(entry, where)
    raise GraphUnavailable(
        f"{where} is of an unknown kind: {scheme}",
        hint="use `memory:`, a folder, an http(s) URL or a `cortex:` one",
        details={"store": where},
    )


def _added(entry: EntryPoint, where: str) -> GraphStore:
    try:
        store: GraphStore = entry.load()(where)
    except GraphError:
        raise
    except Exception as error:
        reason = f"{entry.value} failed with {type(error).__name__}: {error}"
        raise GraphUnavailable(f"the store of scheme {entry.name} could not be opened: {reason}") from error
    return store


def _cortex(where: str | Mapping[str, Any]) -> GraphStore:
    from cortex_graph.stores.cortex import read_server_address
    from cortex_graph.stores.cortex.cortex_store import CortexStore

    return CortexStore(read_server_address(where))


def _remote(where: str | Mapping[str, Any]) -> GraphStore:
    from cortex_graph.stores.remote.endpoints import read_endpoints
    from cortex_graph.stores.remote.sparql_store import RemoteStore

    return RemoteStore(read_endpoints(where))
