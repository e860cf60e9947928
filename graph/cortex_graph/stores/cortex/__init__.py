"""A Cortex server as a store: the REST API `/api/v1` and `/sparql` of `cortex-skills serve`."""

from cortex_graph.stores.cortex.server_address import ServerAddress, read_server_address

__all__ = ["ServerAddress", "read_server_address"]
