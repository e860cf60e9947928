"""Quads as triples of the REST API, and back.

Rules kept here:
- names are sent as `<IRI>`, which means that IRI for all namespaces and vocabularies of a server;
- responses are untrusted: a row is valid when its terms, in the requested graph, have the id of the row, and when they
  match the request. So a row that is read differently from its meaning is refused.
"""

from __future__ import annotations

from typing import Any, cast

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.exceptions import GraphError, invalid
from cortex_graph.index.triple_index import hash_line
from cortex_graph.naming.names import Names
from cortex_graph.naming.terms import Term, from_term, to_term
from cortex_graph.store import Pattern

_ANY = Names("any")  # the form of a literal does not depend on a namespace


class InvalidResponse(Exception):
    """A response is invalid; the message follows the name of the server."""


def to_name(node: object, field: str) -> str:
    """Return an IRI in the form of the API."""
    if not isinstance(node, NamedNode):
        raise invalid(field, f"is {str(node)[:200]}, which a Cortex server cannot store", hint="use an IRI")
    return f"<{node.value}>"


def to_value(term: object) -> Any:
    """Return the object of a triple in the form of the API."""
    return from_term(term, _ANY) if isinstance(term, Literal) else {"node": to_name(term, "object")}


def is_plain(literal: Literal) -> bool:
    """Return whether a literal is a JSON value, which a server stores unchanged."""
    return not isinstance(from_term(literal, _ANY), dict)


def to_triple(quad: Quad) -> dict[str, Any]:
    """Return a quad as `{subject, predicate, object}`."""
    return {
        "subject": to_name(quad.subject, "subject"),
        "predicate": to_name(quad.predicate, "predicate"),
        "object": to_value(quad.object),
    }


def to_pattern(pattern: Pattern) -> dict[str, Any]:
    """Return a pattern in the form of the API."""
    bound: dict[str, Any] = {}
    if pattern.subject is not None:
        bound["subject"] = to_name(pattern.subject, "subject")
    if pattern.predicate is not None:
        bound["predicate"] = to_name(pattern.predicate, "predicate")
    if pattern.object_ is not None:
        bound["object"] = to_value(pattern.object_)
    return bound


def read_value(value: Any, names: Names) -> Term:
    """Return the term of an object; raises `InvalidResponse`."""
    try:
        return to_term(value, names)
    except GraphError as error:
        raise InvalidResponse(f"returns an invalid object: {error.message[:200]}") from None


def read_row(row: Any, names: Names) -> Quad:
    """Return the quad of a row.

    Args:
        row: a triple with its id.
        names: of the namespace, as the server writes them.
    """
    if not isinstance(row, dict):
        raise InvalidResponse("returns an invalid triple")
    try:
        subject, predicate = names.node(row.get("subject"), "subject"), names.node(row.get("predicate"), "predicate")
    except GraphError as error:
        raise InvalidResponse(f"returns an invalid triple: {error.message[:200]}") from None
    quad = Quad(subject, predicate, read_value(row.get("object"), names), names.graph)
    if row.get("id") != hash_line(str(quad)):
        raise InvalidResponse(f"returns a triple with the id of another: {str(quad)[:200]}")
    return quad


def check_match(quad: Quad, pattern: Pattern) -> Quad:
    """Return a quad if it matches a pattern; raises `InvalidResponse` otherwise."""
    if (
        quad.graph_name != pattern.graph
        or pattern.subject not in (None, quad.subject)
        or pattern.predicate not in (None, quad.predicate)
        or pattern.object_ not in (None, quad.object)
    ):
        raise InvalidResponse(f"returns a triple that does not match: {str(quad)[:200]}")
    return quad


def pattern_of(quad: Quad) -> Pattern:
    """Return the pattern that matches this quad only."""
    return Pattern(*cast(Any, (quad.graph_name, quad.subject, quad.predicate, quad.object)))
