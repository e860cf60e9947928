"""What the server says of itself: health, numbers, namespaces.

Rules kept here:
- health is answered to everybody and always, also while the store does not answer; it tells no secret: neither where
  the store is, nor what is in it;
- numbers and namespaces are those that the caller may see;
- a namespace is counted as far as its first `COUNTED` triples, unless the caller wants more: the numbers are exact if
  it has no more than that, and are what is there at least if it has. They say which.
"""

from __future__ import annotations

import time
from functools import partial

from pyoxigraph import Quad

from cortex_graph import NamespacedGraph, namespaces_of
from cortex_graph.vocabulary import TYPE
from cortex_skills import __version__
from cortex_skills.server.operations import Answer, Call, Operation
from cortex_skills.server.queries import select

COUNTED = 100_000


_COUNTS = """
SELECT (COUNT(*) AS ?triple_count) (COUNT(DISTINCT ?s) AS ?subject_count)
    (COUNT(DISTINCT ?p) AS ?predicate_count) (COUNT(DISTINCT ?o) AS ?object_count)
{{ SELECT ?s ?p ?o {{ ?s ?p ?o }} {limit} }}
"""


def _health(call: Call) -> Answer:
    status = call.service.probe.ask(partial(_read_one, call.service.plugin.graph))
    logic = {"status": "healthy"}
    if not call.service.plugin.config.verification.pol_validation:
        logic = {"status": "unavailable", "message": "verification.polValidation is off"}
    return Answer(200, {"status": status, "components": {"graph": {"status": status}, "logic": logic}})


def _read_one(graph: NamespacedGraph) -> bool:
    return graph.store.contains(Quad(TYPE, TYPE, TYPE, graph.names.graph))


def _stats(call: Call) -> Answer:
    graph = call.graph
    (row,) = select(graph, _COUNTS.format(limit="" if call.query.get("exactTotal") else f"LIMIT {COUNTED + 1}"))
    numbers = {name: int(value["value"]) for name, value in row.items()}
    is_exact = bool(call.query.get("exactTotal")) or numbers["triple_count"] <= COUNTED
    server = {
        "version": __version__,
        "uptime_seconds": int(time.monotonic() - call.service.started),
        "connected_clients": sum(lane.taken for lane in call.service.lanes.values()),
    }
    return Answer(200, {"graph": {**numbers, "exact": is_exact}, "server": server, "namespace": graph.namespace})


def _namespaces(call: Call) -> Answer:
    own = call.service.plugin.graph
    found = [name for name in namespaces_of(own.store, own.names.base) if call.caller.may_use(name)]
    document = {"namespaces": found, "baseIri": own.names.base, "vocabularies": own.names.vocabularies}
    return Answer(200, document)


def _flush(call: Call) -> Answer:
    call.service.plugin.graph.store.flush()
    return Answer(200, {"ok": True})


OPERATIONS = (
    Operation(
        "GET",
        "/api/v1/health",
        "getHealth",
        "Say whether the server and its store answer.",
        _health,
        {200: "Health"},
        permission=None,
        lane="health",
        description="Always 200; `status` is `healthy`, or `degraded` when the store fails.",
    ),
    Operation(
        "GET",
        "/api/v1/stats",
        "getStats",
        "Count what is in a namespace.",
        _stats,
        {200: "Stats"},
        query="PatternQuery",
        errors=("query_timeout",),
        lane="slow",
        description=f"Its first {COUNTED:,} triples, unless `exactTotal`; `exact` says whether that is all of it.",
    ),
    Operation(
        "GET",
        "/api/v1/namespaces",
        "listNamespaces",
        "List the namespaces that hold something and are yours to use, and how names are spelt.",
        _namespaces,
        {200: "Namespaces"},
        lane="slow",
        description="An extension. `baseIri` and `vocabularies` are what turns a name into its IRI and back.",
    ),
    Operation(
        "POST",
        "/api/v1/flush",
        "flush",
        "Put on the disk whatever is not there yet.",
        _flush,
        {200: "Flushed"},
        permission="write",
        lane="slow",
        description="What was acknowledged survives the server's death without it; this is for a loss of power.",
    ),
)
