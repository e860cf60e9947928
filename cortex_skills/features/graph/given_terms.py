"""Names and values of arguments, in every form that an answer prints.

Rules kept here:
- a name may have a prefix of an imported file, or be an IRI in angle brackets; a name of the namespace that is in use
  keeps its meaning (`NamespacedGraph.node_of`);
- a value is what it is: a string is a string. Only when no triple has exactly that, what it reads as in Turtle
  (`"Faktura"@sv`, `12.50`) and the same text with a language or another datatype are tried, and the answer states it;
- what is written is never guessed: only a string in quotes with a language or a datatype behind them is read as Turtle.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pyoxigraph import Literal, NamedNode

from cortex_graph import NamespacedGraph
from cortex_graph.exceptions import GraphBusy, QueryLimit, QueryTimeout
from cortex_graph.naming.terms import from_term
from cortex_graph.store import Pattern
from cortex_skills.features.graph.looking.other_forms import other_forms
from cortex_skills.safe_io.display import json_text

_TYPED = re.compile(r'".*"(?:@|\^\^)\S+', re.DOTALL)


def as_written(graph: NamespacedGraph, triple: Mapping[str, Any]) -> dict[str, Any]:
    """A triple to be written: its names, and its value if that is a string in the form of a literal of Turtle."""
    found = graph.with_names(triple)
    value = found.get("object")
    if isinstance(value, str) and _TYPED.fullmatch(value):
        term = graph.prefixes.terms().read(value)
        if isinstance(term, Literal):
            found["object"] = from_term(term, graph.names)
    return found


def with_present_object(graph: NamespacedGraph, pattern: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """A pattern whose object a triple has, if there is one with another form of it; and what to add to the answer."""
    found = graph.with_names(pattern)
    value = found.get("object")
    if value is None or (isinstance(value, Mapping) and "node" in value):
        return found, ""
    exact = graph.object_of(value)
    names, own = graph.names, graph.names.graph
    subject, predicate = (names.node(found[part], part) if part in found else None for part in ("subject", "predicate"))
    if graph.store.count(Pattern(own, subject, predicate, exact), 1):
        return found, ""
    terms = graph.prefixes.terms(json_text)
    read = terms.read(value) if isinstance(value, str) else None
    read = graph.store.as_stored(read) if isinstance(read, Literal) else read
    if read is not None and graph.store.count(Pattern(own, subject, predicate, read), 1):
        others: list[Literal | NamedNode] = [read]
    else:
        text = read.value if isinstance(read, Literal) else exact.value
        try:
            others = [*other_forms(graph, subject, predicate, text)]
        except (QueryTimeout, QueryLimit, GraphBusy):
            return found, "Other forms of this value were not searched, which would take too long."
    if not others:
        return found, ""
    note = f"No triple has exactly {terms.written(exact)} here; this is {terms.written(others[0])}."
    if len(others) > 1:
        note += f" There is also {', '.join(map(terms.written, others[1:]))}."
    return {**found, "object": from_term(others[0], names)}, note
