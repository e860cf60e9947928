"""Labels are what people call a node, in a language of theirs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cortex_graph import NamespacedGraph, open_store
from cortex_graph.namespace.labels import OF_LABEL, Labels
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES

NAMING = ("rdfs:label", "skos:prefLabel", "schema:name", "foaf:name", "dcterms:title")


@pytest.fixture
def graph() -> Iterator[NamespacedGraph]:
    store = open_store("memory:")
    yield NamespacedGraph(store, "m", understood=WELL_KNOWN_VOCABULARIES)
    store.close()


def name(graph: NamespacedGraph, subject: str, predicate: str, text: str, language: str | None = None) -> None:
    value = text if language is None else {"value": text, "language": language}
    graph.create_triple({"subject": subject, "predicate": predicate, "object": value})


@pytest.mark.parametrize(
    ("languages", "label"),
    [([], "Plain"), (["sv"], "Faktura"), (["sv-FI"], "Faktura"), (["fr", "EN"], "Invoice"), (["ja"], "Plain")],
)
def test_a_label_is_in_a_language_of_the_reader_then_in_none(
    graph: NamespacedGraph, languages: list[str], label: str
) -> None:
    for text, language in (("Plain", None), ("Faktura", "sv"), ("Invoice", "en-GB")):
        name(graph, "u1", "rdfs:label", text, language)
    assert Labels(graph, languages).shown(graph.names.node("u1")) == label


def test_without_a_text_in_no_language_it_is_in_any(graph: NamespacedGraph) -> None:
    name(graph, "u1", "rdfs:label", "Faktura", "sv")
    name(graph, "u1", "rdfs:label", "Rechnung", "de")
    assert Labels(graph, ["fr"]).shown(graph.names.node("u1")) == "Rechnung"


def test_each_property_that_names_things_gives_a_label_and_the_first_one_wins(graph: NamespacedGraph) -> None:
    for place, predicate in enumerate(NAMING):
        name(graph, f"u{place}", predicate, predicate)
        name(graph, "all", predicate, predicate)
    nodes = [graph.names.node(f"u{place}") for place in range(5)]
    assert list(Labels(graph).of(nodes).values()) == list(NAMING)
    assert Labels(graph).shown(graph.names.node("all")) == "rdfs:label"
    own = graph.names.node("caption")
    name(graph, "all", "caption", "Mine")
    assert Labels(graph, properties=[own]).shown(graph.names.node("all")) == "Mine"


def test_without_a_label_there_is_a_short_name_cut_in_the_middle(graph: NamespacedGraph) -> None:
    labels = Labels(graph)
    assert labels.shown(graph.names.node("person:ada")) == "m:person:ada"
    assert labels.shown(graph.names.node("https://example.org/things/ada")) == "ada"
    assert labels.shown(graph.names.node("https://example.org/things/")) == "things/"
    first = labels.shown(graph.names.node(f"https://example.org/{'a' * 60}1"))
    assert (len(first), first[-1], "…" in first) == (41, "1", True)


def test_a_label_is_one_short_line(graph: NamespacedGraph) -> None:
    name(graph, "u1", "rdfs:label", "a\n  b\t" + "c" * 500)
    label = Labels(graph).shown(graph.names.node("u1"))
    assert label.startswith("a b c")
    assert len(label) == OF_LABEL + 1
    name(graph, "u2", "rdfs:label", "  ")
    assert Labels(graph).shown(graph.names.node("u2")) == "m:u2"


def test_the_labels_of_a_page_are_looked_up_once(graph: NamespacedGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    name(graph, "u1", "rdfs:label", "One")
    labels, node = Labels(graph), graph.names.node("u1")
    assert labels.of([node, node, "no node"]) == {node: "One"}
    monkeypatch.setattr(labels, "_look_up", None)
    assert labels.shown(node) == "One"
