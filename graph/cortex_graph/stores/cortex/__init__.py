"""A Cortex server as a store: the REST API `/api/v1` and `/sparql` of `cortex-skills serve`."""

from cortex_graph.stores.cortex.place import Place, read_place

__all__ = ["Place", "read_place"]
