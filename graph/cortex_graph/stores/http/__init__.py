"""Addresses, credentials, and an HTTP client with deadlines, for all stores on servers."""

from cortex_graph.stores.http.address import base_url
from cortex_graph.stores.http.breaker import CircuitBreaker
from cortex_graph.stores.http.credentials import Credentials, read_credentials

__all__ = ["CircuitBreaker", "Credentials", "base_url", "read_credentials"]
