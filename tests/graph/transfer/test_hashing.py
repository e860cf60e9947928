"""The canonical hash is that of RDFC-1.0, for every order and size."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, NamedNode, Quad, RdfFormat, Store, serialize

from cortex_graph import GraphStore, GraphUnavailable, NamespacedGraph, open_store
from cortex_graph.store import Pattern
from cortex_graph.transfer import digest_of
from cortex_graph.transfer.canonical_hash import digest_of_file, spool
from cortex_graph.transfer.sorting import sorted_lines
from tests.graph.strategies import unicode_text, values
from tests.graph.transfer.support import GRAPH


def canonical(quads: list[Quad]) -> str:
    dataset = Dataset(quads)
    dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    text = serialize(dataset, format=RdfFormat.N_QUADS)
    assert text is not None
    return hashlib.sha256(b"".join(sorted(text.splitlines(keepends=True)))).hexdigest()


@given(st.lists(st.tuples(unicode_text, values), max_size=8))
def test_the_hash_is_that_of_the_canonical_form(rows) -> None:
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    for name, value in rows:
        graph.create_triple({"subject": f"mayros:{name}", "predicate": "p", "object": value})
    quads = list(graph.store.quads(Pattern(GRAPH)))
    found = digest_of(graph.store, GRAPH)
    assert (found.count, found.sha256) == (len(quads), canonical(quads))


def test_the_hash_does_not_depend_on_the_order_or_the_kind_of_store(tmp_path: Path, store: GraphStore) -> None:
    rows = [{"subject": f"s{n}", "predicate": "p", "object": n} for n in range(300)]
    NamespacedGraph(store, "mayros").create_triples(rows)
    random.Random(0).shuffle(rows)
    other = NamespacedGraph(open_store("memory:"), "mayros")
    other.create_triples(rows)
    assert digest_of(store, GRAPH) == digest_of(other.store, GRAPH)
    other.create_triple({"subject": "s0", "predicate": "p", "object": "0"})
    assert digest_of(store, GRAPH) != digest_of(other.store, GRAPH)


@given(st.lists(st.binary(max_size=6).map(lambda line: line.replace(b"\n", b"") + b"\n"), max_size=60), st.booleans())
def test_lines_are_sorted_with_little_memory(tmp_path_factory, content, unique) -> None:
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cortex_graph.transfer.sorting.RUN_BYTES", 9)
        patch.setattr("cortex_graph.transfer.sorting._AT_ONCE", 3)
        found = list(sorted_lines(content, folder, unique=unique))
    assert found == sorted(set(content) if unique else content)
    assert list(folder.iterdir()) == []


def test_a_spooled_graph_has_the_hash_of_the_graph_and_one_that_is_not_in_order_is_refused(tmp_path: Path) -> None:
    graph = NamespacedGraph(open_store("memory:"), "mayros")
    graph.create_triples([{"subject": f"s{n}", "predicate": "p", "object": n} for n in range(50)])
    file = tmp_path / "graph.nt"
    assert spool(graph.store, GRAPH, file) == digest_of(graph.store, GRAPH) == digest_of_file(file, GRAPH)
    rows = file.read_bytes().splitlines(keepends=True)
    for broken in ([*rows, rows[-1]], rows[::-1], [*rows, b"zzz"]):
        file.write_bytes(b"".join(broken))
        with pytest.raises(ValueError, match="sorted"):
            digest_of_file(file, GRAPH)


def test_a_graph_with_blank_nodes_has_no_such_hash(tmp_path: Path) -> None:
    raw = Store(tmp_path / "store")
    raw.add(Quad(BlankNode(), NamedNode("urn:p"), BlankNode(), GRAPH))
    raw.flush()
    del raw
    store = open_store(tmp_path / "store")
    with pytest.raises(GraphUnavailable, match="blank node"):
        digest_of(store, GRAPH)
    store.close()
