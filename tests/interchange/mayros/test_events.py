"""`emitEvents`, `getEvents` and `getEvent` of the client of Mayros, and the form of its server."""

from __future__ import annotations

from typing import Any

import pytest

from cortex_skills.features.graph.dialects import mayros
from tests.interchange.mayros.conftest import PERMISSIONS, CortexClient, CortexError
from tests.server.serving import Running

AT = "2024-01-01T00:00:00Z"
# The members of `EventPayload` and `TraceEventDto` of the client, and of `TraceEventInput` of its server.
OF_CLIENT = {"subject", "type", "agentId", "timestamp", "session", "parentEvent", "durationMs", "fields"}
OF_SERVER = {"id", "event_type", "agent_id", "timestamp", "session", "parent_event", "duration_ms", "fields"}


def event(number: int | str, **more: Any) -> dict[str, Any]:
    """An event as the client makes it."""
    made = {"subject": f"ns:event:{number}", "type": "tool_call", "agentId": "a", "timestamp": AT, "fields": {}}
    return made | more


def test_every_member_of_both_forms_is_mapped() -> None:
    mapped = {name for names in mayros.MEMBERS.values() for name in names} | {"id", "subject", "fields"}
    assert mapped >= OF_CLIENT | OF_SERVER


def test_an_event_of_the_client_comes_back_with_all_its_members(cortex: CortexClient, name: str) -> None:
    more = {"session": "s1", "parentEvent": "0", "durationMs": 12, "fields": {"toolName": "test"}}
    answer = cortex.emit_events(event(1, **more))
    assert (answer.status_code, answer.json()) == (201, {"stored": 1, "triples_created": 7})
    found = cortex.get_event("1")
    assert {name: found[name] for name in ("id", "type", "agentId", "timestamp")} == {
        "id": "1",
        "type": "tool_call",
        "agentId": "a",
        "timestamp": AT,
    }
    assert {name: found[name] for name in more} == more
    assert found["recordedBy"] == name
    assert cortex.get_events()["events"] == [found]


def test_an_event_in_the_form_of_the_server_is_the_same(cortex: CortexClient, name: str) -> None:
    given = {"id": "e1", "event_type": "llm_call", "agent_id": "a", "timestamp": AT, "duration_ms": 3}
    body = {"namespace": name, "events": [given | {"parent_event": "e0", "fields": {"model": "m"}}]}
    assert cortex.request("POST", "/api/v1/events", body) == {"stored": 1, "triples_created": 6}
    found = cortex.get_event("e1")
    assert (found["event_type"], found["agent_id"], found["duration_ms"], found["parent_event"]) == (
        "llm_call",
        "a",
        3,
        "e0",
    )
    assert found["fields"] == {"model": "m"}


def test_a_batch_that_is_sent_again_changes_nothing(cortex: CortexClient) -> None:
    batch = [event(number) for number in range(5)]
    assert cortex.emit_events(*batch).json() == {"stored": 5, "triples_created": 15}
    assert cortex.emit_events(*batch).json() == {"stored": 5, "triples_created": 0}
    assert len(cortex.get_events()["events"]) == 5


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"type": "llm_call"}, {"2"}),
        ({"agent": "b"}, {"3"}),
        ({"agentId": "b"}, {"3"}),
        ({"from": "2024-06-01T00:00:00Z"}, {"4"}),
        ({"to": "2024-06-01T00:00:00Z"}, {"1", "2", "3"}),
        ({"limit": 1}, {"4"}),
        ({"type": "none"}, set()),
    ],
)
def test_events_are_found(cortex: CortexClient, query: dict[str, Any], expected: set[str]) -> None:
    later = event(4, timestamp="2025-01-01T00:00:00Z")
    cortex.emit_events(event(1), event(2, type="llm_call"), event(3, agentId="b"), later)
    assert {each["id"] for each in cortex.get_events(**query)["events"]} == expected


@pytest.mark.parametrize("event_id", ["unknown", "00000000-1", "a b", "é", "x" * 300, "..", "<a>", "%"])
def test_an_event_that_is_not_there_is_not_found(cortex: CortexClient, event_id: str) -> None:
    with pytest.raises(CortexError) as refused:
        cortex.get_event(event_id)
    assert (refused.value.status, refused.value.code) == (404, "not_found")


def test_the_causes_of_an_event_are_a_chain(cortex: CortexClient) -> None:
    cortex.emit_events(event(1), event(2, parentEvent="1"), event(3, parentEvent="2", type="error"))
    chain = cortex.request("GET", "/api/v1/events/3/chain")["chain"]
    assert [each["event_id"] for each in chain] == ["3", "2", "1"]
    assert chain[0]["summary"] == "error event"
    cortex.emit_events(event("a", parentEvent="b"), event("b", parentEvent="a"))
    assert len(cortex.request("GET", "/api/v1/events/a/chain")["chain"]) == 2


def test_nobody_adds_to_an_event_of_another_client(cortex: CortexClient, running: Running, name: str) -> None:
    cortex.emit_events(event(1, fields={"toolName": "test"}))
    before = cortex.get_event("1")
    other = CortexClient(running.url, f"Bearer {running.token(f'{name}-b', (name,), PERMISSIONS)}")
    with other.http:
        other.emit_events(event(1, type="error", agentId="c", durationMs=9, fields={"more": "x"}))
    assert cortex.get_event("1") == before


def test_an_event_of_a_client_is_no_call_of_the_audit(cortex: CortexClient, running: Running) -> None:
    cortex.emit_events(event(1, agentId="owner"))
    calls = running.plugin.recent_calls.page(limit=1000).calls
    assert not [each for each in calls if each.record.tool == "tool_call" or each.record.agent == "owner"]


def test_refused_an_event_under_a_token_that_only_reads(cortex: CortexClient, running: Running, name: str) -> None:
    reader = CortexClient(running.url, f"Bearer {running.token(f'{name}-r', (name,), ('read',))}")
    with reader.http:
        assert reader.emit_events(event(1)).json()["code"] == "permission_denied"
        assert reader.get_events() == {"events": [], "total": 0}


@pytest.mark.parametrize(
    "given",
    [
        {"timestamp": "yesterday"},
        {"agentId": 'a> . <x> <y> "'},
        {"subject": "ns:event:a b"},
        {"fields": {"type": "x"}},
        {"fields": {"a b": "x"}},
        {"fields": {f"k{number}": "x" for number in range(33)}},
        {"durationMs": -1},
    ],
    ids=["time", "agent", "id", "member", "key", "many", "duration"],
)
def test_refused_an_event_that_is_none(cortex: CortexClient, given: dict[str, Any]) -> None:
    answer = cortex.emit_events(event(1), event(2, **given))
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_arguments")
    assert cortex.get_events()["events"] == []
