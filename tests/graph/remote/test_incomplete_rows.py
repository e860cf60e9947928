"""Rows of a statement that another writer is about to commit: Virtuoso shows them without a term."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from pyoxigraph import NamedNode, Quad

from cortex_graph import GraphBusy, Pattern
from cortex_graph.store_access import half_made
from cortex_graph.stores.remote.endpoints import read_endpoints
from cortex_graph.stores.remote.sparql_store import RemoteStore
from tests.graph.remote.hostile import hostile, response, says

G = NamedNode("urn:g")
SERVER = "Server: Virtuoso/07.20.3229\r\n"
TERMS = {name: {"type": "uri", "value": f"urn:{name}"} for name in "spo"}
READS: dict[str, Callable[[RemoteStore], list[Quad]]] = {
    "quads": lambda store: list(store.quads(Pattern(G))),
    "match": lambda store: store.match(Pattern(G), 10).quads,
    "match_counted": lambda store: store.match_counted(Pattern(G), 10, None, 100)[0].quads,
    "gather": lambda store: store.gather([Pattern(G)])[0],
}


def answer(read: str, missing: str = "") -> bytes:
    """One row of each read, without a term."""
    row = {name: term for name, term in TERMS.items() if name != missing}
    found: list[dict[str, Any]] = [{**row, "i": {"type": "literal", "value": "0"}}]
    if read == "match_counted":
        found.append({"n": {"type": "literal", "value": "1"}})
    body = json.dumps({"head": {"vars": [*"spoin"]}, "results": {"bindings": found}}).encode()
    return response(body=body, extra=SERVER)


@pytest.mark.parametrize("missing", ["s", "o"])
@pytest.mark.parametrize("read", READS)
def test_they_are_read_again_until_they_are_complete(read: str, missing: str) -> None:
    half = answer(read, missing)
    with (
        hostile(says(response(extra=SERVER), half, half, answer(read))) as server,
        closing(RemoteStore(read_endpoints(server.url))) as store,
    ):
        assert READS[read](store) == [Quad(*(NamedNode(f"urn:{name}") for name in "spo"), G)]
        assert len(server.requests) == 4


def test_what_stays_so_is_an_error_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(half_made, "PAUSE_S", 0)
    with (
        hostile(says(response(extra=SERVER), answer("quads", "o"))) as server,
        closing(RemoteStore(read_endpoints(server.url))) as store,
    ):
        with pytest.raises(GraphBusy, match="not complete") as caught:
            list(store.quads(Pattern(G)))
        assert (caught.value.hint, len(server.requests)) == ("try again later", 1 + half_made.READS)
