"""The graphs of a Cortex server, and how it writes names.

Rules kept here:
- the server decides the base of all IRIs. A graph outside it cannot exist there, and a request for one is an error
  instead of an empty result: a different `baseIri` would look like a loss of all data otherwise;
- the memories of an agent are a graph of their own there as well, for a token with the permission `memories`;
- base and vocabularies are requested once, and again when a response cannot be read with them: a restarted server may
  have others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pyoxigraph import NamedNode

from cortex_graph.exceptions import GraphError
from cortex_graph.naming.names import Names, check_namespace, namespace_of
from cortex_graph.stores.cortex.api import CortexApi

_CACHED = 256


class GraphKind(Enum):
    """The content of a graph of a namespace."""

    TRIPLES = ""
    RECORDS = "provenance"
    INDEX = "index"


@dataclass(frozen=True)
class GraphLocation:
    """A graph of the server: its namespace and its kind.

    Attributes:
        names: of the namespace, as the server writes them.
        kind: the content of the graph.
    """

    names: Names
    kind: GraphKind

    @property
    def asked(self) -> dict[str, str]:
        """The parameters of a request about the graph."""
        agent = self.names.owner
        return {"namespace": self.namespace} | ({} if agent is None else {"memoriesOf": agent})

    @property
    def namespace(self) -> str:
        """The namespace."""
        return self.names.namespace


class ServerGraphs:
    """The graphs of a server."""

    def __init__(self, api: CortexApi) -> None:
        self._api = api
        self._spelling: tuple[str, Mapping[str, str]] | None = None
        self._names: dict[str, Names] = {}

    def locate(self, graph: NamedNode) -> GraphLocation:
        """Return the location of a graph."""
        base, vocabularies = self._spelling or self._asked()
        segment, slash, kind = graph.value.removeprefix(base).partition("/")
        try:
            namespace = namespace_of(segment)
            if namespace is None or not graph.value.startswith(base) or (slash and not kind):
                raise ValueError(kind)
            names = self._names_of(namespace, base, vocabularies)
            return _of_memories(graph, names) or GraphLocation(names, GraphKind(kind))
        except (GraphError, ValueError):
            raise self._api.client.unavailable(
                f"cannot have the graph <{graph.value[:200]}>: its graphs are <{base}NAMESPACE>",
                hint="`baseIri` must be the same here and on the server",
            ) from None

    def namespaces(self) -> list[str]:
        """Return the namespaces that have triples and that the token may use."""
        found = self._ask()[1].get("namespaces")
        try:
            if isinstance(found, list):
                return [check_namespace(name) for name in found]
        except GraphError:
            pass
        raise self._api.strange("returns invalid namespaces")

    def memories(self) -> list[NamedNode]:
        """Return the graphs of memories that the token may read."""
        (base, _), document = self._ask()
        found = document.get("memories", {})
        try:
            return [Names(name, base).of_memories(agent).graph for name, agents in found.items() for agent in agents]
        except (GraphError, AttributeError, TypeError):
            raise self._api.strange("returns invalid memories") from None

    def base(self) -> str:
        """Return the start of all IRIs."""
        return (self._spelling or self._asked())[0]

    def any_names(self) -> Names:
        """Return names without a particular namespace."""
        base, vocabularies = self._spelling or self._asked()
        return Names("any", base, vocabularies)

    def forget(self) -> None:
        """Request the base and the vocabularies again."""
        self._spelling = None

    def _asked(self) -> tuple[str, Mapping[str, str]]:
        return self._ask()[0]

    def _ask(self) -> tuple[tuple[str, Mapping[str, str]], dict[str, Any]]:
        """Return the base and the vocabularies, and the document that contains them."""
        document = self._api.get("namespaces")
        base, vocabularies = document.get("baseIri"), document.get("vocabularies")
        if not isinstance(vocabularies, dict) or not isinstance(base, str):
            raise self._api.strange("does not return its `baseIri` and `vocabularies`")
        try:
            Names("any", base, vocabularies)
        except GraphError as error:
            raise self._api.strange(f"returns an invalid `baseIri` or `vocabularies`: {error.message[:200]}") from None
        spelling = base, vocabularies
        if self._spelling != spelling:
            self._names = {}
            self._spelling = spelling
        return spelling, document

    def _names_of(self, namespace: str, base: str, vocabularies: Mapping[str, str]) -> Names:
        kept = self._names
        names = kept.get(namespace)
        if names is None or names.base != base:
            if len(kept) >= _CACHED:
                kept.clear()
            names = kept[namespace] = Names(namespace, base, vocabularies)
        return names


def _of_memories(graph: NamedNode, names: Names) -> GraphLocation | None:
    """Return the location of the memories of an agent, or of a graph beside them, which is empty."""
    own, _, kind = graph.value.removeprefix(names.memories).partition("/")
    if not graph.value.startswith(names.memories) or not own or kind not in ("", "provenance", "index"):
        return None
    agent = names.remembering(NamedNode(names.memories + own)) or ""
    return GraphLocation(names.of_memories(agent), GraphKind.INDEX if kind else GraphKind.TRIPLES)
