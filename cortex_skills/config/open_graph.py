"""Opens the graph that a configuration names.

Rules kept here:
- names in arguments may use the prefixes of all well-known vocabularies; results use those of `vocabularies`;
- a graph that cannot be opened is an error with a code, and leaves no store open.
"""

from __future__ import annotations

from typing import Any

from cortex_graph import WELL_KNOWN_VOCABULARIES, GraphError, GraphStore, InvalidArguments, NamespacedGraph, open_store
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError, from_floor


def configured_store(config: Config) -> GraphStore:
    """Open the store of a configuration; `cortex` is the Cortex that its section names.

    Raises:
        GraphError: it cannot be opened.
    """
    if not config.asks_cortex:
        return open_store(config.store)
    from cortex_graph.stores.cortex import read_server_address
    from cortex_graph.stores.cortex.cortex_store import CortexStore

    place: dict[str, Any] = {"cortex": config.cortex_url}
    token = (config.cortex.auth_token or "").removeprefix("Bearer ")
    if token:
        place["auth"] = {"type": "bearer", "token": "${TOKEN}"}
    return CortexStore(read_server_address(place, {"TOKEN": token}))


def open_graph(config: Config) -> NamespacedGraph:
    """Open the store and return the graph of the namespace.

    Raises:
        CortexError: `store_locked` or `graph_unavailable`: the store cannot be opened; `config_invalid`.
    """
    unknown = [prefix for prefix in config.vocabularies if prefix not in WELL_KNOWN_VOCABULARIES]
    if unknown:
        hint = f"known: {', '.join(WELL_KNOWN_VOCABULARIES)}"
        raise CortexError("config_invalid", f"vocabularies: {unknown[0]!r} is unknown", hint=hint)
    vocabularies = {prefix: WELL_KNOWN_VOCABULARIES[prefix] for prefix in config.vocabularies}
    try:
        store = configured_store(config)
    except InvalidArguments as error:  # the environment changed after the configuration was read
        raise CortexError("config_invalid", error.message, hint=error.hint, details=error.details) from error
    except GraphError as error:
        raise from_floor(error) or error from error
    try:
        return NamespacedGraph(
            store,
            config.agent_namespace,
            base=config.base_iri,
            vocabularies=vocabularies,
            understood=WELL_KNOWN_VOCABULARIES,
        )
    except GraphError as error:  # a base that the schema accepts, but no IRI can begin with
        store.close()
        raise CortexError("config_invalid", error.message, hint=error.hint) from error
