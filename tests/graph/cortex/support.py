"""A store on a Cortex server of a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from cortex_graph import open_store
from cortex_graph.stores.cortex.cortex_store import CortexStore
from tests.server.serving import Running

ALL = ("read", "write", "provenance")


@contextmanager
def cortex_at(
    server: Running, namespaces: tuple[str, ...] = ("*",), permissions: tuple[str, ...] = ALL
) -> Iterator[CortexStore]:
    """A store on a server, with a token of these namespaces and permissions."""
    token = server.token(f"store-{'-'.join((*namespaces, *permissions)).replace('*', 'all')}", namespaces, permissions)
    with closing(store_with(server.url, token)) as store:
        yield store


def store_with(url: str, token: str) -> CortexStore:
    """A store on a server, with the text of a token."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_CORTEX_TOKEN", token)
        store = open_store({"cortex": url, "auth": {"type": "bearer", "token": "${TEST_CORTEX_TOKEN}"}})
    assert isinstance(store, CortexStore)
    return store
