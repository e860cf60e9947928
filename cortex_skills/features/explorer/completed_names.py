"""The names that the editor of queries completes, each with the prefix that it needs.

Rules kept here:
- predicates and classes of the namespace come first, the most frequent ones first; then usual terms of vocabularies
  that every query may name;
- a name that a query could not write with a declared prefix has one made from its IRI, and `declare`, the line that the
  editor puts at the beginning of the query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

from pyoxigraph import NamedNode

from cortex_graph import NamespacedGraph
from cortex_skills.features.graph.looking.schema_now import schema_of

_NAMES = 500
_CLASSES = 100
# Prefixes that are usual and not declared for queries.
_USUAL = {
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "gsp": "http://www.opengis.net/ont/geosparql#",
    "org": "http://www.w3.org/ns/org#",
    "time": "http://www.w3.org/2006/time#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "void": "http://rdfs.org/ns/void#",
}
_TERMS = {
    "dcterms": "created creator date description identifier isPartOf language license modified publisher title type",
    "foaf": "Agent Organization Person age based_near depiction familyName givenName homepage knows mbox name nick",
    "owl": "Class DatatypeProperty ObjectProperty Ontology equivalentClass equivalentProperty inverseOf sameAs",
    "prov": "Activity Agent Entity endedAtTime generatedAtTime used wasAssociatedWith wasAttributedTo wasDerivedFrom",
    "rdf": "Property first nil object predicate rest subject type value",
    "rdfs": "Class Resource comment domain isDefinedBy label range seeAlso subClassOf subPropertyOf",
    "schema": "Event Organization Person Place Product author birthDate dateCreated description email name price url",
    "skos": "Concept ConceptScheme altLabel broader definition exactMatch inScheme narrower notation prefLabel related",
    "xsd": "boolean date dateTime decimal double integer string",
}
_LOCAL = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_IRI = re.compile(r"(.*[/#:])([A-Za-z_][\w-]*)", re.ASCII | re.DOTALL)
_SEGMENT = re.compile(r"([A-Za-z][A-Za-z0-9]*)[^A-Za-z0-9]*$")


class NamesToComplete:
    """The names of one namespace as a query writes them."""

    def __init__(self, graph: NamespacedGraph) -> None:
        self._graph = graph
        self._terms = graph.prefixes.terms()
        self._declared = dict(graph.prefixes.all())
        self._made: dict[str, str] = {}  # prefixes by their IRIs

    def all(self) -> list[dict[str, Any]]:
        """The names, the best first: `label`, `kind`, `count` if it is known, and `declare` if it is needed."""
        known = [*self._used()]
        labels = {each["label"] for each in known}
        usual = ({"label": label, "kind": "vocabulary"} for label in self._usual() if label not in labels)
        prefixes = ({"label": f"{prefix}:", "kind": "namespace"} for prefix in self._declared)
        return [*known, *usual, *prefixes]

    def written(self, node: NamedNode) -> dict[str, str]:
        """A name as a query takes it, with the line that declares its prefix if it is not declared."""
        name = self._terms.node(node.value)
        prefix, colon, local = name.partition(":")
        if colon and not name.startswith("<") and prefix in self._declared and _LOCAL.fullmatch(local):
            return {"label": name}
        found = _IRI.fullmatch(node.value)
        if found is None or re.search(r"[<>\"{}|^`\\\s]", node.value):
            return {"label": f"<{node.value}>"}
        prefix = self._prefix(found[1])
        return {"label": f"{prefix}:{found[2]}", "declare": f"PREFIX {prefix}: <{found[1]}>"}

    def _used(self) -> Iterator[dict[str, Any]]:
        for each in self._graph.counts.latest().predicates[:_NAMES]:
            yield {**self.written(each.predicate), "kind": "predicate", "count": each.triples}
        for use in schema_of(self._graph, 0.0).classes[:_CLASSES]:
            if use.node is not None:
                yield {**self.written(use.node), "kind": "class", "count": use.subjects}

    def _usual(self) -> Iterator[str]:
        for prefix, terms in _TERMS.items():
            if prefix in self._declared:
                yield from (f"{prefix}:{term}" for term in terms.split())

    def _prefix(self, iri: str) -> str:
        """A prefix for an IRI: the usual one, or the last word of it, that stands for no other."""
        if iri not in self._made:
            usual = next((prefix for prefix, known in _USUAL.items() if known == iri), None)
            last = _SEGMENT.search(iri)
            start = usual or (last[1].lower() if last else "ns")
            taken = {*self._declared, *self._made.values(), *(_USUAL if usual is None else ())}
            names = (start if number == 1 else f"{start}{number}" for number in count(1))
            self._made[iri] = next(name for name in names if name not in taken)
        return self._made[iri]
