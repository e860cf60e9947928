"""Deletes the statements of sandboxes that have ended: `sandboxes.empty`.

Rules kept here:
- every statement about a name of the sandbox is deleted, with its record, and no other.
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex_skills.operations.graph_rows import select
from cortex_skills.operations.operation import ObjectState, OperationCall, operation

_BATCH = 500


def sandbox_of(call: OperationCall) -> ObjectState:
    """A sandbox by its prefix; what it contains is counted where it is deleted."""
    return call.about, "in use"


@dataclass(frozen=True, slots=True)
class OneSandbox:
    """The full name that the names of a sandbox begin with."""

    prefix: str


@operation("sandboxes.empty", effect="changes", permission="write", object_="prefix", state=sandbox_of)
def empty_sandbox(call: OperationCall, given: OneSandbox) -> int:
    """Delete every statement about a name of a sandbox; how many they were."""
    graph = call.host.graph
    start = graph.names.node(given.prefix).value
    condition = f'?s = <{start}> || STRSTARTS(STR(?s), "{start}:")'
    query = f"SELECT DISTINCT ?s {{ ?s ?p ?o FILTER({condition}) }} LIMIT {_BATCH}"
    deleted = 0
    while rows := select(graph, query):
        before = deleted
        for row in rows:
            pattern = {"subject": f"<{row['s']['value']}>", "limit": 1000}
            while found := graph.list_triples(pattern)["triples"]:
                gone = sum(graph.delete_triple(triple["id"]) for triple in found)
                deleted += gone
                if not gone:
                    break
        if deleted == before:  # another process deletes them too
            break
    call.facts["removed"] = deleted
    call.after = given.prefix, "empty"
    return deleted
