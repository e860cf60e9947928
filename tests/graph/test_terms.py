"""Values become terms without loss, and what is read can be written back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, parse, serialize

from cortex_graph import GraphUnavailable, InvalidArguments, Names, from_term, open_store, to_term
from tests.graph.strategies import plain_values, values

NAMES = Names("mayros")
XSD = "http://www.w3.org/2001/XMLSchema#"
STORE = open_store("memory:")


def stored(value: Any) -> Any:
    term = to_term(value, NAMES)
    return STORE.as_stored(term) if isinstance(term, Literal) else term


@given(values)
def test_what_is_read_is_json_and_is_written_back_as_the_same_term(value: Any) -> None:
    term = stored(value)
    read = json.loads(json.dumps(from_term(term, NAMES), allow_nan=False))
    assert stored(read) == term


@given(values)
def test_a_store_returns_a_literal_as_as_stored_predicts(value: Any) -> None:
    store = open_store("memory:")
    graph, node = NamedNode("urn:g"), NamedNode("urn:s")
    quad = Quad(node, node, to_term(value, NAMES), graph)
    store.insert([[quad]])
    (found,) = store._store  # type: ignore[attr-defined]
    assert found.object == stored(value)
    assert store.contains(Quad(node, node, stored(value), graph))


@given(plain_values)
def test_a_plain_value_comes_back_equal_and_of_its_type(value: Any) -> None:
    read = from_term(to_term(value, NAMES), NAMES)
    if isinstance(value, float) and value - value != 0:
        assert read == {"value": {"inf": "INF", "-inf": "-INF", "nan": "NaN"}[str(value)], "datatype": f"{XSD}double"}
    else:
        assert (type(read), read) == (type(value), value)
        assert str(read) == str(value)


@given(values)
def test_a_term_survives_n_quads(value: Any) -> None:
    node = NamedNode("urn:s")
    quad = Quad(node, node, to_term(value, NAMES), node)
    assert list(parse(serialize([quad], format=RdfFormat.N_QUADS), RdfFormat.N_QUADS)) == [quad]


def test_one_and_its_look_alikes_are_different_terms() -> None:
    assert (
        len({to_term(value, NAMES) for value in (1, 1.0, True, "1", {"node": "1"}, {"value": "1", "language": "en"})})
        == 6
    )


def test_every_control_character_survives() -> None:
    text = "".join(map(chr, range(0xA0))) + "\u2028\ufeff\ufffe\uffff\U0010ffff"
    assert from_term(to_term(text, NAMES), NAMES) == text


def test_the_sign_of_zero_survives() -> None:
    assert str(from_term(stored(-0.0), NAMES)) == "-0.0"


def test_an_integer_of_4300_digits_survives_and_a_longer_one_goes_as_digits() -> None:
    assert from_term(to_term(10**4299, NAMES), NAMES) == 10**4299
    with pytest.raises(InvalidArguments, match="too long an integer"):
        to_term(10**4300, NAMES)
    typed = {"value": "1" * 5000, "datatype": f"{XSD}integer"}
    assert from_term(stored(typed), NAMES) == typed


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"value": "x", "datatype": f"{XSD}string"}, "x"),
        ({"value": "x"}, "x"),
        ({"value": "5", "datatype": f"{XSD}integer"}, 5),
        ({"value": "1.5", "datatype": f"{XSD}double"}, 1.5),
        ({"value": "true", "datatype": f"{XSD}boolean"}, True),
        ({"value": "01", "datatype": f"{XSD}integer"}, 1),
        ({"value": "abc", "datatype": f"{XSD}integer"}, {"value": "abc", "datatype": f"{XSD}integer"}),
        ({"value": "1_0", "datatype": f"{XSD}double"}, {"value": "1_0", "datatype": f"{XSD}double"}),
        ({"value": "1.5", "datatype": f"{XSD}decimal"}, {"value": "1.5", "datatype": f"{XSD}decimal"}),
        ({"value": "a", "language": "EN"}, {"value": "a", "language": "en"}),
        ({"node": "https://schema.org/name"}, {"node": "https://schema.org/name"}),
        ({"node": "b"}, {"node": "mayros:b"}),
    ],
)
def test_typed_values_are_read_in_their_one_form(given: Any, read: Any) -> None:
    assert from_term(stored(given), NAMES) == read


@pytest.mark.parametrize(
    "value",
    [
        "\ud800",
        {"value": "\udfff", "datatype": f"{XSD}string"},
        {"value": "a", "language": "not a tag"},
        {"value": "a", "language": ""},
        {"value": "a", "language": "\ud800"},
        {"value": "a", "language": "en", "direction": "up"},
        {"value": "a", "datatype": "no iri"},
        {"value": "a", "datatype": "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"},
        {"value": 1, "datatype": f"{XSD}integer"},
        {"value": 1},
        {"value": "a", "language": "en", "datatype": f"{XSD}string"},
        {"node": ""},
        {"node": 1},
        {"node": "a", "x": 1},
        {1: 2},
        {},
        [],
        ["a"],
        b"a",
        object(),
        1j,
    ],
)
def test_what_is_no_value_is_refused_with_its_field(value: Any) -> None:
    with pytest.raises(InvalidArguments) as caught:
        to_term(value, NAMES)
    assert caught.value.details["field"].startswith("object")


def test_a_blank_node_has_no_name() -> None:
    (quad,) = parse(b"_:b <urn:p> <urn:o> .", RdfFormat.N_TRIPLES)
    with pytest.raises(GraphUnavailable, match="has no name"):
        from_term(quad.subject, NAMES)


@pytest.mark.parametrize("tag", ["", "not a tag", "\ud800"])
def test_a_language_that_is_none_is_named_and_the_text_is_not_blamed(tag: str) -> None:
    with pytest.raises(InvalidArguments, match="is not a language tag"):
        to_term({"value": "a", "language": tag}, NAMES)
    with pytest.raises(InvalidArguments, match="`object` holds a lone surrogate"):
        to_term({"value": "\ud800", "language": "en"}, NAMES)
