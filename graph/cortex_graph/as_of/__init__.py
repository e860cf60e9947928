"""The graph of a namespace as of a moment: what was asserted by then, and not yet withdrawn.

>>> from datetime import UTC, datetime
>>> from cortex_graph import NamespacedGraph, Provenance, open_store
>>> graph = NamespacedGraph(open_store("memory:"), "mayros")
>>> made = Provenance(agent="a1", time=datetime(2026, 1, 2, tzinfo=UTC))
>>> _ = graph.create_triple({"subject": "a", "predicate": "p", "object": 1}, made)
>>> [as_of(graph, day).list_triples()["total"] for day in ("2026-01-01", "2026-01-03")]
[0, 1]
"""

from cortex_graph.as_of.difference import GraphDifference, difference
from cortex_graph.as_of.past_graph import PastGraph, as_of, as_of_graphs, today_of, undated_among

__all__ = ["GraphDifference", "PastGraph", "as_of", "as_of_graphs", "difference", "today_of", "undated_among"]
