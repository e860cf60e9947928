"""Stores behind a SPARQL 1.1 endpoint."""

from cortex_graph.stores.remote.endpoints import Endpoints, read_endpoints

__all__ = ["Endpoints", "read_endpoints"]
