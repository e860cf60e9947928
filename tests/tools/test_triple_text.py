"""A triple is one line with unambiguous names and value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import Literal

from cortex_graph import WELL_KNOWN_VOCABULARIES, NamespacedGraph, open_store
from cortex_graph.naming.turtle_terms import TurtleTerms
from cortex_skills.features.graph.triple_text import line_of
from cortex_skills.safe_io.display import json_text, shown_name

RDFS, XSD = WELL_KNOWN_VOCABULARIES["rdfs"], WELL_KNOWN_VOCABULARIES["xsd"]
GRAPH = NamespacedGraph(open_store("memory:"), "may")
_names = st.text(st.sampled_from('ab:% "\\<>&\n\u202e\u00e9'), min_size=1, max_size=6)
_values = st.one_of(
    st.text(st.sampled_from('ab "\\<>&\n\u202e\u00e9'), max_size=6), st.booleans(), st.integers(), st.floats(0, 1)
)


@given(subject=_names, predicate=_names, object_=_values)
@example(subject="a b", predicate="c", object_="d")
@example(subject="a", predicate='b "c', object_="d")
@example(subject="a", predicate="b", object_='c" "d')
@example(subject='a b "c" d', predicate="e", object_="f")
def test_a_line_shows_each_part_unambiguously(subject: str, predicate: str, object_: Any) -> None:
    triple = {"subject": f"may:{subject}", "predicate": f"may:{predicate}", "object": object_}
    is_double = isinstance(object_, float)
    shown = TurtleTerms({}).written(Literal(object_)) if is_double else json_text(object_)
    assert line_of(triple, GRAPH) == f"{shown_name(triple['subject'])} {shown_name(triple['predicate'])} {shown}"


@pytest.mark.parametrize(
    ("triple", "line"),
    [
        (("may:a", "may:p", "open"), 'may:a may:p "open"'),
        (("may:a", "may:p", "<b> & c"), 'may:a may:p "\\u003cb\\u003e \\u0026 c"'),
        (("may:a", "may:p", "a\nmay:b may:p 1"), 'may:a may:p "a\\nmay:b may:p 1"'),
        (("may:a b", "may:p", "c"), '"may:a b" may:p "c"'),
        (("may:a", "may:p", 1), "may:a may:p 1"),
        (("may:a", "may:p", {"node": "may:b"}), "may:a may:p may:b"),
        (("may:a", "may:p", {"node": "may:b c"}), "may:a may:p <urn:cortex:may:b%20c>"),
        (("may:a", "may:p", {"node": "https://example.org/x"}), "may:a may:p <https://example.org/x>"),
        (("may:a", f"{RDFS}label", {"value": "Faktura", "language": "sv"}), 'may:a rdfs:label "Faktura"@sv'),
        (("may:a", "may:p", {"value": "12.50", "datatype": f"{XSD}decimal"}), "may:a may:p 12.50"),
        (("may:a", "may:p", {"value": "2026-12-01", "datatype": f"{XSD}date"}), 'may:a may:p "2026-12-01"^^xsd:date'),
        (("may:a", "may:p", 12.5), "may:a may:p 12.5e0"),
        (("may:a", "may:p", True), "may:a may:p true"),
    ],
)
def test_a_line_of_a_triple(triple: tuple[str, str, Any], line: str) -> None:
    assert line_of(dict(zip(("subject", "predicate", "object"), triple, strict=True)), GRAPH) == line
