"""Labels: what people call a node, for lists, pages and answers.

Rules kept here:
- the label of a node is that of its first property in the list that has one: first in a language of the reader, then in
  none, then in any, of which the first one in the order of the tags;
- a node without a label has its prefixed name, else the last part of its IRI, cut in the middle, where names differ the
  least;
- the labels of a page are looked up together: on a store of this machine by a few reads of each node, on a server by
  one query.

    >>> from cortex_graph import NamespacedGraph, open_store
    >>> graph = NamespacedGraph(open_store("memory:"), "mayros", understood=WELL_KNOWN_VOCABULARIES)
    >>> for text, tag in (("Invoice", "en"), ("Faktura", "sv")):
    ...     label = {"value": text, "language": tag}
    ...     _ = graph.create_triple({"subject": "u1", "predicate": "rdfs:label", "object": label})
    >>> Labels(graph, ["sv-FI"]).of([graph.names.node("u1"), graph.names.node("u2")])
    {<NamedNode value=urn:cortex:mayros:u1>: 'Faktura'}
    >>> Labels(graph).shown(graph.names.node("u2"))
    'mayros:u2'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import cast

from pyoxigraph import Literal, NamedNode

from cortex_graph.namespace.namespaced import NamespacedGraph
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_graph.naming.vocabulary import LABEL
from cortex_graph.store import Pattern
from cortex_graph.store_access.gathered import gathered

LABELS = (
    LABEL,
    *(
        NamedNode(f"{WELL_KNOWN_VOCABULARIES[prefix]}{name}")
        for prefix, name in (("skos", "prefLabel"), ("schema", "name"), ("foaf", "name"), ("dcterms", "title"))
    ),
)
OF_LABEL = 80  # characters
_OF_NODE = 40
_TEXTS = 50  # of a node and a property that are looked at
_LAST_PART = re.compile(r"[^/#:]+[/#:]*$")


class Labels:
    """Looks up the labels of nodes of one graph, for one reader.

    Args:
        graph: the graph.
        languages: of the reader, the best one first; a tag also matches its longer forms, and they match it.
        properties: properties that name things, before those of `LABELS`.
    """

    def __init__(
        self, graph: NamespacedGraph, languages: Sequence[str] = (), properties: Iterable[NamedNode] = ()
    ) -> None:
        self._graph = graph
        self._languages = [tag.lower() for tag in languages]
        self._properties = tuple(dict.fromkeys((*properties, *LABELS)))
        self._known: dict[NamedNode, str | None] = {}

    def of(self, nodes: Iterable[object]) -> dict[NamedNode, str]:
        """Return the labels of those of some terms that are nodes and have one; all are looked up together."""
        wanted = dict.fromkeys(node for node in nodes if isinstance(node, NamedNode))
        if new := [node for node in wanted if node not in self._known]:
            self._look_up(new)
        return {node: label for node in wanted if (label := self._known[node]) is not None}

    def shown(self, node: NamedNode, most: int = _OF_NODE) -> str:
        """Return the label of a node; without one its prefixed name, or the last part of its IRI."""
        label = self.of([node]).get(node)
        if label is not None:
            return label
        name = self._graph.prefixes.terms().name(node.value)
        if name is not None:
            return cut(name, most)
        last = _LAST_PART.search(node.value)
        return cut(last[0] if last else node.value, most)

    def ahead(self, nodes: Iterable[object]) -> list[Pattern]:
        """What is read of a server for the labels of those of some terms that are nodes."""
        wanted = dict.fromkeys(node for node in nodes if isinstance(node, NamedNode) and node not in self._known)
        return [Pattern(self._graph.names.graph, node, label) for node in wanted for label in self._properties]

    def _look_up(self, nodes: Sequence[NamedNode]) -> None:
        if self._graph.store.keeps_order:
            texts = {node: self._texts(node) for node in nodes}
        else:
            texts = {node: {} for node in nodes}
            asked = self.ahead(nodes)
            for pattern, quads in zip(asked, gathered(self._graph.store, asked), strict=True):
                found = [quad.object for quad in quads if isinstance(quad.object, Literal)]
                texts[cast(NamedNode, pattern.subject)][cast(NamedNode, pattern.predicate)] = found
        for node in nodes:
            self._known[node] = self._chosen(texts[node])

    def _texts(self, node: NamedNode) -> dict[NamedNode, list[Literal]]:
        """The texts of the first property that the node has."""
        graph = self._graph.names.graph
        for label in self._properties:
            quads = islice(self._graph.store.quads(Pattern(graph, node, label)), _TEXTS)
            if found := [quad.object for quad in quads if isinstance(quad.object, Literal)]:
                return {label: found}
        return {}

    def _chosen(self, texts: dict[NamedNode, list[Literal]]) -> str | None:
        for label in self._properties:
            named = [text for text in texts.get(label, ()) if text.value.strip()]
            if named:
                best = min(named, key=lambda text: (self._rank(text.language), text.language or "", text.value))
                return cut(" ".join(best.value.split()), OF_LABEL)
        return None

    def _rank(self, language: str | None) -> int:
        if language is None:
            return len(self._languages)
        for place, wanted in enumerate(self._languages):
            if language == wanted or language.startswith(f"{wanted}-") or wanted.startswith(f"{language}-"):
                return place
        return len(self._languages) + 1


def cut(text: str, most: int) -> str:
    """Return a text of at most so many characters, without its middle.

    >>> cut("suppl-42a20063-bd30-49d3-8506-ceac4ceb2d9e", 20)
    'suppl-42a2…ac4ceb2d9e'
    """
    if len(text) <= most + 1:
        return text
    end = most // 2
    return f"{text[: most - end]}…{text[-end:]}"
