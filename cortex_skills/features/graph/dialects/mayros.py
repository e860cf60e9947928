"""Events as Mayros and its server write them: the members of an event, and the statements that it is stored as.

The client (`cortex-client.ts`) sends `{subject, type, agentId, …}`, its server (`observability.rs`) took `{id,
event_type, agent_id, …}`. Both stored an event as statements about `NS:event:ID`, and so are they stored here.

Rules kept here:
- an event has one value of each member; a field of an event has the name of no member.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# The members of an event by the last part of their predicate: as the client names them, and as its server does.
MEMBERS: dict[str, tuple[str, str]] = {
    "type": ("type", "event_type"),
    "agent": ("agentId", "agent_id"),
    "timestamp": ("timestamp", "timestamp"),
    "session": ("session", "session"),
    "parent_event": ("parentEvent", "parent_event"),
    "duration_ms": ("durationMs", "duration_ms"),
}
_NODES = {"agent": "agent", "session": "session", "parent_event": "event"}


def id_of(event: Mapping[str, Any]) -> str:
    """The id of an event; the client has it at the end of its subject.

    >>> id_of({"subject": "mayros:event:e1"})
    'e1'
    """
    given: str = event.get("id") or event["subject"].rpartition(":event:")[2]
    return given


def statements_of(event: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """The statements of an event in a namespace, whose names begin with `prefix` (`NS:`)."""
    values = {key: next((event[name] for name in names if name in event), None) for key, names in MEMBERS.items()}
    objects: dict[str, Any] = {
        key: {"node": f"{prefix}{_NODES[key]}:{value}"} if key in _NODES else str(value)
        for key, value in values.items()
        if value is not None
    }
    subject = f"{prefix}event:{id_of(event)}"
    return [
        {"subject": subject, "predicate": f"{prefix}event:{key}", "object": value}
        for key, value in {**objects, **event.get("fields", {})}.items()
    ]


def event_of(event_id: str, triples: Iterable[Mapping[str, Any]], prefix: str) -> dict[str, Any] | None:
    """The event that statements about `NS:event:ID` state, without who recorded it; None if they state none."""
    found: dict[str, str] = {}
    for triple in triples:
        key = str(triple["predicate"]).removeprefix(f"{prefix}event:")
        value = triple["object"]
        if key == triple["predicate"]:
            continue
        if key in _NODES:
            value = str(value["node"] if isinstance(value, Mapping) else value)
            value = value.removeprefix(f"{prefix}{_NODES[key]}:")
        if isinstance(value, str):
            found.setdefault(key, value)
    if "type" not in found:
        return None
    event: dict[str, Any] = {"id": event_id, "fields": {k: v for k, v in found.items() if k not in MEMBERS}}
    for key, names in MEMBERS.items():
        if key == "duration_ms":
            if found.get(key, "").isdigit():
                event |= dict.fromkeys(names, float(found[key]))
        elif key in found or key in ("agent", "timestamp"):
            event |= dict.fromkeys(names, found.get(key, ""))
    return event
