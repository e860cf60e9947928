"""The names in a query: which graphs it reads with GRAPH, and which nodes its patterns name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyoxigraph import NamedNode

from cortex_graph.exceptions import NamespaceViolation
from cortex_graph.sparql.dataset import NamespaceView
from cortex_graph.sparql.parse import DEFAULT_LIMITS, read_text, without_mark
from cortex_graph.sparql.prologue import Prologue
from cortex_graph.sparql.queries import offered_prefixes
from cortex_graph.sparql.tokens import position

_BEFORE_GRAPHS = frozenset({"GRAPH", "FROM", "NAMED"})


@dataclass(frozen=True, slots=True)
class QueryNames:
    """The names in a query.

    Attributes:
        nodes: the nodes of its patterns, in their order; not functions, datatypes and graphs.
        graphs: those after GRAPH, each with its line and column.
    """

    nodes: tuple[NamedNode, ...]
    graphs: tuple[tuple[NamedNode, int, int], ...]

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
    return QueryNames(tuple(nodes), tuple(named))
