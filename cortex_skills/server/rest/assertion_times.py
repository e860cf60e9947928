"""When triples were asserted, from their records.

Rules kept here:
- a store of this machine is asked for each record, which is faster than a query; a server is asked with one query for
  each `_BATCH` of them;
- of several times of one record the earliest counts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pyoxigraph import Literal, QueryResultsFormat

from cortex_graph import NamespacedGraph
from cortex_graph.store import Dataset, Pattern, Revisioned
from cortex_graph.vocabulary import GENERATED_AT

_BATCH = 500
_QUERY_S = 10.0


def assertion_times(graph: NamespacedGraph, ids: Sequence[str]) -> dict[str, str]:
    """The time (RFC 3339) at which each triple was asserted, by its id; without those that have no record.

    Raises:
        QueryTimeout: the store took too long.

    """
    times: dict[str, str] = {}
    if isinstance(graph.store, Revisioned):
        for triple_id in ids:
            record = Pattern(graph.names.provenance_graph, graph.names.record(triple_id), GENERATED_AT)
            found = [quad.object.value for quad in graph.store.quads(record) if isinstance(quad.object, Literal)]
            if found:
                times[triple_id] = min(found)
        return times
    records = {graph.names.record(triple_id).value: triple_id for triple_id in ids}
    names = list(records)
    for start in range(0, len(names), _BATCH):
        values = " ".join(f"<{name}>" for name in names[start : start + _BATCH])
        text = f"SELECT ?record ?time {{ VALUES ?record {{ {values} }} ?record {GENERATED_AT} ?time }}"
        dataset = Dataset((graph.names.provenance_graph,))
        answer = graph.store.query(text, dataset, results=QueryResultsFormat.JSON, timeout_s=_QUERY_S)
        for row in json.loads(b"".join(answer.chunks))["results"]["bindings"]:
            triple_id, time = records[row["record"]["value"]], row["time"]["value"]
            times[triple_id] = min(time, times.get(triple_id, time))
    return times
