"""Numbers that Oxigraph does not calculate with: compared, sorted and added like others, as Python's `Decimal` does."""

from __future__ import annotations

import functools
import io
import operator
import threading
from collections.abc import Iterator
from contextlib import closing
from decimal import Context, Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from cortex_graph import NamespacedGraph, open_store
from cortex_graph.sparql.exact_numbers import functions, is_long, number_of, order_key
from tests.graph.sparql.conftest import rows_of

XSD = "http://www.w3.org/2001/XMLSchema#"
EXACT = Context(prec=100)
# Within 64 bits and beyond, of both signs; decimals of ordinary length and beyond; equal values of both types.
VALUES = [
    *("0", "5", "-5", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809"),
    *("12345678901234567890123", "12345678901234567890124", "-70000000000000000000000000000"),
    *("0.3", "0.29999999999999999999999", "0.30000000000000000000001", "-0.12345678901234567890123", "5.0"),
]
COMPARED = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
CALCULATED = {"+": EXACT.add, "-": EXACT.subtract, "*": EXACT.multiply}


@pytest.fixture(scope="module")
def numbers() -> Iterator[NamespacedGraph]:
    store = open_store("memory:")
    graph = NamespacedGraph(store, "n")
    graph.update(f"INSERT DATA {{ {' '.join(f'n:v{i} n:is {value} .' for i, value in enumerate(VALUES))} }}")
    yield graph
    store.close()


def asked(graph: NamespacedGraph, text: str) -> list[dict[str, str]]:
    return rows_of(graph.query(text))


@pytest.mark.parametrize("sign", COMPARED)
def test_numbers_of_any_length_are_compared_by_value(numbers: NamespacedGraph, sign: str) -> None:
    rows = asked(numbers, f"SELECT ?a ?b {{ ?x n:is ?a . ?y n:is ?b FILTER(?a {sign} ?b) }}")
    found = sorted((Decimal(row["a"]), Decimal(row["b"])) for row in rows)
    values = [Decimal(value) for value in VALUES]
    assert found == sorted((a, b) for a in values for b in values if COMPARED[sign](a, b))


@pytest.mark.parametrize("sign", CALCULATED)
def test_sums_differences_and_products_are_exact(numbers: NamespacedGraph, sign: str) -> None:
    rows = asked(numbers, f"SELECT ?a ?b (?a {sign} ?b AS ?c) {{ ?x n:is ?a . ?y n:is ?b }}")
    assert len(rows) == len(VALUES) ** 2
    for row in rows:
        a, b = Decimal(row["a"]), Decimal(row["b"])
        assert Decimal(row["c"]) == CALCULATED[sign](a, b), row


@pytest.mark.parametrize("direction", ["ASC", "DESC"])
def test_numbers_of_any_length_are_sorted_by_value(numbers: NamespacedGraph, direction: str) -> None:
    rows = asked(numbers, f"SELECT ?a {{ ?x n:is ?a }} ORDER BY {direction}(?a)")
    assert [Decimal(row["a"]) for row in rows] == sorted(map(Decimal, VALUES), reverse=direction == "DESC")


def test_aggregates_count_numbers_of_any_length(numbers: NamespacedGraph) -> None:
    text = "SELECT (MAX(?a) AS ?max) (MIN(?a) AS ?min) (SUM(?a) AS ?sum) (AVG(?a) AS ?avg) { ?x n:is ?a }"
    (row,) = asked(numbers, text)
    values = [Decimal(value) for value in VALUES]
    total = functools.reduce(EXACT.add, values)
    assert (Decimal(row["max"]), Decimal(row["min"]), Decimal(row["sum"])) == (max(values), min(values), total)
    assert abs(Decimal(row["avg"]) - EXACT.divide(total, Decimal(len(values)))) <= Decimal("1e-18")


LONG = "12345678901234567890123"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (f"{LONG} IN (1, {LONG}.0)", "true"),
        (f"{LONG} NOT IN (1, 2)", "true"),
        (f"{LONG} IN (1, 2)", "false"),
        (f"ABS(-{LONG})", LONG),
        (f"CEIL({LONG}.5)", "12345678901234567890124"),
        (f"FLOOR(-{LONG}.5)", "-12345678901234567890124"),
        (f"ROUND({LONG}.5)", "12345678901234567890124"),
        (f"isNumeric({LONG})", "true"),
        (f"xsd:integer('{LONG}')", LONG),
        (f"xsd:double({LONG})", "12345678901234568000000"),
        (f"xsd:decimal('{LONG}.5') - {LONG}", "0.5"),
        (f"{LONG} = 1.2345678901234568E22", "true"),
        (f"{LONG} / 2", "6172839450617283945061.5"),
        (f"IF({LONG} > 1, 'more', 'less')", "more"),
        (f"-{LONG} + {LONG}", "0"),
        (f"({LONG} - 1) * 2 - {LONG}", "12345678901234567890121"),
        (f"STRLEN(STR({LONG} + 1))", "23"),
        ("9223372036854775807 + 1", None),  # an overflow is an error where no number is too long (XPath 2.0 §6.2)
        (f"isNumeric({LONG} + 1)", "true"),
        (f"isNumeric('{LONG}')", "false"),
        (f"{LONG} / 0", None),
        (f"{LONG} + 'a'", None),
        ("1 < 'a'", None),
    ],
)
def test_an_expression_has_the_value_of_the_recommendation(expression: str, value: str | None) -> None:
    with closing(open_store("memory:")) as store:
        (row,) = asked(NamespacedGraph(store, "n"), f"SELECT ({expression} AS ?v) {{ }}")
        assert row.get("v") == value


@pytest.mark.parametrize(
    "write",
    ["update", "call", "import", "copy"],
)
def test_every_way_in_marks_a_store_with_a_long_number(tmp_path: Path, write: str) -> None:
    from cortex_graph.transfer import copy_store, import_file

    mark = tmp_path / "store" / ".short-numbers"
    with closing(open_store(tmp_path / "store")) as store:
        graph = NamespacedGraph(store, "n")
        graph.update("INSERT DATA { n:a n:is 5, 9223372036854775807, 0.5, '12345678901234567890123' }")
        import_file(graph, io.BytesIO(b"<urn:a> <urn:p> 1700000000000000000, 0.123456789012345678 ."), "turtle")
        assert mark.exists()
        if write == "update":
            graph.update(f"INSERT DATA {{ n:b n:is {LONG} }}")
        elif write == "call":
            graph.create_triple({"subject": "b", "predicate": "is", "object": int(LONG)})
        elif write == "import":
            import_file(graph, io.BytesIO(f"<urn:cortex:n:b> <urn:cortex:n:is> {LONG} .".encode()), "turtle")
        else:
            with closing(open_store("memory:")) as other:
                NamespacedGraph(other, "n").update(f"INSERT DATA {{ n:b n:is {LONG} }}")
                copy_store(other, store)
        assert not mark.exists()
        assert asked(graph, "SELECT (MAX(?v) AS ?m) { ?x n:is ?v FILTER(isNumeric(?v)) }") == [{"m": LONG}]
    with closing(open_store(tmp_path / "store")) as store:  # also for the next process
        assert asked(NamespacedGraph(store, "n"), "SELECT ?x { ?x n:is ?v FILTER(?v > 9223372036854775807) }") == [
            {"x": "urn:cortex:n:b"}
        ]


@pytest.mark.parametrize("has_one", [False, True])
def test_a_store_without_the_mark_may_have_long_numbers_until_it_is_checked(tmp_path: Path, has_one: bool) -> None:
    mark = tmp_path / "store" / ".short-numbers"
    values = ["40", LONG if has_one else "30", "5"]
    with closing(open_store(tmp_path / "store")) as store:
        graph = NamespacedGraph(store, "n")
        graph.update(f"INSERT DATA {{ n:a n:is {', '.join(values)}, 'x', 'not a number'^^xsd:integer }}")
    mark.unlink(missing_ok=True)  # as in a store of an earlier version, or of a backup
    with closing(open_store(tmp_path / "store")) as store:
        text = "SELECT ?v { ?x n:is ?v FILTER(?v > 1) } ORDER BY DESC(?v)"
        rows = asked(NamespacedGraph(store, "n"), text)
        assert [row["v"] for row in rows] == sorted(values, key=int, reverse=True)
        for thread in threading.enumerate():
            if thread.name == "cortex-numbers":
                thread.join()
        assert mark.exists() is not has_one
        assert asked(NamespacedGraph(store, "n"), text) == rows


numbers_of_any_kind = st.one_of(
    st.integers(-(10**30), 10**30).map(lambda value: Literal(str(value), datatype=NamedNode(f"{XSD}integer"))),
    st.decimals(allow_nan=False, allow_infinity=False, places=25, min_value=-(10**9), max_value=10**9).map(
        lambda value: Literal(f"{value:f}", datatype=NamedNode(f"{XSD}decimal"))
    ),
)


@settings(max_examples=300)
@given(numbers_of_any_kind, numbers_of_any_kind)
def test_the_key_of_a_number_sorts_like_its_value(first: Literal, second: Literal) -> None:
    one, other = Decimal(first.value), Decimal(second.value)
    keys = order_key(first).value, order_key(second).value  # type: ignore[union-attr]
    assert (keys[0] < keys[1], keys[0] == keys[1]) == (one < other, one == other)


@settings(max_examples=200)
@given(
    st.one_of(
        st.integers(-(2**65), 2**65).map(str), st.decimals(allow_nan=False, allow_infinity=False).map("{:f}".format)
    )
)
def test_a_number_is_long_where_the_engine_does_not_know_it(text: str) -> None:
    from pyoxigraph import Store, Variable

    literal = Literal(text, datatype=NamedNode(f"{XSD}{'decimal' if '.' in text else 'integer'}"))
    (row,) = Store().query("SELECT ?n (isNumeric(?n) AS ?known) {}", substitutions={Variable("n"): literal})
    number = number_of(literal)
    assert number is not None
    assert is_long(number) == (row["known"].value == "false")


def test_a_program_over_anything_but_numbers_has_no_result() -> None:
    call = functions([["+", 0, 1]])[NamedNode("urn:cortex-graph:exact/0")]
    for other in (NamedNode("urn:a"), Literal("1"), Literal("x", datatype=NamedNode(f"{XSD}integer")), Literal(True)):
        assert call(Literal(1), other) is None
    assert call(Literal(1), Literal("1" * 30_000, datatype=NamedNode(f"{XSD}integer"))) is None  # too long to add
