"""The names in a query: which graphs it reads with GRAPH, and which nodes its patterns name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from pyoxigraph import NamedNode

from cortex_graph.exceptions import NamespaceViolation
from cortex_graph.sparql.dataset import NamespaceView
from cortex_graph.sparql.parse import DEFAULT_LIMITS, read_text, without_mark
from cortex_graph.sparql.prologue import Prologue
from cortex_graph.sparql.queries import offered_prefixes
from cortex_graph.sparql.tokens import SparqlToken, position

_AFTER_HAVING = frozenset({"ORDER", "LIMIT", "OFFSET", "VALUES", "SELECT"})
_BEFORE_GRAPHS = frozenset({"GRAPH", "FROM", "NAMED"})


@dataclass(frozen=True, slots=True)
class QueryNames:
    """The names in a query.

    Attributes:
        nodes: the nodes of its patterns, in their order; not functions, datatypes and graphs.
        graphs: those after GRAPH, each with its line and column.
        texts: its short strings without a language and a datatype.
        unseen: variables that SELECT makes (`AS ?n`) and HAVING uses, where they are not bound (SPARQL 1.1 §18.2.4.1).
    """

    nodes: tuple[NamedNode, ...]
    graphs: tuple[tuple[NamedNode, int, int], ...]
    unseen: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    def check_graphs(self, allowed: Sequence[NamedNode]) -> None:
        """Check that the query names no other graph: a pattern over one would only match nothing.

        Raises:
            NamespaceViolation: it does.
        """
        for graph, line, column in self.graphs:
            if graph not in allowed:
                raise NamespaceViolation(
                    f"line {line}, column {column}: the graph <{graph.value[:200]}> cannot be read here",
                    hint=f"without GRAPH a query reads the namespace; with it {', '.join(map(str, allowed))}",
                    details={"field": "query", "line": line, "column": column},
                )


def names_in_query(graphs: Sequence[NamespaceView], text: str) -> QueryNames:
    """Return the names in a query over namespaces, whose text was checked by `query_graphs` or will be.

    Raises:
        InvalidArguments: a part of the text is malformed.
        PermissionDenied: it queries another server.
    """
    text = without_mark(text)
    tokens = read_text(text, DEFAULT_LIMITS.query_bytes, DEFAULT_LIMITS.depth)
    prologue = Prologue(text, offered_prefixes(graphs))
    at = prologue.read(tokens, 0)
    nodes: dict[NamedNode, None] = {}
    named: list[tuple[NamedNode, int, int]] = []
    for token, before in zip(tokens[at:], [None, *tokens[at:]], strict=False):
        if token.kind not in ("iri", "pname"):
            continue
        prologue.count(token)
        node = NamedNode(prologue.iri(token))
        if before is not None and before.kind == "word" and before.text in _BEFORE_GRAPHS:
            if before.text == "GRAPH":
                named.append((node, *position(text, token.start)))
        elif not token.in_expression and not (before is not None and before.text == "^^"):
            nodes[node] = None
    return QueryNames(tuple(nodes), tuple(named), _unseen(tokens[at:]), _texts(tokens[at:]))


def _unseen(tokens: Sequence[SparqlToken]) -> tuple[str, ...]:
    made = {token.text for before, token in pairwise(tokens) if before[:2] == ("word", "AS") and token.kind == "var"}
    found: dict[str, None] = {}
    in_having = False
    for token in tokens:
        if token.kind == "word" and (token.text == "HAVING" or token.text in _AFTER_HAVING):
            in_having = token.text == "HAVING"
        elif in_having and token.text in made:
            found[token.text] = None
    return tuple(found)


def _texts(tokens: Sequence[SparqlToken]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for token, after in zip_longest(tokens, tokens[1:]):
        is_plain = after is None or (after.kind != "lang" and after.text != "^^")
        if token.kind == "string" and is_plain and "\\" not in token.text and token.text[:3] not in ('"""', "'''"):
            found[token.text[1:-1]] = None
    return tuple(found)
