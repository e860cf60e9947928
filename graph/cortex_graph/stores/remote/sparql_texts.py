"""The SPARQL texts of the operations of a store, and the terms in their results.

Rules kept here:
- a text names its graph; terms are written as pyoxigraph writes them (N-Triples), so no value of a user can end a term
  and continue as SPARQL;
- results of a server are untrusted: a row has the terms that it must have, or the result is refused. Of a server that
  shows a change while it is made, it is read again.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QuerySolution, Triple

from cortex_graph.exceptions import GraphBusy, GraphUnavailable
from cortex_graph.store import Pattern
from cortex_graph.stores.remote.engines import EngineProfile

_XSD = "http://www.w3.org/2001/XMLSchema#"
STRINGS = frozenset({f"{_XSD}string", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"})
FREE = "urn:cortex-graph:free"  # a graph of conditional updates, which is never kept
_DIGITS = (
    f"(IF(DATATYPE(?o) = <{_XSD}double> || DATATYPE(?o) = <{_XSD}float>, bif:sprintf('%.17g', ?o), '') AS ?digits)"
)
# No COALESCE: Virtuoso evaluates it differently in a FILTER and in its result.
_PARTS = {
    "subject": "STR(?s)",
    "predicate": "STR(?p)",
    "object_": "STR(?o), ' ', IF(ISLITERAL(?o), CONCAT(STR(DATATYPE(?o)), ' ', LANG(?o)), '')",
}


class IncompleteRowError(GraphBusy):
    """A row without a term, of a statement that another writer is about to commit."""


def group_of(pattern: Pattern, engine: EngineProfile) -> str:
    """Return `GRAPH g { s p o }`, with variables for unbound parts, and for an object that must be compared here."""
    subject, predicate = pattern.subject or "?s", pattern.predicate or "?p"
    object_ = pattern.object_
    if not is_compared_here(pattern, engine):
        return f"GRAPH {pattern.graph} {{ {subject} {predicate} {object_ or '?o'} }}"
    # Virtuoso may return a constant for the stored term that equals it, depending on the plan that it chooses for the
    # number of its quads. So the constant only finds the subject and the predicate, and a variable reads their objects.
    found = f"{subject} {predicate}"
    return f"GRAPH {pattern.graph} {{ {found} {object_} . {found} ?o }} FILTER(!(?o != {object_}))"


def existence_of(groups: list[str], engine: EngineProfile) -> str:
    """Return the query for the indexes of the groups that have a solution, and the objects that were found."""
    branches = " UNION ".join(f"{{ {group} BIND({place} AS ?i) }}" for place, group in enumerate(groups))
    return f"SELECT ?i ?o{digits_of(engine)} {{ {branches} }}"


def key_of(pattern: Pattern) -> str:
    """Return the expression of a hash that orders the quads of a pattern totally, so that a cursor contains no data.

    It is made of the unbound parts: Virtuoso is inconsistent about bound ones.
    """
    parts = ", ' ', ".join(part for field, part in _PARTS.items() if getattr(pattern, field) is None)
    return f"SUBSTR(SHA256(CONCAT({parts}, '')), 1, 31)"


def rows_of(pattern: Pattern, engine: EngineProfile) -> str:
    """Return the SELECT clause for the variables of a pattern, or for its object when it has none."""
    if pattern.object_ is not None and not is_compared_here(pattern, engine):
        return "SELECT *"
    return f"SELECT ?s ?p ?o{digits_of(engine)}"


def digits_of(engine: EngineProfile) -> str:
    """Return the expression that selects all digits of a double as `?digits`."""
    return f" {_DIGITS}" if engine.digits else ""


def data(verb: str, quads: Iterable[Quad]) -> str:
    """Return `INSERT DATA` or `DELETE DATA` of quads."""
    return f"{verb} DATA {{ {_graphs(quads)} }}"


def conditional(absent: Pattern, insert: Iterable[Quad], remove: Iterable[Quad], engine: EngineProfile) -> str:
    """Return the update that changes quads if no quad matches a pattern (SPARQL 1.1 Update §3.1.3)."""
    # Virtuoso evaluates neither OPTIONAL nor NOT EXISTS without a pattern before it.
    group = f"GRAPH {absent.graph} {{ {absent.subject} {absent.predicate} ?claim{engine.alone} }}"
    counted = f"{{ SELECT (COUNT(?claim) AS ?claims) {{ {group} }} }}"
    deleted = _graphs(remove)
    removal = f"DELETE {{ {deleted} }} " if deleted else ""
    return f"{removal}INSERT {{ {_graphs(insert)} }} WHERE {{ {counted} FILTER(?claims = 0) }}"


def _graphs(quads: Iterable[Quad]) -> str:
    return " ".join(
        f"GRAPH {graph} {{ {' '.join(f'{quad.triple} .' for quad in among)} }}"
        for graph, among in groupby(quads, key=lambda quad: quad.graph_name)
    )


def read_row(row: QuerySolution, pattern: Pattern, engine: EngineProfile) -> Quad | None:
    """Return the quad of a row; None when its object only has the same value as the requested one."""
    subject = pattern.subject or _term(row, "s", engine)
    predicate = pattern.predicate or _term(row, "p", engine)
    if not isinstance(subject, NamedNode | BlankNode) or not isinstance(predicate, NamedNode):
        raise GraphUnavailable(
            f"a row of the result has {str(subject)[:200]} for a subject and {str(predicate)[:200]} for a predicate",
            hint="see whether this is a SPARQL 1.1 server",
        )
    looked_at = is_compared_here(pattern, engine)
    object_ = pattern.object_ if pattern.object_ is not None and not looked_at else _term(row, "o", engine)
    if isinstance(object_, Literal) and (pattern.object_ is None or looked_at):
        object_ = _spelt(object_, row, engine)
    if looked_at and object_ != pattern.object_:
        return None
    return Quad(subject, predicate, object_, pattern.graph)


def is_compared_here(pattern: Pattern, engine: EngineProfile) -> bool:
    """Return whether the object of a pattern must be compared here, since the server compares values."""
    object_ = pattern.object_
    return engine.by_value and isinstance(object_, Literal) and object_.datatype.value not in STRINGS


def _spelt(literal: Literal, row: QuerySolution, engine: EngineProfile) -> Literal:
    if not engine.digits or engine.spelling is None:
        return literal
    digits = optional_term(row, "digits")
    if isinstance(digits, Literal) and digits.value:
        text = digits.value.replace("inf", "INF").replace("nan", "NaN")
        literal = Literal(text, datatype=literal.datatype)
    return engine.spelling(literal)


def _term(row: QuerySolution, name: str, engine: EngineProfile) -> NamedNode | BlankNode | Literal | Triple:
    term = optional_term(row, name)
    if term is None and engine.incomplete_rows:
        raise IncompleteRowError(f"{engine.name} returns statements that are not complete", hint="try again later")
    if term is None:
        raise GraphUnavailable(f"a row of the result has no `{name}`", hint="see whether this is a SPARQL 1.1 server")
    return term


def optional_term(row: QuerySolution, name: str) -> NamedNode | BlankNode | Literal | Triple | None:
    """Return a term of a row; None where it has none."""
    try:
        term: NamedNode | BlankNode | Literal | Triple | None = row[name]
    except KeyError:
        return None
    return term
