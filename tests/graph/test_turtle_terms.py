"""Terms are written as Turtle writes them, and read back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, RdfFormat, parse

from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES, Names
from cortex_graph.naming.turtle_terms import TurtleTerms
from tests.property_examples import examples

XSD = WELL_KNOWN_VOCABULARIES["xsd"]
PREFIXES = {"ex": "http://example.org/", "exa": "http://example.org/a/", "xsd": XSD, "m": "urn:cortex:m:"}
TERMS = TurtleTerms(PREFIXES, encoded=("m", "xsd"))
HEAD = "".join(f"@prefix {prefix}: <{start}> .\n" for prefix, start in PREFIXES.items())

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
locals_ = st.text(st.sampled_from("ab1_.:-%4É漢/#'~"), max_size=8)
iris = st.builds(str.__add__, st.sampled_from(["http://example.org/", "http://example.org/a/", "urn:x:"]), locals_)
datatypes = st.sampled_from([f"{XSD}{name}" for name in ("date", "decimal", "integer", "boolean", "string", "float")])


def node(iri: str) -> NamedNode | None:
    try:
        return NamedNode(iri)
    except ValueError:
        return None


literals = st.one_of(
    texts.map(Literal),
    st.builds(lambda text: Literal(text, language="sv-fi"), texts),
    st.builds(lambda text, iri: Literal(text, datatype=NamedNode(iri)), texts, datatypes),
    st.integers(-(2**63), 2**63 - 1).map(Literal),
    st.floats().map(Literal),
    st.booleans().map(Literal),
)
terms = st.one_of(literals, iris.map(node).filter(lambda found: found is not None))


def parsed(written: str) -> Any:
    (quad,) = parse(f"{HEAD}<urn:s> <urn:p> {written} .", RdfFormat.TURTLE)
    return quad.object


@given(terms)
@settings(max_examples=examples(300), deadline=None)
def test_what_is_written_is_read_as_the_same_term_here_and_by_a_parser(term: Any) -> None:
    written = TERMS.written(term)
    assert TERMS.read(written) == term
    other = parsed(written)
    if isinstance(term, Literal) and term.datatype.value == f"{XSD}double":
        assert str(float(other.value)) == str(float(term.value))
    else:
        assert other == term


@given(st.text(max_size=30))
@settings(max_examples=examples(300), deadline=None)
def test_any_text_is_a_term_or_none(text: str) -> None:
    found = TERMS.read(text)
    assert found is None or TERMS.read(TERMS.written(found)) == found


@pytest.mark.parametrize(
    ("term", "written"),
    [
        (Literal("Faktura", language="sv"), '"Faktura"@sv'),
        (Literal("12.50", datatype=NamedNode(f"{XSD}decimal")), "12.50"),
        (Literal("2026-12-01", datatype=NamedNode(f"{XSD}date")), '"2026-12-01"^^xsd:date'),
        (Literal(12.5), "12.5e0"),
        (Literal(7), "7"),
        (Literal(True), "true"),
        (Literal("abc", datatype=NamedNode(f"{XSD}integer")), '"abc"^^xsd:integer'),
        (Literal('a "b"\n'), '"a \\"b\\"\\n"'),
        (NamedNode("http://example.org/x%40y"), "ex:x%40y"),
        (NamedNode("http://example.org/a/b"), "exa:b"),
        (NamedNode("http://example.org/b/c"), "<http://example.org/b/c>"),
        (NamedNode("urn:cortex:m:a%201"), "<urn:cortex:m:a%201>"),
        (NamedNode("urn:cortex:m:agent:a1"), "m:agent:a1"),
    ],
)
def test_a_term_is_written_as_in_turtle(term: Any, written: str) -> None:
    assert TERMS.written(term) == written


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12))
@settings(max_examples=examples(200), deadline=None)
def test_a_name_of_the_namespace_is_written_so_that_the_interfaces_take_it(local: str) -> None:
    names = Names("m")
    iri = names.node(f"m:{local}").value
    assert names.node(TERMS.node(iri)).value == iri
