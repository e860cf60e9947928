"""Names and IRIs are in bijection, and no name leads out of its namespace."""

from __future__ import annotations

import io

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from cortex_graph import (
    WELL_KNOWN_VOCABULARIES,
    InvalidArguments,
    Names,
    NamespacedGraph,
    export_rdf,
    namespaces_of,
    open_store,
)
from cortex_graph.naming.names import kept_beside, namespace_of
from tests.graph.strategies import BASES, NAMESPACES, iri_texts, names, tricky_text, unicode_text

vocabularies = st.sampled_from(
    [
        {},
        {"rdf": WELL_KNOWN_VOCABULARIES["rdf"]},
        dict(WELL_KNOWN_VOCABULARIES),
        {"tag": "tag:x,", "https": "https://x/"},
        {"a": "https://example.org/", "b": "https://example.org/b"},
    ]
)
any_names = st.builds(Names, st.sampled_from(NAMESPACES), st.sampled_from(BASES), vocabularies, vocabularies)


@given(any_names, st.one_of(unicode_text, tricky_text))
def test_a_full_name_comes_back_as_it_went_in(names: Names, local: str) -> None:
    full = f"{names.prefix}{local}"
    iri = names.node(full).value
    assert iri.startswith(f"{names.graph.value}:")
    assert names.name(iri) == full


@given(any_names, st.one_of(unicode_text, tricky_text), st.one_of(unicode_text, tricky_text))
def test_two_names_are_two_iris(names: Names, one: str, other: str) -> None:
    assume(one != other)
    assert names.node(names.prefix + one) != names.node(names.prefix + other)


@given(any_names, iri_texts)
def test_what_an_iri_is_read_as_can_be_written_back(names: Names, text: str) -> None:
    try:
        iri = NamedNode(text).value
    except ValueError:
        return
    assert names.node(names.name(iri)).value == iri


@given(any_names, iri_texts, iri_texts)
def test_two_iris_are_never_read_as_the_same_name(names: Names, one: str, other: str) -> None:
    assume(one != other)
    assert names.name(one) != names.name(other)


@given(any_names, names)
def test_reading_what_was_written_settles_at_once(spelling: Names, name: str) -> None:
    try:
        iri = spelling.node(name).value
    except InvalidArguments:
        return
    assert spelling.node(spelling.name(iri)).value == iri


@given(unicode_text)
def test_an_iri_of_a_name_has_no_path_query_or_fragment(local: str) -> None:
    iri = Names("mayros", "https://example.org/").node(f"mayros:{local}").value
    assert not {"/", "?", "#", "\u202e", " "} & set(iri.removeprefix("https://example.org/mayros:"))


@pytest.mark.parametrize(
    ("given", "full"),
    [
        ("a", "mayros:a"),
        ("mayros:a", "mayros:a"),
        ("other:x", "mayros:other:x"),
        ("may:x", "mayros:may:x"),
        ("MAYROS:x", "mayros:MAYROS:x"),
        ("mayros", "mayros:mayros"),
        ("../other:x", "mayros:../other:x"),
        ("rdf:type", "mayros:rdf:type"),
        ("mayros:https://example.org/", "mayros:https://example.org/"),
        ("mayros:<tag:x>", "mayros:<tag:x>"),
        ("<script>", "mayros:<script>"),
        (" ", "mayros: "),
        ("a\u202eb\u200f", "mayros:a\u202eb\u200f"),
        ("%41", "mayros:%41"),
        ("tag:x", "mayros:tag:x"),
    ],
)
def test_a_local_name_stays_in_the_namespace(given: str, full: str) -> None:
    names = Names("mayros")
    assert names.name(names.node(given).value) == full


@pytest.mark.parametrize(
    "iri", ["https://schema.org/name", "urn:isbn:1", "did:key:z6Mk", "mailto:a@example.org", "HTTP://H/", "file:///etc"]
)
def test_an_absolute_iri_is_unchanged(iri: str) -> None:
    names = Names("mayros")
    assert names.node(iri).value == iri
    assert names.name(iri) == iri


def test_a_full_name_in_angle_brackets_is_that_name() -> None:
    names = Names("mayros")
    assert names.node("<mayros:agent:a 1>") == names.node("mayros:agent:a 1")
    assert names.node("<Mayros:x>").value == "Mayros:x"
    assert names.node("<other:x>").value == "other:x"
    assert Names("http").node("<http://a/b>").value == "http://a/b"
    assert Names("urn").node("<urn:isbn:1>").value == "urn:isbn:1"
    based = Names("mayros", base="mayros:")
    assert based.node("<mayros:mayros:x>").value == "mayros:mayros:x"


@pytest.mark.parametrize("iri", ["mayros:x", "mayros:", "mayros:a:b", "mayros:%20"])
def test_an_iri_whose_scheme_is_the_namespace_has_a_name_of_its_own(iri: str) -> None:
    names = Names("mayros")
    assert names.name(iri) == f"<:{iri}>"
    assert names.node(f"<:{iri}>").value == iri


def test_other_absolute_iris_are_in_angle_brackets() -> None:
    names = Names("mayros")
    assert names.name("tag:example.org,2024:x") == "<tag:example.org,2024:x>"
    assert names.node("<tag:example.org,2024:x>").value == "tag:example.org,2024:x"


def test_in_a_namespace_called_urn_a_name_wins_over_an_iri() -> None:
    names = Names("urn")
    assert names.node("urn:isbn:1").value == "urn:cortex:urn:isbn:1"
    assert names.name("urn:isbn:1") == "<urn:isbn:1>"


def test_an_allowed_vocabulary_is_the_standard_iri_and_back() -> None:
    names = Names("mayros", vocabularies={"rdf": WELL_KNOWN_VOCABULARIES["rdf"]})
    assert names.node("rdf:type").value == "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    assert names.name("http://www.w3.org/1999/02/22-rdf-syntax-ns#type") == "rdf:type"
    assert names.node("schema:name").value == "urn:cortex:mayros:schema:name"


def test_an_understood_vocabulary_is_the_standard_iri_and_is_read_as_one() -> None:
    names = Names("mayros", understood=WELL_KNOWN_VOCABULARIES)
    assert names.node("sh:path").value == "http://www.w3.org/ns/shacl#path"
    assert names.name("http://www.w3.org/ns/shacl#path") == "http://www.w3.org/ns/shacl#path"
    assert names.node("mayros:sh:path").value == "urn:cortex:mayros:sh:path"
    assert names.name("schema://h/") == "<schema://h/>"
    assert Names("sh", understood=WELL_KNOWN_VOCABULARIES).node("sh:path").value == "urn:cortex:sh:path"


def test_an_iri_in_the_namespace_that_no_name_is_written_as_is_read_as_an_iri() -> None:
    assert Names("mayros").name("urn:cortex:mayros:%41") == "urn:cortex:mayros:%41"
    assert Names("mayros").name("urn:cortex:mayros:") == "urn:cortex:mayros:"


@pytest.mark.parametrize(
    "name", ["", "mayros:", "\ud800", "a\udfff", "https://a b", "urn:%zz", "<tag: x>", None, 1, ["a"]]
)
def test_what_is_no_name_is_refused_with_its_field(name: object) -> None:
    with pytest.raises(InvalidArguments) as caught:
        Names("mayros").node(name, "subject")
    assert caught.value.code == "invalid_arguments"
    assert caught.value.details == {"field": "subject"}


@pytest.mark.parametrize(
    "namespace",
    ["", "1a", "a b", "/a", "a//b", "a/", "a./b", "../a", "a.", "a%2Fb", "a:b", "a\n", "é", "a" + "\x00", None, 1],
)
def test_a_malformed_namespace_is_refused(namespace: object) -> None:
    with pytest.raises(InvalidArguments, match="`namespace`"):
        Names(namespace)  # type: ignore[arg-type]


@pytest.mark.parametrize("base", ["", "cortex", "urn:cortex", "https://", "urn:a b:", "no scheme/", None])
def test_a_base_that_begins_no_iri_is_refused(base: object) -> None:
    with pytest.raises(InvalidArguments, match="`base`"):
        Names("mayros", base)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [{"a b": "https://x/"}, {"a": "no iri"}, {"a": 1}, {1: "https://x/"}])
def test_a_malformed_vocabulary_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(InvalidArguments, match="`vocabularies`"):
        Names("mayros", vocabularies=given)


def test_a_namespace_with_parts_owns_no_iri_below_another_namespace() -> None:
    names, outer = Names("foo/observations", "https://example.org/"), Names("foo", "https://example.org/")
    assert names.graph.value == "https://example.org/foo%2Fobservations"
    assert names.node("foo/observations:agent:a1").value == "https://example.org/foo%2Fobservations:agent:a1"
    assert not names.registry_graph.value.startswith(f"{outer.graph.value}/")
    assert (names.prefixes, outer.prefixes) == ({}, {"foo": "https://example.org/foo:"})
    assert namespace_of("foo%2Fobservations") == "foo/observations"
    assert [namespace_of(segment) for segment in ("foo/observations", "foo%2f", "%2F", "a%20b")] == [None] * 4


def test_the_graphs_of_a_namespace_with_parts_are_found_in_a_store() -> None:
    store = open_store("memory:")
    for namespace in ("foo/observations", "foo", "foo.v2"):
        NamespacedGraph(store, namespace).create_triple({"subject": "a", "predicate": "p", "object": 1})
    assert namespaces_of(store) == ["foo", "foo.v2", "foo/observations"]
    assert kept_beside("urn:cortex:foo%2Fobservations/index", "urn:cortex:")
    written = io.BytesIO()
    export_rdf(NamespacedGraph(store, "foo/observations"), written, format="turtle")
    assert written.getvalue() == b"<urn:cortex:foo%2Fobservations:a> <urn:cortex:foo%2Fobservations:p> 1 .\n"
