"""Values of any kinds in one column: each kind is in its order, and numbers have products with the digits there are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from decimal import Context, Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_graph import NamespacedGraph, open_store
from cortex_graph.sparql.careful import careful_query
from cortex_graph.sparql.tokens import read_tokens
from cortex_graph.sparql.total_order import without_order
from cortex_graph.store import Dataset
from tests.graph.sparql.conftest import content, rows_of

XSD = "http://www.w3.org/2001/XMLSchema#"
LONG = "12345678901234567890123"
EXACT = Context(prec=200)


@pytest.fixture(scope="module")
def graph() -> Iterator[NamespacedGraph]:
    store = open_store("memory:")
    opened = NamespacedGraph(store, "n")
    opened.update("INSERT DATA { n:a n:is 1 }")
    yield opened
    store.close()


def terms(graph: NamespacedGraph, text: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(content(graph.query(text)))["results"]["bindings"]
    return rows


def instant(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


zones = st.sampled_from([None, UTC, timezone(timedelta(hours=13)), timezone(timedelta(hours=-11))])
numbers = st.one_of(
    st.integers(-(10**5), 10**5).map(str),
    st.integers(-(10**16), 10**16).map(str),
    st.decimals(-(10**6), 10**6, places=3, allow_nan=False).map("{:f}".format),
    st.floats(-1e20, 1e20).map("{:.6e}".format),
)
values = st.one_of(
    numbers,
    st.text("0123456789.ae -", max_size=6).map(lambda text: f'"{text}"'),
    st.text("0123456789", max_size=3).map(lambda text: f'"{text}"@en'),
    st.datetimes(datetime(1990, 1, 1), datetime(1990, 1, 4), timezones=zones).map(
        lambda time: f'"{time.replace(microsecond=0).isoformat()}"^^<{XSD}dateTime>'
    ),
    st.sampled_from(["true", "false", "<urn:a>", "<urn:1>", f'"1990-01-02"^^<{XSD}date>', '"5"^^<urn:t>', "UNDEF"]),
)


@settings(max_examples=200)
@given(st.lists(values, min_size=2, max_size=40), st.booleans(), st.sampled_from(["ASC", "DESC"]))
def test_each_kind_of_values_is_in_its_order(
    graph: NamespacedGraph, column: list[str], has_long: bool, direction: str
) -> None:
    column = [*column, LONG] if has_long else column
    rows = terms(graph, f"SELECT ?v {{ VALUES ?v {{ {' '.join(column)} }} }} ORDER BY {direction}(?v)")
    assert len(rows) == len(column)
    found = [row.get("v") for row in rows][:: 1 if direction == "ASC" else -1]
    places = [0 if term is None else 1 if term["type"] == "uri" else 2 for term in found]
    assert places == sorted(places)
    kinds: dict[str, list[Any]] = {}
    for term in found:
        datatype = "" if term is None or term["type"] == "uri" else term.get("datatype", "text").removeprefix(XSD)
        if term is not None and datatype in ("integer", "decimal", "double"):
            kinds.setdefault("number", []).append(Decimal(term["value"]))
        elif term is not None and datatype == "dateTime":
            kinds.setdefault("time", []).append(instant(term["value"]))
        elif term is not None and datatype == "text":
            kinds.setdefault("text", []).append(term["value"])
    for kind, ordered in kinds.items():
        assert ordered == sorted(ordered), kind


@settings(max_examples=100)
@given(st.lists(values.filter(lambda value: value != "UNDEF"), min_size=1, max_size=12), st.booleans())
def test_extremes_beside_other_literals_are_those_of_the_numbers(
    graph: NamespacedGraph, column: list[str], has_long: bool
) -> None:
    column = [*column, "7", *([LONG] if has_long else [])]
    text = f"SELECT (MAX(?v) AS ?max) (MIN(?v) AS ?min) {{ VALUES ?v {{ {' '.join(column)} }} }}"
    ((row),) = terms(graph, text)
    among = [Decimal(value) for value in column if value[0] not in '"<tf']
    assert Decimal(row["max"]["value"]) == max(among)
    if any(value[0] == "<" for value in column):  # nodes are before literals (SPARQL 1.1 §15.1)
        assert row["min"]["type"] == "uri"
    else:
        assert Decimal(row["min"]["value"]) == min(among)


def test_a_long_column_of_numbers_and_strings_can_be_sorted(graph: NamespacedGraph) -> None:
    column = " ".join(str(n * 7919 % 10007) if n % 2 else f'"{n * 7919 % 10007}"' for n in range(600))
    rows = terms(graph, f"SELECT ?v {{ VALUES ?v {{ {column} }} }} ORDER BY ?v")
    found = [int(row["v"]["value"]) for row in rows if "datatype" in row["v"]]
    assert len(rows) == 600
    assert found == sorted(found)


decimals = st.decimals(-(10**8), 10**8, places=12, allow_nan=False).filter(bool).map("{:f}".format)


@settings(max_examples=100)
@given(decimals, decimals)
def test_decimals_have_products_and_quotients(graph: NamespacedGraph, first: str, second: str) -> None:
    text = f"SELECT ({first} * {second} AS ?product) ({first} / ({second}) AS ?quotient) {{}}"
    (row,) = rows_of(graph.query(text))
    product, quotient = EXACT.multiply(Decimal(first), Decimal(second)), EXACT.divide(Decimal(first), Decimal(second))
    least = Decimal("1e-18")  # what the engine keeps
    assert abs(EXACT.subtract(Decimal(row["product"]), product)) < least
    if abs(quotient) < 10**19:
        assert abs(EXACT.subtract(Decimal(row["quotient"]), quotient)) < least


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("0.0000000001 * 0.0000000001", "0"),
        ("30401.1980364942 * 30401.1980364942", "924232842.054138801435026633"),
        ("IF(30401.1980364942 * 30401.1980364942 > 5, 'more', 'less')", "more"),
        ("ROUND(30401.1980364942 * 30401.1980364942)", "924232842"),
        ("6439631553944565 / 30401.1980364942 IN (1, 2)", "false"),
        ("9223372036854775807 * 2", None),  # an overflow is an error (XPath 2.0 §6.2)
        ("1.5 * 'a'", None),
        ("1.5 / 0", None),
        (f"{LONG} / 0e0", "INF"),
        (f"-{LONG} / 0e0", "-INF"),
        (f"'0.1'^^xsd:float = 0.1{'0' * 30}1", "true"),
        (f"'2'^^xsd:float * {'9' * 50}", "INF"),
    ],
)
def test_an_expression_has_the_value_of_the_recommendation(
    graph: NamespacedGraph, expression: str, value: str | None
) -> None:
    (row,) = rows_of(graph.query(f"SELECT ({expression} AS ?v) {{}}"))
    assert row.get("v") == value


def test_products_are_found_everywhere_in_a_query() -> None:
    with closing(open_store("memory:")) as store:
        graph = NamespacedGraph(store, "n")
        graph.update("INSERT DATA { n:a n:w 30401.1980364942 . n:b n:w 0.6057566703 }")
        text = "SELECT ?x { ?x n:w ?w FILTER(?w * ?w > 1) } GROUP BY ?x HAVING(SUM(?w * ?w) > 1) ORDER BY (?w * ?w)"
        assert [row["x"] for row in rows_of(graph.query(text.replace(" ORDER BY (?w * ?w)", "")))] == ["urn:cortex:n:a"]
        changed = graph.update("INSERT { ?x n:square ?s } WHERE { ?x n:w ?w BIND(?w * ?w AS ?s) FILTER(BOUND(?s)) }")
        assert changed.inserted == 2


@pytest.mark.parametrize("key", ["COUNT(?o)", "STR(?o)", "SUM(?o)", "YEAR(?o)"])
def test_a_key_whose_values_are_of_one_kind_is_not_rewritten(key: str) -> None:
    text = f"SELECT ?s {{ ?s ?p ?o }} GROUP BY ?s ORDER BY DESC({key})"
    assert careful_query(text, read_tokens(text, 64), Dataset(()), has_long_numbers=False) is None


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("SELECT * {} ORDER BY ?a DESC(?b) LIMIT 5 OFFSET 1", "SELECT * { } LIMIT 5 OFFSET 1"),
        ("SELECT * {{ SELECT ?a {} ORDER BY (EXISTS {{ SELECT * {} LIMIT 1 }}) }}", "SELECT * { { SELECT ?a { } } }"),
        ("SELECT * {} ORDER BY ?a VALUES ?b { 1 }", "SELECT * { } VALUES ?b { 1 }"),
    ],
)
def test_a_query_is_checked_without_its_order(text: str, without: str) -> None:
    assert " ".join(token.text for token in without_order(read_tokens(text, 64))) == without
