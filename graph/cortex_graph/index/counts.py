"""How much a namespace has, and of what: kept, not counted when it is read (`kept.py`)."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from pyoxigraph import NamedNode

from cortex_graph.index.counting import AsserterCount, NamespaceCounts, PredicateCount, UntilExit, count_namespace
from cortex_graph.index.kept import KeptSummary
from cortex_graph.store import Pattern

_LOOKED_AT = 10_000  # triples that are counted at once while nothing is known


class KeptCounts(KeptSummary[NamespaceCounts]):
    """The counts of one namespace."""

    name = "counts"

    def _made(self, cancel: UntilExit) -> NamespaceCounts:
        return count_namespace(self._store, self._names, cancel)

    def _first_look(self) -> NamespaceCounts:
        triples = self._store.count(Pattern(self._names.graph), _LOOKED_AT)
        return NamespaceCounts(triples=triples, is_exact=False)

    def _document(self, summary: NamespaceCounts) -> dict[str, Any]:
        document = asdict(summary)
        document["predicates"] = [[each.predicate.value, each.triples] for each in summary.predicates]
        document["asserters"] = [[each.node.value, each.assertions, each.withdrawn] for each in summary.asserters]
        return document

    def _of_document(self, document: dict[str, Any], counted_at: datetime) -> NamespaceCounts | None:
        predicates = tuple(PredicateCount(NamedNode(node), int(n)) for node, n in document.pop("predicates"))
        asserters = tuple(AsserterCount(NamedNode(node), int(n), int(w)) for node, n, w in document.pop("asserters"))
        if not all(type(number) in (int, bool) for number in document.values()):
            return None
        return NamespaceCounts(predicates=predicates, asserters=asserters, counted_at=counted_at, **document)
