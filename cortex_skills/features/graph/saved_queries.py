"""Queries that are saved in a namespace: their RDF, and the values of their parameters.

Rules kept here:
- a query is kept in the graph `queries` beside that of its namespace, in the terms of SHACL (§5: `sh:SPARQLExecutable`,
  `sh:select` for its text, `sh:parameter`) and Dublin Core, so that other programs can read it;
- its name and its text are bounded, and so is the number of queries;
- a value is text; the kind of its parameter makes a term of it, or refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal as OneOf
from typing import cast

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import NamespacedGraph
from cortex_graph.checks.datetimes import date_time, to_milliseconds
from cortex_graph.exceptions import invalid
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_graph.naming.vocabulary import DATE_TIME, LABEL, TYPE
from cortex_graph.store import Pattern

MOST = 500  # of a namespace
MAX_TEXT = 24_000  # characters, as many as the page of a query takes
MAX_DESCRIPTION = 1_000
Kind = OneOf["text", "number", "name", "date", "boolean"]
KINDS: tuple[Kind, ...] = ("text", "number", "name", "date", "boolean")

_SH, _XSD, _DCTERMS = (WELL_KNOWN_VOCABULARIES[prefix] for prefix in ("sh", "xsd", "dcterms"))
_EXECUTABLE, _TEXT, _PARAMETER = (NamedNode(_SH + term) for term in ("SPARQLExecutable", "select", "parameter"))
_NAME, _ORDER, _DATATYPE = (NamedNode(_SH + term) for term in ("name", "order", "datatype"))
_NODE_KIND, _IRI, _ABOUT = (NamedNode(_SH + term) for term in ("nodeKind", "IRI", "description"))
_DESCRIPTION, _CREATOR, _MODIFIED = (NamedNode(_DCTERMS + term) for term in ("description", "creator", "modified"))
_DATATYPES: Mapping[Kind, str] = {"text": "string", "number": "decimal", "date": "date", "boolean": "boolean"}
_NUMBER = re.compile(r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A parameter: the variable without its `$`, what its values are, and what it means."""

    name: str
    kind: Kind = "text"
    description: str = ""


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A query.

    Attributes:
        name: unique in its namespace.
        text: SPARQL; a parameter is a variable with `$`.
        description: for a person.
        parameters: of the text, in their order.
        creator: who saved it.
        modified: when, an `xsd:dateTime`.
    """

    name: str
    text: str
    description: str
    parameters: tuple[QueryParameter, ...]
    creator: str
    modified: str


def saved_queries(graph: NamespacedGraph) -> list[SavedQuery]:
    """Return the queries of a namespace, by name."""
    names = graph.names
    nodes = graph.store.match(Pattern(names.queries_graph, None, TYPE, _EXECUTABLE), MOST).triples
    found = (_read(graph, node) for node, _, _ in nodes)
    return sorted((each for each in found if each is not None), key=lambda each: each.name)


def saved_query(graph: NamespacedGraph, name: str) -> SavedQuery | None:
    """Return a query; None for an unknown name."""
    return _read(graph, node_of(graph, name))


def node_of(graph: NamespacedGraph, name: str) -> NamedNode:
    """Return the node of a query: `{base}NS/query/NAME`."""
    return graph.names.beside("query", name)


def save(graph: NamespacedGraph, query: SavedQuery) -> SavedQuery:
    """Write a query in place of the one with its name, in one transaction; returns it with its time."""
    now = date_time(to_milliseconds(datetime.now(UTC)))
    saved = replace(query, modified=now)
    graph.store.apply(insert=list(_quads(graph, saved)), remove=_present(graph, query.name))
    return saved


def forget(graph: NamespacedGraph, name: str) -> None:
    """Remove a query."""
    graph.store.apply(remove=_present(graph, name))


def terms_of(graph: NamespacedGraph, query: SavedQuery, values: Mapping[str, str]) -> dict[str, NamedNode | Literal]:
    """Return the values of the parameters of a query as terms.

    Raises:
        InvalidArguments: a value is missing, malformed, or of no parameter.
    """
    known = {each.name: each for each in query.parameters}
    for name in values:
        if name not in known:
            raise invalid("values", f"names {name[:80]!r}, which is no parameter of this query", hint=", ".join(known))
    missing = [name for name in known if name not in values]
    if missing:
        raise invalid("values", f"has none for {', '.join(missing)}", hint=f"give {missing[0]}=VALUE")
    return {name: _term(graph, known[name], value) for name, value in values.items()}


def _term(graph: NamespacedGraph, parameter: QueryParameter, value: str) -> NamedNode | Literal:
    kind, text = parameter.kind, value.strip()
    if kind == "name":
        return graph.node_of(text, "values")
    if kind == "text":
        return Literal(value)
    try:
        if kind == "date":
            datetime.strptime(text, "%Y-%m-%d")
        elif not (_NUMBER.fullmatch(text) if kind == "number" else text in ("true", "false")):
            raise ValueError
    except ValueError:
        hint = {"number": "5 or 2.5", "boolean": "true or false", "date": "2026-01-31"}[kind]
        raise invalid("values", f"has {value[:80]!r} for {parameter.name}, a {kind}", hint=hint) from None
    datatype = "integer" if kind == "number" and "." not in text else _DATATYPES[kind]
    return Literal(text, datatype=NamedNode(_XSD + datatype))


def _quads(graph: NamespacedGraph, query: SavedQuery) -> Iterator[Quad]:
    within, node = graph.names.queries_graph, node_of(graph, query.name)
    values: list[tuple[NamedNode, NamedNode | Literal]] = [
        (TYPE, _EXECUTABLE),
        (LABEL, Literal(query.name)),
        (_TEXT, Literal(query.text)),
        (_DESCRIPTION, Literal(query.description)),
        (_CREATOR, Literal(query.creator)),
        (_MODIFIED, Literal(query.modified, datatype=DATE_TIME)),
    ]
    yield from (Quad(node, predicate, value, within) for predicate, value in values)
    for place, each in enumerate(query.parameters):
        part = _parameter_node(graph, query.name, place)
        yield Quad(node, _PARAMETER, part, within)
        yield Quad(part, _NAME, Literal(each.name), within)
        yield Quad(part, _ORDER, Literal(str(place), datatype=NamedNode(f"{_XSD}integer")), within)
        yield Quad(part, _ABOUT, Literal(each.description), within)
        if each.kind == "name":
            yield Quad(part, _NODE_KIND, _IRI, within)
        else:
            yield Quad(part, _DATATYPE, NamedNode(_XSD + _DATATYPES[each.kind]), within)


def _parameter_node(graph: NamespacedGraph, name: str, place: int) -> NamedNode:
    return graph.names.beside("query-parameter", name, str(place))


def _present(graph: NamespacedGraph, name: str) -> list[Quad]:
    within = graph.names.queries_graph
    own = list(graph.store.quads(Pattern(within, node_of(graph, name))))
    parts = [each.object for each in own if each.predicate == _PARAMETER and isinstance(each.object, NamedNode)]
    return [*own, *(quad for part in parts for quad in graph.store.quads(Pattern(within, part)))]


def _read(graph: NamespacedGraph, node: object) -> SavedQuery | None:
    if not isinstance(node, NamedNode):
        return None
    within = graph.names.queries_graph
    stated = {each.predicate: each.object for each in graph.store.quads(Pattern(within, node))}
    parts = [each.object for each in graph.store.quads(Pattern(within, node, _PARAMETER))]

    def text(predicate: NamedNode) -> str:
        value = stated.get(predicate)
        return value.value if isinstance(value, Literal) else ""

    if not (text(LABEL) and text(_TEXT)):
        return None
    read = [_read_parameter(graph, part) for part in parts if isinstance(part, NamedNode)]
    parameters = tuple(each for _, each in sorted(read, key=lambda pair: pair[0]))
    return SavedQuery(text(LABEL), text(_TEXT), text(_DESCRIPTION), parameters, text(_CREATOR), text(_MODIFIED))


def _read_parameter(graph: NamespacedGraph, node: NamedNode) -> tuple[int, QueryParameter]:
    quads = graph.store.quads(Pattern(graph.names.queries_graph, node))
    stated = {each.predicate: each.object for each in quads}
    kinds = {NamedNode(_XSD + datatype): kind for kind, datatype in _DATATYPES.items()}
    values = {key: value.value for key, value in stated.items() if isinstance(value, Literal)}
    kind = "name" if _NODE_KIND in stated else kinds.get(cast(NamedNode, stated.get(_DATATYPE)), "text")
    place = values.get(_ORDER, "0")
    parameter = QueryParameter(values.get(_NAME, ""), kind, values.get(_ABOUT, ""))
    return int(place) if place.isdecimal() else 0, parameter
