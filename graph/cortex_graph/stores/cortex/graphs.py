"""Which graphs a Cortex server has, and how it spells names.

Rules kept here:
- what begins the IRIs of all names is the server's to say. A graph beyond it is none that it has, and asking for one is
  an error and no empty answer: a `baseIri` that differs would else look like a loss of everything;
- both are asked for once, and again when an answer cannot be read with them: a restarted server may have others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pyoxigraph import NamedNode

from cortex_graph.errors import GraphError
from cortex_graph.names import Names, check_namespace
from cortex_graph.stores.cortex.api import Api

_KEPT = 256


class Kind(Enum):
    """What a graph of a namespace holds."""

    TRIPLES = ""
    RECORDS = "provenance"
    INDEX = "index"


@dataclass(frozen=True)
class Spot:
    """A graph of the server: of which namespace, and of what kind.

    Attributes:
        names: of the namespace, as the server spells them.
        kind: what the graph holds.

    """

    names: Names
    kind: Kind

    @property
    def namespace(self) -> str:
        """The namespace."""
        return self.names.namespace


class Graphs:
    """The graphs of a server.

    Args:
        api: the server.

    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self._spelling: tuple[str, Mapping[str, str]] | None = None
        self._names: dict[str, Names] = {}

    def locate(self, graph: NamedNode) -> Spot:
        """Where a graph is.

        Raises:
            GraphUnavailable: the server has no such graph, and can have none.

        """
        base, vocabularies = self._spelling or self._asked()
        namespace, slash, kind = graph.value.removeprefix(base).partition("/")
        try:
            if not graph.value.startswith(base) or (slash and not kind):
                raise ValueError(kind)
            return Spot(self._names_of(namespace, base, vocabularies), Kind(kind))
        except (GraphError, ValueError):
            raise self._api.client.unavailable(
                f"cannot hold the graph <{graph.value[:200]}>: its graphs are <{base}NAMESPACE>",
                hint="`baseIri` must be the same here and there",
            ) from None

    def namespaces(self) -> list[str]:
        """Those that hold something and may be used with this token."""
        found = self._ask()[1].get("namespaces")
        try:
            if isinstance(found, list):
                return [check_namespace(name) for name in found]
        except GraphError:
            pass
        raise self._api.strange("answers with namespaces that are none")

    def base(self) -> str:
        """What begins the IRIs of all names."""
        return (self._spelling or self._asked())[0]

    def any_names(self) -> Names:
        """Those of no namespace in particular."""
        base, vocabularies = self._spelling or self._asked()
        return Names("any", base, vocabularies)

    def forget(self) -> None:
        """Ask again how names are spelt."""
        self._spelling = None

    def _asked(self) -> tuple[str, Mapping[str, str]]:
        return self._ask()[0]

    def _ask(self) -> tuple[tuple[str, Mapping[str, str]], dict[str, Any]]:
        """How names are spelt, and the document that says so."""
        document = self._api.get("namespaces")
        base, vocabularies = document.get("baseIri"), document.get("vocabularies")
        if not isinstance(vocabularies, dict) or not isinstance(base, str):
            raise self._api.strange("does not say how it spells names")
        try:
            Names("any", base, vocabularies)
        except GraphError as error:
            raise self._api.strange(f"does not say how it spells names: {error.message[:200]}") from None
        spelling = base, vocabularies
        if self._spelling != spelling:
            self._names = {}
            self._spelling = spelling
        return spelling, document

    def _names_of(self, namespace: str, base: str, vocabularies: Mapping[str, str]) -> Names:
        kept = self._names
        names = kept.get(namespace)
        if names is None or names.base != base:
            if len(kept) >= _KEPT:
                kept.clear()
            names = kept[namespace] = Names(namespace, base, vocabularies)
        return names
