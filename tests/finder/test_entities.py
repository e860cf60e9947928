"""Resources are found by words of their names, labels and literals, and everything that matches is found."""

from __future__ import annotations

import pytest

from cortex_graph import NamespacedGraph, open_store
from cortex_skills.features.finder.entities import EntityIndex, Found

LABEL = "rdfs:label"


@pytest.fixture(scope="module")
def graph() -> NamespacedGraph:
    graph = NamespacedGraph(open_store("memory:"), "m", vocabularies={"rdfs": "http://www.w3.org/2000/01/rdf-schema#"})
    for subject, predicate, object_ in (
        ("person:ada", LABEL, "Zoë Müller"),
        ("person:ada", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", {"node": "Person"}),
        ("person:ada", "note", "Runs deliveries in Łódź"),
        ("U990", "note", {"value": "die Häuser am See", "language": "de"}),
        ("<https://example.org/staff/42#grace-hopper>", LABEL, {"value": "Grace Hopper", "language": "en"}),
        ("inStock", LABEL, 'available \u202eamount\n"now"'),
    ):
        graph.create_triple({"subject": subject, "predicate": predicate, "object": object_})
    return graph


@pytest.mark.parametrize(
    ("text", "subject", "matching"),
    [
        ("muller zoe", "m:person:ada", "Zoë Müller"),
        ("MÜL", "m:person:ada", "Zoë Müller"),
        ("mulelr", "m:person:ada", "Zoë Müller"),
        ("delivery lodz", "m:person:ada", "Runs deliveries in Łódź"),
        ("zoe lodz", "m:person:ada", "Zoë Müller"),
        ("ada", "m:person:ada", "person:ada"),
        ("m:person:ada", "m:person:ada", "person:ada"),
        ("u990", "m:U990", "U990"),
        ("haus", "m:U990", "die Häuser am See"),
        ("stock", "m:inStock", "inStock"),
        ("now amount", "m:inStock", 'available \u202eamount\n"now"'),
        ("hopper", "https://example.org/staff/42#grace-hopper", "Grace Hopper"),
        ("grace@staff hopper", "https://example.org/staff/42#grace-hopper", "Grace Hopper"),
    ],
)
def test_a_resource_is_found_by_words_of_its_name_and_texts(graph, text, subject, matching):
    hit = EntityIndex(graph).find(text).hits[0]
    assert (graph.names.name(hit.subject.value), hit.text) == (subject, matching)


def test_a_hit_has_its_label_classes_and_the_predicate_of_its_text(graph):
    found = EntityIndex(graph).find("deliveries")
    (hit,) = found.hits
    assert (hit.label, [graph.names.name(each.value) for each in hit.classes]) == ("Zoë Müller", ["m:Person"])
    assert hit.predicate == graph.names.node("note")
    assert (found.total, found.complete, found.reason, found.every_word) == (1, True, "", True)


def test_some_of_the_words_are_enough_only_when_nothing_has_all(graph):
    found = EntityIndex(graph).find("who is zoe muller")
    assert [hit.label for hit in found.hits] == ["Zoë Müller"]
    assert found.every_word is False


def test_only_instances_of_a_class_are_found(graph):
    index = EntityIndex(graph)
    assert [hit.label for hit in index.find("zoe", class_="Person").hits] == ["Zoë Müller"]
    assert index.find("hopper", class_="Person") == Found((), 0)


@pytest.mark.parametrize("text", ["", " ", '"', "{}", "\u202e", "*", "\x00", "🦉", "qqqq", "a" * 5000, "\ud800"])
def test_hostile_texts_find_nothing(graph, text):
    assert EntityIndex(graph).find(text).hits == ()


def test_a_part_of_a_word_is_found_only_at_its_beginning_and_if_asked_for(graph):
    index = EntityIndex(graph)
    assert index.find("mulle", prefix=False).hits[0].score < index.find("mulle").hits[0].score
    assert index.find("ulle").hits == ()
