"""`/api/v1/changes` and `/api/v1/objects`: what a store on this server needs (`store: cortex://…`).

Rules kept here:
- a change needs the permissions `write` and `provenance`, whether it holds records or not;
- a change is applied as a whole or not at all, and applying it again changes nothing.
"""

from __future__ import annotations

from cortex_graph.namespace.replication import as_stored
from cortex_skills.doors.rest.model_types import GraphQuery
from cortex_skills.doors.rest.operations import ApiAnswer, ApiCall, Operations
from cortex_skills.features.graph.rest import triple_models as models
from cortex_skills.features.graph.transfer_operations import change_statements

OPERATIONS = Operations()


@OPERATIONS.add(
    "POST",
    "/api/v1/changes",
    {200: models.Acknowledgement},
    permission="write",
    query=GraphQuery,
    body=models.ChangeRequest,
)
def change_triples(call: ApiCall) -> ApiAnswer:
    """Remove triples and records, then write others; all or none.

    An extension. Also needs the permission `provenance`. Only the given records are written.
    """
    call.operate(change_statements, **call.body, memories_of=call.query.get("memoriesOf", ""))
    return ApiAnswer(200, {"ok": True})


@OPERATIONS.add("POST", "/api/v1/objects", {200: models.ObjectList}, body=models.ObjectList)
def spell_objects(call: ApiCall) -> ApiAnswer:
    """Return objects as they are read after writing: a store keeps the value of some, not the spelling.

    An extension. Nothing is written to the namespace.
    """
    graph = call.service.plugin.graph  # literals are spelled alike in all namespaces
    return ApiAnswer(200, {"objects": [as_stored(graph, value) for value in call.body["objects"]]})
