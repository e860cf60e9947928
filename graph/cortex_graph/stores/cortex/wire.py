"""Quads as the triples of the REST API, and back.

Rules kept here:
- names go out as `<IRI>`, which means that IRI whatever the server's namespaces and vocabularies are;
- what comes back is hostile: a row counts when its terms, in the asked graph, have the id that stands beside them, and
  when they match what was asked for. So a row that is read in another sense than it was meant cannot pass.
"""

from __future__ import annotations

from typing import Any, cast

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.errors import GraphError, invalid
from cortex_graph.index import hash_line
from cortex_graph.names import Names
from cortex_graph.store import Pattern
from cortex_graph.terms import Term, from_term, to_term

_ANY = Names("any")  # what a literal is written with does not depend on a namespace


class StrangeError(Exception):
    """An answer that is not what it must be; the text goes after the server's name."""


def to_name(node: object, field: str) -> str:
    """An IRI as the API takes it.

    Raises:
        InvalidArguments: it is another kind of term.

    """
    if not isinstance(node, NamedNode):
        raise invalid(field, f"is {str(node)[:200]}, which has no name that a Cortex server takes", hint="use an IRI")
    return f"<{node.value}>"


def to_value(term: object) -> Any:
    """The object of a triple as the API takes it."""
    return from_term(term, _ANY) if isinstance(term, Literal) else {"node": to_name(term, "object")}


def is_plain(literal: Literal) -> bool:
    """Whether a literal is a value of JSON, which a server keeps as it is."""
    return not isinstance(from_term(literal, _ANY), dict)


def to_triple(quad: Quad) -> dict[str, Any]:
    """A quad as `{subject, predicate, object}`."""
    return {
        "subject": to_name(quad.subject, "subject"),
        "predicate": to_name(quad.predicate, "predicate"),
        "object": to_value(quad.object),
    }


def to_pattern(pattern: Pattern) -> dict[str, Any]:
    """A pattern as the API takes it."""
    bound: dict[str, Any] = {}
    if pattern.subject is not None:
        bound["subject"] = to_name(pattern.subject, "subject")
    if pattern.predicate is not None:
        bound["predicate"] = to_name(pattern.predicate, "predicate")
    if pattern.object_ is not None:
        bound["object"] = to_value(pattern.object_)
    return bound


def read_value(value: Any, names: Names) -> Term:
    """The term of an object.

    Raises:
        StrangeError: it is none.

    """
    try:
        return to_term(value, names)
    except GraphError as error:
        raise StrangeError(f"answers with an object that is none: {error.message[:200]}") from None


def read_row(row: Any, names: Names) -> Quad:
    """The quad of a row.

    Args:
        row: a triple with its id.
        names: of the namespace, as the server spells them.

    Raises:
        StrangeError: it is no triple, or not the one of its id.

    """
    if not isinstance(row, dict):
        raise StrangeError("answers with a triple that is none")
    try:
        subject, predicate = names.node(row.get("subject"), "subject"), names.node(row.get("predicate"), "predicate")
    except GraphError as error:
        raise StrangeError(f"answers with a triple that is none: {error.message[:200]}") from None
    quad = Quad(subject, predicate, read_value(row.get("object"), names), names.graph)
    if row.get("id") != hash_line(str(quad)):
        raise StrangeError(f"answers with a triple that is not the one of its id: {str(quad)[:200]}")
    return quad


def check_match(quad: Quad, pattern: Pattern) -> Quad:
    """A quad that matches a pattern.

    Raises:
        StrangeError: it does not.

    """
    if (
        quad.graph_name != pattern.graph
        or pattern.subject not in (None, quad.subject)
        or pattern.predicate not in (None, quad.predicate)
        or pattern.object_ not in (None, quad.object)
    ):
        raise StrangeError(f"answers with a triple that was not asked for: {str(quad)[:200]}")
    return quad


def pattern_of(quad: Quad) -> Pattern:
    """What matches this quad alone."""
    return Pattern(*cast(Any, (quad.graph_name, quad.subject, quad.predicate, quad.object)))
