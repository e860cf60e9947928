"""The state of the server: health, numbers, namespaces.

Rules kept here:
- health needs no token and is always answered, also while the store does not answer; it discloses neither the address
  of the store nor its content;
- numbers and namespaces are those that the caller may see;
- the first `COUNTED` triples of a namespace are counted, or all if the caller asks for it; `exact` is false if there
  are more, and the numbers are lower bounds then.
"""

from __future__ import annotations

import time
from typing import Any

from cortex_graph import namespaces_of
from cortex_graph.as_of import PastGraph
from cortex_graph.checks.datetimes import date_time
from cortex_graph.memory_graphs import agents_remembering
from cortex_skills.doors.rest import server_models
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.features.graph.rest import triple_models
from cortex_skills.operations.graph_rows import select
from cortex_skills.version import __version__

COUNTED = 100_000


_COUNTS = """
SELECT (COUNT(*) AS ?triple_count) (COUNT(DISTINCT ?s) AS ?subject_count)
    (COUNT(DISTINCT ?p) AS ?predicate_count) (COUNT(DISTINCT ?o) AS ?object_count)
{{ SELECT ?s ?p ?o {{ ?s ?p ?o }} {limit} }}
"""

OPERATIONS = Operations()


@OPERATIONS.add("GET", "/api/v1/health", {200: server_models.HealthReport}, permission=None, pool="health")
def get_health(call: ApiCall) -> ApiAnswer:
    """Whether the server and its store answer.

    Always 200; `status` is `healthy`, or `degraded` when the store fails or cannot be written to, with what is wrong in
    `message`. `/readyz` answers 503 then.
    """
    fault = call.service.store_health.wrong_with(call.service.plugin)
    state = {"status": "degraded", "message": fault} if fault else {"status": "healthy"}
    logic = {"status": "healthy"}
    if not call.service.plugin.config.verification.pol_validation:
        logic = {"status": "unavailable", "message": "verification.polValidation is off"}
    return ApiAnswer(200, {"status": state["status"], "components": {"graph": state, "logic": logic}})


@OPERATIONS.add(
    "GET",
    "/api/v1/stats",
    {200: server_models.NamespaceStats},
    query=triple_models.CountQuery,
    errors=("query_timeout",),
    pool="slow",
    description=f"Its first {COUNTED:,} triples, unless `exactTotal`; `exact` states whether that is all of it.",
)
def get_stats(call: ApiCall) -> ApiAnswer:
    """Count what is in a namespace."""
    graph = call.graph
    query = _COUNTS.format(limit="" if call.query.get("exactTotal") else f"LIMIT {COUNTED + 1}")
    (row,) = select(graph, query, call.service.calls)
    numbers: dict[str, Any] = {name: int(value["value"]) for name, value in row.items()}
    is_exact = bool(call.query.get("exactTotal")) or numbers["triple_count"] <= COUNTED
    if isinstance(graph, PastGraph):
        numbers["asOf"] = date_time(graph.moment)
        if is_exact:
            numbers["undated"] = max(0, numbers["triple_count"] - graph.dated())
    server = {
        "version": __version__,
        "uptime_seconds": int(time.monotonic() - call.service.started),
        "connected_clients": call.service.under_way(),
    }
    return ApiAnswer(200, {"graph": {**numbers, "exact": is_exact}, "server": server, "namespace": graph.namespace})


@OPERATIONS.add("GET", "/api/v1/namespaces", {200: server_models.NamespaceList}, pool="slow")
def list_namespaces(call: ApiCall) -> ApiAnswer:
    """List the namespaces that are not empty and that the token opens, and how names become IRIs.

    An extension. `baseIri` and `vocabularies` convert a name into its IRI and back.
    """
    own = call.service.plugin.graph
    found = [name for name in namespaces_of(own.store, own.names.base) if call.caller.may_use(name)]
    document = {"namespaces": found, "baseIri": own.names.base, "vocabularies": own.names.vocabularies}
    if "memories" in call.caller.permissions:
        agents = agents_remembering(own.store, own.names.base)
        document["memories"] = {name: agents[name] for name in agents if call.caller.may_use(name)}
    return ApiAnswer(200, document)


@OPERATIONS.add("POST", "/api/v1/flush", {200: triple_models.Acknowledgement}, permission="write", pool="slow")
def flush(call: ApiCall) -> ApiAnswer:
    """Write everything to the disk.

    Acknowledged writes survive a crash of the server without it; this is for a loss of power.
    """
    call.service.plugin.graph.store.flush()
    return ApiAnswer(200, {"ok": True})
