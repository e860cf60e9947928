"""The ids of triples and proofs from their beginnings.

Rules kept here:
- a beginning of at least 6 hexadecimal digits stands for the only id of the namespace that begins so; several are an
  error that lists them. So a short id never means another triple than the one that was meant when it was unique;
- a whole id, and what is no beginning of one, is returned unchanged: what it refers to is decided where it is used;
- a triple that was withdrawn has its id, too;
- records are searched by a query of the store. Triples without a record are hashed, or searched in the index where a
  graph is large (`triple_index.py`).

    >>> from cortex_graph import NamespacedGraph, open_store
    >>> graph = NamespacedGraph(open_store("memory:"), "mayros")
    >>> made = graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
    >>> full_triple_id(graph, made["id"][:6]) == made["id"]
    True
"""

from __future__ import annotations

import re

from pyoxigraph import NamedNode, QueryResultsFormat, QuerySolutions, parse_query_results

from cortex_graph.exceptions import InvalidArguments
from cortex_graph.index.index_build import MAX_WAIT_S
from cortex_graph.index.triple_index import TripleIndex
from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.vocabulary import GENERATED_AT, SPECIALIZATION_OF
from cortex_graph.store import Dataset, Identifying, Pattern

SHORTEST = 6
_SHORT = re.compile(rf"[0-9a-f]{{{SHORTEST},63}}")
_LISTED = 10
_HASHED = 100_000  # triples
_QUERY_S = 10.0


def full_triple_id(graph: NamespacedGraph, given: str) -> str:
    """Return the id of the triple of a namespace that begins so.

    Args:
        graph: the graph of the namespace.
        given: an id, or its beginning.

    Raises:
        InvalidArguments: several ids begin so (`details["ids"]` lists them), or none does.
        GraphBusy: the graph must be indexed first.
        QueryTimeout: the search takes too long.
    """
    if not _is_short(given):
        return given
    names, start = graph.names, graph.names.record(given).value
    where = f"{{ ?id {GENERATED_AT} ?time }} UNION {{ ?withdrawn {SPECIALIZATION_OF} ?id }}"
    stem = len(start) - len(given)
    found = {iri[stem:] for iri in _starting(graph, names.provenance_graph, where, start)}
    return _only(graph, "triple", given, found | _unrecorded(graph, given))


def full_proof_id(graph: NamespacedGraph, given: str) -> str:
    """Return the id of the proof of a namespace that begins so; the text itself when there is none.

    Arguments and errors are otherwise those of `full_triple_id`; the text may also be the beginning of a proof's IRI.
    """
    stem = f"{graph.names.graph.value}/proof/"
    short = given.removeprefix(stem) if isinstance(given, str) else given
    if not _is_short(short):
        return given
    # The class of proofs would do as well, but its IRI has the word `graph`, which some servers may not be asked.
    found = _starting(graph, graph.names.provenance_graph, f"?id {GENERATED_AT} ?time", stem + short)
    return _only(graph, "proof", short, {iri.removeprefix(stem) for iri in found}) if found else given


def _is_short(given: object) -> bool:
    return isinstance(given, str) and bool(_SHORT.fullmatch(given))


def _unrecorded(graph: NamespacedGraph, given: str) -> set[str]:
    """Return the ids that begin so, at least of the triples without a record."""
    store, names, index = graph.store, graph.names, graph.index
    if isinstance(store, Identifying):
        quad = store.find(names.graph, given)
        return set() if quad is None else {index.identify(quad)}
    everything, records = Pattern(names.graph), Pattern(names.provenance_graph, None, GENERATED_AT)
    if not index.is_complete():
        if store.count(everything, _HASHED + 1) <= _HASHED:
            return {found for quad in store.quads(everything) if (found := TripleIndex.hash_of(quad)).startswith(given)}
        if store.count(everything) <= store.count(records):
            return set()
        index.complete(MAX_WAIT_S)
    start = names.record(given).value
    stem = len(start) - len(given)
    return {iri[stem:] for iri in _starting(graph, names.index_graph, "?id ?predicate ?subject", start)}


def _starting(graph: NamespacedGraph, inside: NamedNode, where: str, start: str) -> set[str]:
    text = f'SELECT DISTINCT ?id {{ {where} FILTER STRSTARTS(STR(?id), "{start}") }} LIMIT {_LISTED + 1}'
    answer = graph.store.query(text, Dataset((inside,)), results=QueryResultsFormat.JSON, timeout_s=_QUERY_S)
    rows = parse_query_results(b"".join(answer.chunks), QueryResultsFormat.JSON)
    return {row["id"].value for row in rows} if isinstance(rows, QuerySolutions) else set()


def _only(graph: NamespacedGraph, what: str, given: str, found: set[str]) -> str:
    if len(found) == 1:
        return found.pop()
    if not found:
        raise InvalidArguments(
            f"no {what} of {graph.namespace} has an id that begins with {given}",
            hint="give the whole id, or name another namespace",
            details={"field": "id"},
        )
    listed = sorted(found)[:_LISTED]
    more = ", …" if len(found) > _LISTED else ""
    raise InvalidArguments(
        f"{given} is the beginning of the ids of several {what}s: {', '.join(listed)}{more}",
        hint="give more digits",
        details={"field": "id", "ids": listed},
    )
