"""Copies of a store go with the store that made them, and with no other."""

from __future__ import annotations

import gc
from pathlib import Path

from cortex_graph import NamespacedGraph
from cortex_graph.stores.embedded import OxigraphStore


def asked(store: OxigraphStore) -> bytes:
    return b"".join(NamespacedGraph(store, "mayros").query("ASK { ?s ?p ?o }").chunks)


def test_a_store_that_was_closed_does_not_take_the_copies_of_the_next_one_along(tmp_path: Path) -> None:
    first = OxigraphStore(tmp_path / "store")
    NamespacedGraph(first, "mayros").create_triple({"subject": "a", "predicate": "p", "object": 1})
    asked(first)
    first.close()
    second = OxigraphStore(tmp_path / "store")
    asked(second)
    copies = sorted((tmp_path / "store").rglob("CURRENT"))
    assert len(copies) == 2  # the store's own, and that of its copy
    del first
    gc.collect()
    assert sorted((tmp_path / "store").rglob("CURRENT")) == copies
    assert asked(second) == asked(second)
    second.close()
    assert sorted((tmp_path / "store").rglob("CURRENT")) == [tmp_path / "store/CURRENT"]
