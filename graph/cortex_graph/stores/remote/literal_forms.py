"""The lexical forms in which an unknown server stores literals.

Rules kept here:
- strings are stored unchanged. Any other literal is written once to a graph for this purpose, read back, and removed;
- the results are cached, up to a length of the literal.
"""

from __future__ import annotations

import uuid
from collections.abc import Hashable, Iterable

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.stores.remote.engines import EngineProfile, value_of
from cortex_graph.stores.remote.sparql_protocol import RefusedError, SparqlProtocol
from cortex_graph.stores.remote.sparql_texts import STRINGS, data

_GRAPH = NamedNode("urn:cortex-graph:trial")
_VALUE = NamedNode("urn:cortex-graph:value")
_KEPT = 4096
_LONG = 1024


class LiteralForms:
    """The lexical forms of literals on a server."""

    def __init__(self, protocol: SparqlProtocol) -> None:
        self._protocol = protocol
        self._found: dict[Literal, Literal] = {}

    def of(self, literals: Iterable[Literal], engine: EngineProfile) -> dict[Literal, Literal]:
        """Return each literal as it will be read."""
        spelt: dict[Literal, Literal] = {}
        unknown = []
        for literal in literals:
            if engine.spelling is not None:
                spelt[literal] = engine.spelling(literal)
            elif literal.datatype.value in STRINGS and not literal.direction:
                spelt[literal] = literal
            elif known := self._found.get(literal):
                spelt[literal] = known
            else:
                unknown.append(literal)
        for start in range(0, len(unknown), 500):
            spelt |= self._tried(unknown[start : start + 500])
        return spelt

    @staticmethod
    def alike(quads: Iterable[Quad]) -> Quad | None:
        """Return a quad that differs from another one only in the type or time zone of an equal value."""
        seen: dict[Hashable, Quad] = {}
        for quad in quads:
            if isinstance(quad.object, Literal) and (value := value_of(quad.object)) is not None:
                other = seen.setdefault((quad.graph_name, quad.subject, quad.predicate, value), quad)
                if other != quad:
                    return quad
        return None

    def _tried(self, literals: list[Literal]) -> dict[Literal, Literal]:
        trial = f"urn:uuid:{uuid.uuid4()}"
        nodes = [NamedNode(f"{trial}:{place}") for place in range(len(literals))]
        quads = [Quad(node, _VALUE, literal, _GRAPH) for node, literal in zip(nodes, literals, strict=True)]
        try:
            self._protocol.update(data("INSERT", quads))
        except RefusedError as error:
            raise self._protocol.client.unavailable(f"refuses {str(literals[0])[:200]}: {error}") from error
        try:
            values = " ".join(map(str, nodes))
            rows = self._protocol.rows(
                f"SELECT ?s ?o {{ VALUES ?s {{ {values} }} GRAPH {_GRAPH} {{ ?s {_VALUE} ?o }} }}"
            )
            read = {row["s"]: row["o"] for row in rows}
        finally:
            removals = (f"DELETE WHERE {{ GRAPH {_GRAPH} {{ {node} ?p ?o }} }}" for node in nodes)
            self._protocol.update("; ".join(removals))
        spelt = {}
        for node, literal in zip(nodes, literals, strict=True):
            stored = read.get(node)
            if not isinstance(stored, Literal):
                raise self._protocol.client.unavailable(f"does not return {str(literal)[:200]}")
            spelt[literal] = stored
            if len(literal.value) <= _LONG:
                if len(self._found) >= _KEPT:
                    self._found.clear()
                self._found[literal] = stored
                self._found[stored] = stored
        return spelt
