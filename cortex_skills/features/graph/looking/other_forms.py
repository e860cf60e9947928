"""The other forms of a literal in a graph: the same text with a language or another datatype, or the same number."""

from __future__ import annotations

import re

from pyoxigraph import Literal, NamedNode

from cortex_graph import NamespacedGraph
from cortex_graph.assertion_records.records import select
from cortex_skills.enrichment.fragments import kind_of

_QUERY_S = 3.0
_MOST = 5
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def other_forms(
    graph: NamespacedGraph, subject: NamedNode | None, predicate: NamedNode | None, text: str
) -> list[Literal]:
    """The literals of a pattern with the same text, or the same number, the most frequent first.

    Args:
        graph: the graph.
        subject: of the pattern; None for any.
        predicate: of the pattern; None for any.
        text: of the literal.

    Raises:
        QueryTimeout: it took too long.
    """
    same = f"STR(?o) = {Literal(text)}"
    if _NUMBER.fullmatch(text):
        same += f" || (ISNUMERIC(?o) && ?o = {Literal(float(text))})"
    query = (
        f"SELECT ?o (COUNT(*) AS ?n) {{ {subject or '?s'} {predicate or '?p'} ?o FILTER(ISLITERAL(?o) && ({same})) }} "
        f"GROUP BY ?o ORDER BY DESC(?n) STR(?o) LANG(?o) LIMIT {_MOST}"
    )
    rows = select(graph.store, graph.names.graph, query, timeout_s=_QUERY_S)
    found = [term for row in rows if isinstance(term := row["o"], Literal)]
    return [term for term in found if kind_of(term.datatype.value) is None]  # a datatype that is an instruction
