"""`/api/v1/changes` and `/api/v1/objects`: what a store takes that stands on this server (`store: cortex://…`).

Rules kept here:
- who may say who asserted a triple may write records; both permissions are needed, whatever a change holds;
- a change is made as a whole or not at all, and making it again changes nothing.
"""

from __future__ import annotations

from cortex_graph.changing import Quads, as_stored, change
from cortex_skills.server.operations import Answer, Call, Operation


def _change(call: Call) -> Answer:
    call.caller.require("provenance")
    insert, remove = (
        Quads(given.get("triples", ()), given.get("records", ()))
        for given in (call.body.get("insert", {}), call.body.get("remove", {}))
    )
    change(call.graph, insert, remove)
    return Answer(200, {"ok": True})


def _objects(call: Call) -> Answer:
    graph = call.service.plugin.graph  # a literal is spelt alike in all namespaces
    return Answer(200, {"objects": [as_stored(graph, value) for value in call.body["objects"]]})


OPERATIONS = (
    Operation(
        "POST",
        "/api/v1/changes",
        "changeTriples",
        "Remove some triples and records, then write some, all or none.",
        _change,
        {200: "Changed"},
        permission="write",
        query="NamespaceQuery",
        body="Changes",
        description="An extension. Takes the permission `provenance`, too. Triples get no record but those given here.",
    ),
    Operation(
        "POST",
        "/api/v1/objects",
        "spellObjects",
        "Say how objects are read when they are written: a store keeps the value of some, not the spelling.",
        _objects,
        {200: "Objects"},
        body="Objects",
        description="An extension. Nothing is written to the namespace.",
    ),
)
