"""Tests whether a server confines a user's query to its dataset, and which queries are allowed otherwise.

Rules kept here:
- `default-graph-uri` and `named-graph-uri` are the dataset, regardless of the text (SPARQL 1.1 Protocol §2.1.4).
  Each server is tested, with a graph that it has, before the first text of a user is sent to it;
- a server that reads graphs outside the dataset gets no text of a user;
- one that does so only for a text that names them (Virtuoso) gets no text with the keywords for that, not even in a
  string or a comment, so that nothing depends on how it parses a text. The same applies to its extensions of SPARQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum

from pyoxigraph import NamedNode

from cortex_graph.exceptions import GraphUnavailable, invalid
from cortex_graph.store import Dataset
from cortex_graph.stores.remote.sparql_protocol import RefusedError

NOTHING = NamedNode("urn:cortex-graph:nothing")
_NOTHING = Dataset((NOTHING,), (NOTHING,))
_WORDS = re.compile(
    r"(?i)(?<![a-z0-9_])(graph|from|named|service|define|option|load|insert|delete|clear|drop|create)(?![a-z0-9_])"
    r"|bif\s*:|sql\s*:|base\s*<|\\u"
)


class Confinement(Enum):
    """How far a server keeps to the dataset of the protocol."""

    FULL = "full"
    UNLESS_NAMED = "unless named"
    NONE = "none"


def try_out(ask: Callable[[str, Dataset], bool], graph: NamedNode) -> Confinement:
    """Test a server with an empty dataset."""

    def leaks(text: str) -> bool:
        try:
            return ask(text, _NOTHING)
        except RefusedError:
            return False

    if leaks("ASK { ?s ?p ?o }") or leaks("ASK { GRAPH ?g { ?s ?p ?o } }"):
        return Confinement.NONE
    naming = (
        f"ASK {{ GRAPH {graph} {{ ?s ?p ?o }} }}",
        f"ASK FROM {graph} {{ ?s ?p ?o }}",
        f"ASK FROM NAMED {graph} {{ GRAPH ?g {{ ?s ?p ?o }} }}",
        f"ASK FROM NAMED {graph} {{ GRAPH {graph} {{ ?s ?p ?o }} }}",
    )
    return Confinement.UNLESS_NAMED if any(map(leaks, naming)) else Confinement.FULL


def check_text(text: str, confinement: Confinement, server: str) -> None:
    """Refuse a text with which a server would leave its dataset."""
    if confinement is Confinement.NONE:
        raise GraphUnavailable(
            f"{server} reads graphs outside the dataset of a query, so it gets no queries of users",
            hint="use a server that keeps to `default-graph-uri` and `named-graph-uri`",
            details={"endpoint": server},
        )
    if confinement is Confinement.UNLESS_NAMED and (found := _WORDS.search(text)):
        raise invalid(
            "query",
            f"has `{found[0]}`, with which {server} would leave the namespace",
            hint="this server can query the default graph only; omit the word, also in strings",
        )
