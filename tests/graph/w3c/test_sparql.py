"""The SPARQL suites of the W3C: what passes, and the reason for everything else; `docs/conformance.md` has the numbers.

Rules kept here:
- a case passes, is refused with a reason of `AUTOMATIC`, or is in `OTHERS` with a reason: nothing else is accepted;
- a case that begins to pass must be removed from `OTHERS`, and the numbers of the page must be true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from cortex_graph import (
    GraphError,
    GraphStore,
    NamespacedGraph,
    NamespaceViolation,
    PermissionDenied,
    open_store,
)
from tests.docs.conformance_page import counts_of, refusals
from tests.graph.w3c.manifests import SUITES, Case, cases
from tests.graph.w3c.sparql_cases import run

pytestmark = pytest.mark.skipif(not SUITES.is_dir(), reason="the suites are not there: python -m tests.graph.w3c.fetch")

NETWORK, NAMESPACE = "another server", "another graph"
NUMBERS, NAMES, EDITION, ESCAPES, ENGINE = "numbers", "named nodes", "older edition", "escapes", "engine"

OTHERS = {
    # The store keeps the value of a number, not its digits (docs/graph.md, the table of stores).
    **dict.fromkeys(["distinct-1", "distinct-9", "dawg-str-1", "dawg-str-2", "eq-graph-1", "eq-graph-2"], NUMBERS),
    **dict.fromkeys(["sameTerm-simple", "sameTerm-eq", "sameTerm-not-eq", "open-eq-01", "csv03"], NUMBERS),
    # A blank node is a name of its namespace, and one node wherever its graph is seen.
    **dict.fromkeys(["dawg-isBlank-1", "dawg-isIRI-1", "dawg-isURI-1"], NAMES),
    **dict.fromkeys(["dawg-dataset-09", "dawg-dataset-10", "dawg-dataset-12"], NAMES),
    # rdflib has cases that later editions changed: RDF 1.0 strings without a datatype, `123.` as a number, an empty
    # group without rows.
    **dict.fromkeys(["distinct-2", "dawg-datatype-2", "strdt03", "strlang03"], EDITION),
    **dict.fromkeys(["term-6", "term-7", "syntax-lit-08", "agg-empty-group"], EDITION),
    # Codepoint escapes belong into strings and IRIs, as in SPARQL 1.2. `<` after a value is an operator.
    **dict.fromkeys(["syntax-esc-04", "syntax-esc-05", "syn-bad-26"], ESCAPES),
    # Oxigraph: dates with and without a time zone are compared, BNODE("x") is one node of a query, a filter of an
    # optional group sees the variables outside.
    **dict.fromkeys(["date-2", "bnode01", "dawg-optional-filter-005-simplified"], ENGINE),
    # Each graph is a named one here.
    **dict.fromkeys(["dawg-clear-named-01", "dawg-drop-named-01"], NAMESPACE),
}
ROWS = {
    "SPARQL 1.1 queries": [
        *("aggregates", "bind", "bindings", "construct", "csv-tsv-res", "exists", "functions", "grouping", "json-res"),
        *("negation", "project-expression", "property-path", "subquery"),
    ],
    "SPARQL 1.1 updates": [
        *("add", "basic-update", "clear", "copy", "delete", "delete-data", "delete-insert", "delete-where", "drop"),
        *("move", "update-silent"),
    ],
    "SPARQL 1.1 syntax": ["syntax-query", "syntax-update-1", "syntax-update-2"],
    "SPARQL 1.1 federation": ["service", "syntax-fed"],
}
SPARQL_1_0 = "SPARQL 1.0"


@pytest.fixture(scope="module", params=["as written", "rewritten"])
def store(request: pytest.FixtureRequest) -> Iterator[GraphStore]:
    """A store, whose queries are rewritten when it has a number that is too long for the engine."""
    opened = open_store("memory:")
    if request.param == "rewritten":
        NamespacedGraph(opened, "other").create_triple({"subject": "a", "predicate": "b", "object": 10**30})
    yield opened
    opened.close()


def outcome(case: Case, store: GraphStore) -> str:
    """`passed`, the reason of a refusal, or what went wrong."""
    try:
        run(case, store)
    except GraphError as error:
        if "Negative" in case.kind:
            return "passed"
        if isinstance(error, PermissionDenied):
            return NETWORK
        if isinstance(error, NamespaceViolation) or "names none of several graphs" in error.message:
            return NAMESPACE
        return f"refused: {error.message}"
    except AssertionError:
        return "another result"
    return "accepted" if "Negative" in case.kind else "passed"


def suites_of(row: str) -> list[str]:
    if row == SPARQL_1_0:
        return sorted(f"dawg-data-r2/{file.parent.name}" for file in SUITES.glob("dawg-data-r2/*/manifest.ttl"))
    return [f"sparql11/{suite}" for suite in ROWS[row]]


@pytest.mark.parametrize("row", [*ROWS, SPARQL_1_0])
def test_each_case_passes_or_has_a_reason(row: str, store: GraphStore) -> None:
    found = [(case, outcome(case, store)) for suite in suites_of(row) for case in cases(suite)]
    known = ("passed", NETWORK, NAMESPACE)
    odd = {case.name: what for case, what in found if case.name in OTHERS or what not in known}
    assert odd.keys() - OTHERS.keys() == set(), odd
    assert [name for name, what in odd.items() if what == "passed"] == []
    reasons = Counter(OTHERS.get(case.name, what) for case, what in found)
    passed = reasons.pop("passed", 0)
    assert counts_of(row) == (passed, len(found) - passed), reasons
    assert sorted(number for number, _ in refusals().get(row, [])) == sorted(reasons.values())


def test_every_reason_is_of_a_listed_case() -> None:
    listed = {case.name for row in [*ROWS, SPARQL_1_0] for suite in suites_of(row) for case in cases(suite)}
    assert OTHERS.keys() - listed == set()
