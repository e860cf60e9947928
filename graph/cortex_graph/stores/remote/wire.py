"""SPARQL texts for the operations of a store, and the terms that are read from the answers.

Rules kept here:
- a text names its graph; terms are written as pyoxigraph writes them (N-Triples), so nothing that a user says can end
  a term and go on as SPARQL;
- what a server answers is hostile: a row has the terms that it must have, or the answer is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QuerySolution, Triple

from cortex_graph.errors import GraphUnavailable
from cortex_graph.store import Pattern
from cortex_graph.stores.remote.engines import Engine

_XSD = "http://www.w3.org/2001/XMLSchema#"
_NO_TERM = "<urn:cortex-graph:nothing>"
STRINGS = frozenset({f"{_XSD}string", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"})
_DIGITS = (
    f"(IF(DATATYPE(?o) = <{_XSD}double> || DATATYPE(?o) = <{_XSD}float>, bif:sprintf('%.17g', ?o), '') AS ?digits)"
)
# No COALESCE: Virtuoso evaluates it differently in a FILTER and in what it answers.
_PARTS = {
    "subject": "STR(?s)",
    "predicate": "STR(?p)",
    "object_": "STR(?o), ' ', IF(ISLITERAL(?o), CONCAT(STR(DATATYPE(?o)), ' ', LANG(?o)), '')",
}


def group_of(pattern: Pattern, engine: Engine) -> str:
    """`GRAPH g { s p o }`, with `?s`, `?p` and `?o` for what is not bound; an object that must be looked at is `?o`."""
    subject, predicate = pattern.subject or "?s", pattern.predicate or "?p"
    object_ = pattern.object_
    if not is_looked_at(pattern, engine):
        return f"GRAPH {pattern.graph} {{ {subject} {predicate} {object_ or '?o'} }}"
    # Virtuoso puts the constant in the place of what it found, unless there are two and nothing is said of the type. So
    # what it found is looked at here.
    return f"GRAPH {pattern.graph} {{ {subject} {predicate} ?o }} FILTER(?o IN ({object_}, {_NO_TERM}))"


def existence_of(groups: list[str], engine: Engine) -> str:
    """The query for the places in the list of those groups that have a solution, and the objects that were found."""
    branches = " UNION ".join(f"{{ {group} BIND({place} AS ?i) }}" for place, group in enumerate(groups))
    return f"SELECT ?i ?o{digits_of(engine)} {{ {branches} }}"


def key_of(pattern: Pattern) -> str:
    """What orders the quads of a pattern totally, whatever is written: a hash, so that a cursor holds none of the data.

    It is made of what the pattern leaves open: Virtuoso is not of one mind about what is bound.
    """
    parts = ", ' ', ".join(part for field, part in _PARTS.items() if getattr(pattern, field) is None)
    return f"SUBSTR(SHA256(CONCAT({parts}, '')), 1, 31)"


def rows_of(pattern: Pattern, engine: Engine) -> str:
    """The SELECT clause for the variables of a pattern; of one without variables, for its object."""
    if pattern.object_ is not None and not is_looked_at(pattern, engine):
        return "SELECT *"
    return f"SELECT ?s ?p ?o{digits_of(engine)}"


def digits_of(engine: Engine) -> str:
    """What asks for a double digit by digit, as `?digits`."""
    return f" {_DIGITS}" if engine.digits else ""


def data(verb: str, quads: Iterable[Quad]) -> str:
    """`INSERT DATA` or `DELETE DATA` of quads."""
    graphs = (
        f"GRAPH {graph} {{ {' '.join(f'{quad.triple} .' for quad in among)} }}"
        for graph, among in groupby(quads, key=lambda quad: quad.graph_name)
    )
    return f"{verb} DATA {{ {' '.join(graphs)} }}"


def read_row(row: QuerySolution, pattern: Pattern, engine: Engine) -> Quad | None:
    """The quad of a row; None when it only has an object equal to the one that was asked for.

    Raises:
        GraphUnavailable: a term is missing, or cannot stand where it does.

    """
    subject = pattern.subject or _term(row, "s")
    predicate = pattern.predicate or _term(row, "p")
    if not isinstance(subject, NamedNode | BlankNode) or not isinstance(predicate, NamedNode):
        raise GraphUnavailable(
            f"a row of the answer has {str(subject)[:200]} for a subject and {str(predicate)[:200]} for a predicate",
            hint="see whether this is a SPARQL 1.1 server",
        )
    looked_at = is_looked_at(pattern, engine)
    object_ = pattern.object_ if pattern.object_ is not None and not looked_at else _term(row, "o")
    if isinstance(object_, Literal) and (pattern.object_ is None or looked_at):
        object_ = _spelt(object_, row, engine)
    if looked_at and object_ != pattern.object_:
        return None
    return Quad(subject, predicate, object_, pattern.graph)


def is_looked_at(pattern: Pattern, engine: Engine) -> bool:
    """Whether the object that a pattern binds must be told here from others that the server takes for the same."""
    object_ = pattern.object_
    return engine.by_value and isinstance(object_, Literal) and object_.datatype.value not in STRINGS


def _spelt(literal: Literal, row: QuerySolution, engine: Engine) -> Literal:
    if not engine.digits or engine.spelling is None:
        return literal
    digits = _optional(row, "digits")
    if isinstance(digits, Literal) and digits.value:
        text = digits.value.replace("inf", "INF").replace("nan", "NaN")
        literal = Literal(text, datatype=literal.datatype)
    return engine.spelling(literal)


def _term(row: QuerySolution, name: str) -> NamedNode | BlankNode | Literal | Triple:
    term = _optional(row, name)
    if term is None:
        raise GraphUnavailable(f"a row of the answer has no `{name}`", hint="see whether this is a SPARQL 1.1 server")
    return term


def _optional(row: QuerySolution, name: str) -> NamedNode | BlankNode | Literal | Triple | None:
    try:
        term: NamedNode | BlankNode | Literal | Triple | None = row[name]
    except KeyError:
        return None
    return term
