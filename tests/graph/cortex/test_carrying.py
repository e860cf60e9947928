"""What is carried over the API: cursors, terms, records."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import InvalidArguments, Pattern, Provenance
from cortex_graph.assertion_records.provenance import description_of, record_of
from cortex_graph.index.triple_index import hash_line
from cortex_graph.naming.names import Names
from cortex_graph.naming.terms import to_term
from cortex_graph.store_access import cursors
from cortex_graph.stores.cortex import json_terms as wire
from cortex_graph.stores.cortex.assertion_groups import provenance_of, to_json
from cortex_graph.stores.cortex.json_terms import InvalidResponse
from tests.graph.strategies import values

NAMES = Names("mayros", vocabularies={"schema": "https://schema.org/"})
PLAIN = Names("mayros")
S, P = NamedNode("urn:s"), NamedNode("https://schema.org/name")
PATTERN = Pattern(NAMES.graph)
WHEN = datetime(2026, 1, 31, 12, 0, 0, 500_000, UTC)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(st.text(st.characters(codec="ascii"), min_size=1))
def test_a_cursor_comes_back_as_the_server_gave_it(foreign: str) -> None:
    cursor = cursors.wrap_cursor(PATTERN, foreign)
    assert cursors.unwrap_cursor(PATTERN, cursor) == foreign
    for other in (Pattern(NamedNode("urn:cortex:mayro")), Pattern(NAMES.graph, S), Pattern(NAMES.provenance_graph)):
        with pytest.raises(InvalidArguments):
            cursors.unwrap_cursor(other, cursor)


@given(st.text())
def test_a_cursor_that_was_made_up_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidArguments):
        cursors.unwrap_cursor(PATTERN, cursor)


def test_a_cursor_may_go_through_several_servers() -> None:
    cursor = "x" * 34
    for _ in range(5):
        cursor = cursors.wrap_cursor(PATTERN, cursor)
    assert len(cursor) < cursors.MAX_WRAPPED


def row_of(quad: Quad, names: Names) -> dict[str, Any]:
    return {"id": hash_line(str(quad)), **wire.to_triple(quad)}


@given(values)
def test_every_term_goes_out_and_comes_back(value: Any) -> None:
    try:
        term = to_term(value, NAMES)
    except InvalidArguments:
        return
    quad = Quad(S, P, term, NAMES.graph)
    assert wire.read_row(row_of(quad, NAMES), NAMES) == quad
    assert wire.read_row(row_of(quad, NAMES), PLAIN) == quad


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["id", "subject", "predicate", "object", "node"]), inner)
    ),
)


@given(JSON)
def test_a_row_that_is_none_is_refused(row: Any) -> None:
    with pytest.raises(InvalidResponse):
        wire.read_row(row, NAMES)


@pytest.mark.parametrize(
    "lie", [{"subject": "<urn:t>"}, {"predicate": "x"}, {"object": 2}, {"id": "0" * 64}, {"id": None}, {"subject": 5}]
)
def test_a_row_that_is_not_the_one_of_its_id_is_refused(lie: dict[str, Any]) -> None:
    with pytest.raises(InvalidResponse):
        wire.read_row({**row_of(Quad(S, P, Literal(1), NAMES.graph), NAMES), **lie}, NAMES)


def test_a_name_that_another_vocabulary_spells_is_not_read_in_its_sense() -> None:
    row = {**row_of(Quad(S, P, S, NAMES.graph), NAMES), "predicate": "schema:name"}
    assert wire.read_row(row, NAMES).predicate == P
    with pytest.raises(InvalidResponse):
        wire.read_row(row, PLAIN)


@pytest.mark.parametrize("pattern", [Pattern(NAMES.graph, P), Pattern(NAMES.graph, None, S), Pattern(S)])
def test_a_triple_that_was_not_asked_for_is_refused(pattern: Pattern) -> None:
    with pytest.raises(InvalidResponse):
        wire.check_match(Quad(S, P, S, NAMES.graph), pattern)


def group_of(provenance: Provenance, *, described: bool = True) -> list[Quad]:
    quad = Quad(S, P, Literal(1), NAMES.graph)
    record = record_of(quad, NAMES.record(hash_line(str(quad))), provenance, NAMES)
    return [quad, *record, *(description_of(provenance, NAMES) if described else [])]


@pytest.mark.parametrize("described", [True, False])
@pytest.mark.parametrize(
    "provenance",
    [
        Provenance(agent="a1", time=WHEN),
        Provenance("verify-kyc", "1.0.0", "a 1/é", WHEN),
        Provenance("verify-kyc", None, None, WHEN),
        Provenance(time=WHEN),
    ],
)
def test_an_assertion_is_recognised_by_its_record(provenance: Provenance, described: bool) -> None:
    assert provenance_of(group_of(provenance, described=described), NAMES) == provenance


@given(st.builds(Provenance, texts | st.none(), texts | st.none(), texts | st.none(), st.just(WHEN)))
def test_the_recognised_provenance_makes_the_same_record(provenance: Provenance) -> None:
    group = group_of(provenance)
    reported = provenance_of(group, NAMES)
    assert reported is None or set(group_of(reported)) == set(group)


def test_a_record_with_other_statements_is_not_an_assertion() -> None:
    group = group_of(Provenance("k", "1", "a", WHEN))
    record = NAMES.record(hash_line(str(group[0])))
    for changed in (
        [group[0], *group[2:]],
        [*group, Quad(record, P, Literal("more"), NAMES.provenance_graph)],
        [*group, Quad(S, P, Literal("more"), NAMES.graph)],
        [Quad(S, P, Literal(2), NAMES.graph), *group[1:]],
        group_of(Provenance("k" * 257, "1", "a", WHEN)),
        [group[0], Quad(S, P, S, NAMES.graph)],
    ):
        assert provenance_of(changed, NAMES) is None


def test_a_provenance_goes_out_as_the_api_has_it() -> None:
    assert to_json(Provenance("k", None, "a", WHEN)) == {
        "skill": "k",
        "agent": "a",
        "time": "2026-01-31T12:00:00.5Z",
    }
